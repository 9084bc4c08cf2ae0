"""The overview of models and benchmarks: one figure for each model on each benchmark, in few queries.

The figure of a model is that of its newest run that was measured here with the usual settings, or else a published one.
A column has one metric, and it is about the same items in all of its rows: figures about other items are marked. Models
whose published figures are in other metrics, or that still wait to be measured, have rows as well.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple

from django.db.models import Count, Q, TextField
from django.db.models.functions import Cast
from django.utils.dateparse import parse_datetime

from leaderboard.figures.benchmarks import GUESSES, HUMANS
from leaderboard.figures.progress import percent_done
from leaderboard.figures.runs import ANY_VERSION, OPEN, WORKING, State
from leaderboard.figures.scores import PARTS, Slice, main_part, parts_among
from leaderboard.line import QUEUES
from leaderboard.models import Benchmark, Claim, Model, Run, Score
from probing.analysis.intervals import Z

Provenance = Run.Provenance
# Whose figure a model has on a benchmark, where several have one.
PREFERENCE = (Provenance.MEASURED.value, Provenance.ELSEWHERE.value, Provenance.PUBLISHED.value)

# The fields of a score that a figure consists of, in its order; the model is its number.
FIELDS = (
    *("run_id", "run__benchmark_id", "run__provenance", "run__group", "finished"),
    *("run__model_id", "metric", "value", "low", "high", "n"),
)


def versions() -> dict[str, list[Benchmark]]:
    """Map each slug to the versions that pages show: the current one, and that of figures about other items. One query.

    A benchmark whose only figures are such comes with that version alone. All are asked by the main probe.
    """
    rows = Benchmark.objects.filter(Q(current=True) | Q(version=ANY_VERSION), main=True).order_by("-current", "pk")
    by_slug: dict[str, list[Benchmark]] = {}
    for row in rows:
        by_slug.setdefault(row.slug, []).append(row)
    return by_slug


def parts_by_slug(metrics: Collection[str]) -> dict[str, list[Slice]]:
    """Map benchmarks to the parts in which any run has a score, of the kind that measured runs have. One query.

    Published figures on some of the same items may be about parts of another kind.
    """
    scores = Score.objects.filter(run__state=State.FINISHED, metric__in=metrics, dimension__in=PARTS)
    names = ("run__benchmark__slug", "run__provenance", "dimension", "group")
    every: dict[str, set[Slice]] = {}
    measured: dict[str, set[Slice]] = {}
    for slug, provenance, *part in scores.order_by().values_list(*names).distinct():
        for by_slug in [every, measured] if provenance == Provenance.MEASURED else [every]:
            by_slug.setdefault(slug, set()).add(Slice(*part))
    kinds = {slug: main_part(measured.get(slug, parts)).dimension for slug, parts in every.items()}
    return {slug: parts_among(part for part in parts if part.dimension == kinds[slug]) for slug, parts in every.items()}


# What the overview is made of: measures, figures, columns and rows.


@dataclass(frozen=True)
class Measure:
    """What the overview shows of one benchmark.

    `versions`: those that figures may be about, the current one first. `metrics`: the first of them that any run has is
    shown. `part`: the group of items that the figures are about. `narrowed_by`: options of a run that choose such a
    group, so that a run with them is still comparable.
    """

    title: str
    topic: str
    versions: Sequence[Benchmark]
    metrics: Sequence[str]
    part: Slice
    narrowed_by: Collection[str] = ()

    @property
    def slug(self) -> str:
        return self.versions[0].slug


class ModelKey(NamedTuple):
    """What a row is about: the model of this id, with the hub's weights or with those that `weights` names."""

    hub_id: str
    weights: str = ""


class ListedModel(NamedTuple):
    """A model with what its row says."""

    key: ModelKey
    kind: str
    parameters: int | None
    family: str


class Figure(NamedTuple):
    """The stored score of a run, with what tells whose it is. `finished` is a time as the database writes it.

    `group`: what sets the run apart from those with the usual settings, by name and in words.

    `error`: the standard error over wordings, where it is known.
    """

    run: int
    benchmark: int
    provenance: str
    group: Sequence[Sequence[str]]
    finished: str | None
    model: ListedModel
    metric: str
    value: float
    low: float | None
    high: float | None
    n: float
    error: float | None = None

    @property
    def is_measured(self) -> bool:
        return self.provenance == Run.Provenance.MEASURED

    @property
    def ends(self) -> tuple[float, float] | None:
        """The ends of its interval, or else of that which its standard error gives; None where neither is known."""
        if self.low is not None and self.high is not None:
            return self.low, self.high
        return None if self.error is None else (self.value - Z * self.error, self.value + Z * self.error)

    def is_reached_by(self, other: "Figure") -> bool:
        """Tell whether another figure reaches into the interval of this one, whose ends are known."""
        return self.ends is not None and (other.ends[1] if other.ends else other.value) >= self.ends[0]


class Mention(NamedTuple):
    """A model with a published or an open run on a benchmark, whether or not it has a figure there."""

    model: ListedModel
    is_open: bool


@dataclass(frozen=True, eq=False)
class BenchmarkColumn:
    """A column: a benchmark with the metric that it shows, the version that it is about, and what guessing reaches.

    `human`: the figure of people, where authors have published one. `published`: the published figures of models whose
    figure in the column was measured.
    `without_figure`: the models that wait to be measured, or whose published figures cannot stand in the column, as
    they are in other metrics, about other settings, or about another group of items.
    """

    measure: Measure
    metric: str
    version: Benchmark
    chance: float | None
    figures: Mapping[ModelKey, Figure]
    without_figure: Mapping[ModelKey, Mention] = field(default_factory=dict)
    human: Figure | None = None
    published: Mapping[ModelKey, Figure] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        return self.measure.slug

    @cached_property
    def comparable(self) -> Mapping[ModelKey, Figure]:
        """The figures about the items of this column."""
        return {key: figure for key, figure in self.figures.items() if not self.is_about_other_items(figure)}

    @cached_property
    def best(self) -> Figure | None:
        """The highest of several shares about the items of this column; None where more is not better, or for one."""
        figures = self.comparable.values()
        is_share = all(0 <= figure.value <= 1 for figure in figures)
        return max(figures, key=lambda figure: figure.value) if len(figures) > 1 and is_share else None

    def is_among_the_best(self, figure: Figure) -> bool:
        """Tell whether a figure cannot be told from the best; none can where nothing says how sure that one is."""
        return self.best is not None and not self.is_about_other_items(figure) and self.best.is_reached_by(figure)

    def is_about_other_items(self, figure: Figure) -> bool:
        """Tell whether a figure is about other items than the rest of the column."""
        return figure.benchmark != self.version.pk


class OpenRun(NamedTuple):
    """A run that waits or is being measured; `percent` of its work is done."""

    run: int
    state: str
    percent: int


@dataclass(frozen=True)
class ModelRow:
    """A model with its figures by the slug of the benchmark.

    `published_apart`: the benchmarks whose column its published figures cannot stand in.
    """

    key: ModelKey
    kind: str
    parameters: int | None
    figures: Mapping[str, Figure]
    published_apart: Collection[str] = ()
    family: str = ""

    @property
    def hub_id(self) -> str:
        return self.key.hub_id

    @property
    def coverage(self) -> int:
        """The number of benchmarks on which it has a figure."""
        return len(self.figures)

    @property
    def measured(self) -> int:
        """The number of benchmarks on which it was measured here."""
        return sum(figure.is_measured for figure in self.figures.values())


@dataclass(frozen=True, eq=False)
class Overview:
    """The columns by topic, the rows in their default order, and the time at which the last run finished."""

    columns: Sequence[BenchmarkColumn]
    rows: Sequence[ModelRow]
    updated: datetime | None


def overview(measures: Sequence[Measure]) -> Overview:
    """Return the columns that have any figure or wait for one, and a row for each model with any.

    One query for each part, one for the models, and one each for those that have published figures and that wait.
    """
    models = listed_models()
    figures = [figure for part in _by_part(measures) for figure in _stored(part, models)]
    mentions = _mentions(measures, models)
    columns = [_column(measure, figures, mentions[measure.slug]) for measure in measures]
    shown = [column for column in columns if column]
    finished = [figure.finished for figure in figures if figure.finished and figure.is_measured]
    return Overview(shown, model_rows(shown), _time(max(finished, default="")))


def _time(text: str) -> datetime | None:
    """Read a time as the database writes it: SQLite without its zone, which is UTC."""
    time = parse_datetime(text) if text else None
    return time.replace(tzinfo=UTC) if time and time.tzinfo is None else time


def model_rows(columns: Iterable[BenchmarkColumn]) -> list[ModelRow]:
    """Return a row for each model of any of the columns, those with the most figures first."""
    by_model: dict[ModelKey, dict[str, Figure]] = {}
    mentions: dict[ModelKey, dict[str, Mention]] = {}
    for column in columns:
        for key, figure in column.figures.items():
            by_model.setdefault(key, {})[column.slug] = figure
        for key, mention in column.without_figure.items():
            by_model.setdefault(key, {})
            mentions.setdefault(key, {})[column.slug] = mention
    slugs = [column.slug for column in columns]
    rows = [_row(key, figures, mentions.get(key, {})) for key, figures in by_model.items()]
    return sorted(rows, key=lambda row: _order(row, slugs))


def _row(key: ModelKey, figures: Mapping[str, Figure], mentions: Mapping[str, Mention]) -> ModelRow:
    """Return a model's row; facts about the model come from runs measured here, if there are any."""
    by_preference = sorted(figures.values(), key=lambda figure: PREFERENCE.index(figure.provenance))
    sources: list[Figure | Mention] = [*by_preference, *mentions.values()]
    kind = next((source.model.kind for source in sources if source.model.kind), "")
    parameters = next((source.model.parameters for source in sources if source.model.parameters), None)
    apart = {slug for slug, mention in mentions.items() if not mention.is_open}
    return ModelRow(key, kind, parameters, figures, apart, sources[0].model.family)


def _mentions(measures: Sequence[Measure], models: Mapping[int, ListedModel]) -> dict[str, dict[ModelKey, Mention]]:
    """Map slugs to the models with published or open runs there; an open run goes before others. Two queries."""
    published = Run.objects.filter(state=State.FINISHED, provenance=Provenance.PUBLISHED, benchmark__main=True)
    waiting = Run.objects.filter(state__in=OPEN, benchmark__main=True)
    mentions: dict[str, dict[ModelKey, Mention]] = {measure.slug: {} for measure in measures}
    for is_open, runs in ((False, published.newest_steps()), (True, waiting)):
        for slug, number in runs.order_by().values_list("benchmark__slug", "model_id").distinct():
            if slug in mentions and number in models:  # not added since
                mentions[slug][models[number].key] = Mention(models[number], is_open)
    return mentions


def _order(row: ModelRow, slugs: Sequence[str]) -> tuple[int, int, list[float], ModelKey]:
    values = [-row.figures[slug].value if slug in row.figures else 0.0 for slug in slugs]
    return (-row.coverage, -row.measured, values, row.key)


def _by_part(measures: Sequence[Measure]) -> list[list[Measure]]:
    by_part: dict[Slice, list[Measure]] = {}
    for measure in measures:
        by_part.setdefault(measure.part, []).append(measure)
    return list(by_part.values())


def _stored(measures: Sequence[Measure], models: Mapping[int, ListedModel]) -> list[Figure]:
    """Return the figures of finished runs with the usual settings, for measures about the same part. One query."""
    by_version = {version.pk: measure for measure in measures for version in measure.versions}
    part, metrics = measures[0].part, {metric for measure in measures for metric in measure.metrics}
    error_of = {f"{metric}_sem": metric for metric in metrics}
    scores = Score.objects.filter(
        run__in=Run.objects.filter(state=State.FINISHED, benchmark__in=by_version).newest_steps(),
        metric__in={*metrics, *error_of},
        dimension=part.dimension,
        group=part.group,
        value__isnull=False,
        run__items_left_out=0,  # a run that answered fewer questions is compared with none that answered all
    )
    time = Cast("run__finished", TextField())
    rows = [row for row in scores.annotate(finished=time).values_list(*FIELDS) if row[5] in models]
    errors = {(row[0], error_of[row[6]]): row[7] for row in rows if row[6] in error_of}
    figures = (
        Figure._make((*row[:5], models[row[5]], *row[6:], errors.get((row[0], row[6]))))
        for row in rows
        if row[6] in metrics
    )
    return [figure for figure in figures if _is_usual(figure, by_version[figure.benchmark])]


def _is_usual(figure: Figure, measure: Measure) -> bool:
    """Tell whether a run has the usual settings, but for those that choose a part of the items."""
    return all(name in measure.narrowed_by for name, _ in figure.group)


def _column(
    measure: Measure,
    figures: Sequence[Figure],
    mentions: Mapping[ModelKey, Mention],
) -> BenchmarkColumn | None:
    """Return the column of a benchmark in the first of its metrics that a model has; None if it has no models."""
    stored = [figure for version in measure.versions for figure in figures if figure.benchmark == version.pk]
    baselines = [figure for figure in stored if figure.provenance == Provenance.BASELINE]
    models = [figure for figure in stored if figure.provenance in PREFERENCE]
    metric = next((name for name in measure.metrics if any(figure.metric == name for figure in models)), None)
    if metric is None and not mentions:
        return None
    if metric is None:
        return BenchmarkColumn(measure, measure.metrics[0], measure.versions[0], None, {}, mentions)
    shown = [figure for figure in models if figure.metric == metric]
    with_figures = {figure.benchmark for figure in shown}
    version = next(version for version in measure.versions if version.pk in with_figures)
    same_metric = [figure for figure in baselines if figure.metric == metric]
    chance, human = (_reference(same_metric, ids, version) for ids in (GUESSES, HUMANS))
    main = _main(shown, version)
    others = {key: mention for key, mention in mentions.items() if key not in main}
    of_papers = _main((figure for figure in shown if figure.provenance == Provenance.PUBLISHED), version)
    published = {key: figure for key, figure in of_papers.items() if main[key] is not figure}
    return BenchmarkColumn(measure, metric, version, chance.value if chance else None, main, others, human, published)


def _reference(baselines: Iterable[Figure], ids: Sequence[str], version: Benchmark) -> Figure | None:
    """Return the figure of the first of these baselines, about this version if there is one; None without any."""
    of_ids = [figure for figure in baselines if figure.model.key.hub_id in ids]
    return min(
        of_ids, key=lambda figure: (figure.benchmark != version.pk, ids.index(figure.model.key.hub_id)), default=None
    )


def _main(figures: Iterable[Figure], version: Benchmark) -> dict[ModelKey, Figure]:
    """Map each model to its figure: measured before published, about this version before others, the newest run."""

    def preference(figure: Figure) -> tuple[int, bool, int]:
        return (-PREFERENCE.index(figure.provenance), figure.benchmark == version.pk, figure.run)

    main: dict[ModelKey, Figure] = {}
    for figure in figures:
        key = figure.model.key
        if key not in main or preference(figure) > preference(main[key]):
            main[key] = figure
    return main


def running() -> int:
    """Return the number of runs that workers have now, which are those that the queue calls running. One query."""
    held = Q(pk__in=Claim.objects.fresh().values("run")) | Q(state=State.AGGREGATING)
    return Run.objects.filter(held, state__in=WORKING, queue__in=QUEUES).count()


def open_runs(rows: Sequence[ModelRow]) -> dict[ModelKey, dict[str, OpenRun]]:
    """Return the open runs of models by the slug of the benchmark, where their rows have no figure. Two queries."""
    by_key = {row.key: row for row in rows}
    runs = Run.objects.filter(state__in=OPEN, benchmark__main=True, model__hub_id__in={row.hub_id for row in rows})
    fields = ("state", "benchmark__slug", *(f"model__{name}" for name in WEIGHTS_FIELDS))
    stored: list[tuple[ModelKey, str, int, str]] = []
    for run in runs.order_by("-pk").select_related("model", "benchmark").only(*fields):
        key, slug = key_of(run.model), run.benchmark.slug
        if key in by_key and slug not in by_key[key].figures:
            stored.append((key, slug, run.pk, run.state))
    percents = percent_done([pk for _, _, pk, _ in stored])
    by_model: dict[ModelKey, dict[str, OpenRun]] = {}
    for key, slug, pk, state in stored:
        by_model.setdefault(key, {})[slug] = OpenRun(pk, state, percents.get(pk, 0))
    return by_model


def published_apart(rows: Sequence[ModelRow]) -> dict[tuple[str, str], int]:
    """Return how many published figures models have on the benchmarks whose columns these cannot stand in. One query.

    The number stands under the slug of the benchmark and the id of the model.
    """
    ids = {row.hub_id for row in rows if row.published_apart}
    scores = Score.objects.filter(
        run__in=Run.objects.filter(state=State.FINISHED, provenance=Provenance.PUBLISHED, model__hub_id__in=ids),
        value__isnull=False,
    )
    counts = scores.values_list("run__benchmark__slug", "run__model__hub_id").annotate(number=Count("pk")).order_by()
    return {(slug, hub_id): number for slug, hub_id, number in counts}


def citations(runs: Collection[int]) -> list[Run]:
    """Return runs with what their sources are cited from, and nothing else. One query."""
    fields = ("provenance", "reference", "reference_url", "provenance_record")
    return list(Run.objects.filter(pk__in=runs).only(*fields))


# All models with what the rows of the overview say about them.


WEIGHTS_FIELDS = ("hub_id", "weights_file", "quantisation", "source", "adapter_commit")


def listed_models() -> dict[int, ListedModel]:
    """Return all models by number. One query."""
    return {
        model.pk: ListedModel(key_of(model), model.kind, model.parameters, model.family)
        for model in Model.objects.only("kind", "parameters", "family", *WEIGHTS_FIELDS)
    }


def key_of(model: Model) -> ModelKey:
    """Return what the row of a model is about."""
    return ModelKey(model.hub_id, model.weights_in_words)
