"""The overview of models and benchmarks: one figure for each model on each benchmark. Few queries, whatever their size.

The figure of a model is that of its newest run that was measured here with the usual settings, or else a published one.
A column has one metric, and it is about the same items in all of its rows: figures about other items are marked. Models
whose published figures are in other metrics, or that still wait to be measured, have rows as well.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Q, QuerySet, TextField
from django.db.models.functions import Cast

from leaderboard.changed_settings import differences, dtype_by_size, settings_group
from leaderboard.lists.progress import percent_done
from leaderboard.lists.runs import ANY_VERSION, OPEN, WORKING, State
from leaderboard.lists.scores import Slice
from leaderboard.models import Benchmark, Model, Run, Score
from leaderboard.stored.chance import GUESSES

Provenance = Run.Provenance
# Whose figure a model has on a benchmark, where several have one.
PREFERENCE = (Provenance.MEASURED, Provenance.THIRD_PARTY, Provenance.PUBLISHED)


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


class Figure(NamedTuple):
    """The stored score of a run, with what tells whose it is."""

    run: int
    benchmark: int
    provenance: str
    settings: str
    finished: datetime | None
    model: int
    hub_id: str
    kind: str
    parameters: int | None
    stored_dtype: str
    metric: str
    value: float
    low: float | None
    high: float | None
    n: float

    @property
    def is_measured(self) -> bool:
        return self.provenance == Provenance.MEASURED


# The fields of a score that a figure consists of, in its order.
FIELDS = (
    *("run_id", "run__benchmark_id", "run__provenance", "settings", "run__finished"),
    *("run__model_id", "run__model__hub_id", "run__model__kind"),
    *("run__model__parameters", "run__model__stored_dtype"),
    *("metric", "value", "low", "high", "n"),
)


class ModelKey(NamedTuple):
    """What a row is about: the model of this id, with the hub's weights or with those that `weights` names."""

    hub_id: str
    weights: str = ""


class OpenRun(NamedTuple):
    """A run that waits or is being measured; `percent` of its work is done."""

    run: int
    state: str
    percent: int


class Mention(NamedTuple):
    """A model with a published or an open run on a benchmark, whether or not it has a figure there."""

    slug: str
    state: str
    model: int
    hub_id: str
    kind: str
    parameters: int | None

    @property
    def is_open(self) -> bool:
        return self.state in OPEN


@dataclass(frozen=True)
class BenchmarkColumn:
    """A column: a benchmark with the metric that it shows, the version that it is about, and what guessing reaches.

    `without_figure`: the models that wait to be measured, or whose published figures cannot stand in the column, as
    they are in other metrics, about other settings, or about another group of items.
    """

    measure: Measure
    metric: str
    version: Benchmark
    chance: float | None
    figures: Mapping[ModelKey, Figure]
    without_figure: Mapping[ModelKey, Mention] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        return self.measure.slug

    def is_about_other_items(self, figure: Figure) -> bool:
        """Tell whether a figure is about other items than the rest of the column."""
        return figure.benchmark != self.version.pk


@dataclass(frozen=True)
class ModelRow:
    """A model with its figures by the slug of the benchmark, and its open runs where it has no figure.

    `published_apart`: the benchmarks whose column its published figures cannot stand in.
    """

    key: ModelKey
    kind: str
    parameters: int | None
    figures: Mapping[str, Figure]
    published_apart: Collection[str] = ()
    open_runs: Mapping[str, OpenRun] = field(default_factory=dict)

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


@dataclass(frozen=True)
class Overview:
    """The columns by topic, the rows in their default order, and the time at which the last run finished."""

    columns: Sequence[BenchmarkColumn]
    rows: Sequence[ModelRow]
    updated: datetime | None = None


def versions() -> dict[str, list[Benchmark]]:
    """Map each slug to the versions that pages show: the current one, and that of figures about other items. One query.

    A benchmark whose only figures are such comes with that version alone.
    """
    rows = Benchmark.objects.filter(Q(current=True) | Q(version=ANY_VERSION)).order_by("-current", "pk")
    by_slug: dict[str, list[Benchmark]] = {}
    for row in rows:
        by_slug.setdefault(row.slug, []).append(row)
    return by_slug


def groups(dimension: str, metrics: Collection[str]) -> list[str]:
    """Return the groups of a dimension in which any finished run has a score, those of the most runs first."""
    scores = Score.objects.filter(run__state=State.FINISHED, metric__in=metrics, dimension=dimension)
    counts = scores.values_list("group").annotate(number=Count("pk")).order_by("-number", "group")
    return [group for group, _ in counts]


def overview(measures: Sequence[Measure]) -> Overview:
    """Return the columns that have any figure or wait for one, and a row for each model with any.

    One query for each part, one for the weights, and one for models without figures.
    """
    figures = [figure for part in _by_part(measures) for figure in _stored(part)]
    by_version: dict[int, list[Figure]] = {}
    for figure in figures:
        by_version.setdefault(figure.benchmark, []).append(figure)
    weights = other_weights()
    mentions = _mentions(measures, weights)
    columns = [
        column
        for measure in measures
        if (column := _column(measure, by_version, weights, mentions.get(measure.slug, {})))
    ]
    finished = [figure.finished for figure in figures if figure.finished and figure.is_measured]
    return Overview(columns, model_rows(columns), max(finished, default=None))


def model_rows(columns: Iterable[BenchmarkColumn]) -> list[ModelRow]:
    """Return a row for each model of any of the columns, those with the most figures first."""
    by_model: dict[ModelKey, dict[str, Figure]] = {}
    mentions: dict[ModelKey, list[Mention]] = {}
    for column in columns:
        for key, figure in column.figures.items():
            by_model.setdefault(key, {})[column.slug] = figure
        for key, mention in column.without_figure.items():
            by_model.setdefault(key, {})
            mentions.setdefault(key, []).append(mention)
    slugs = [column.slug for column in columns]
    rows = [_row(key, figures, mentions.get(key, ())) for key, figures in by_model.items()]
    return sorted(rows, key=lambda row: _order(row, slugs))


def other_weights() -> dict[int, str]:
    """Map models with other weights than those of the hub under the same id to what sets these apart. One query."""
    models = Model.objects.exclude(weights_file="")
    return {model.pk: model.weights_in_words for model in models}


def _row(key: ModelKey, figures: Mapping[str, Figure], mentions: Sequence[Mention]) -> ModelRow:
    """Return a model's row; what was measured here knows better what the model is."""
    by_preference = sorted(figures.values(), key=lambda figure: PREFERENCE.index(Provenance(figure.provenance)))
    sources: list[Figure | Mention] = [*by_preference, *mentions]
    kind = next((source.kind for source in sources if source.kind), "")
    parameters = next((source.parameters for source in sources if source.parameters), None)
    return ModelRow(key, kind, parameters, figures, {mention.slug for mention in mentions if not mention.is_open})


def _mentions(measures: Sequence[Measure], weights: Mapping[int, str]) -> dict[str, dict[ModelKey, Mention]]:
    """Map slugs to the models with published or open runs there; an open run goes before published ones. One query."""
    published = Q(state=State.FINISHED, provenance=Provenance.PUBLISHED)
    runs = Run.objects.filter(published | Q(state__in=OPEN), benchmark__slug__in={part.slug for part in measures})
    names = ("benchmark__slug", "state", "model_id", "model__hub_id", "model__kind", "model__parameters")
    mentions: dict[str, dict[ModelKey, Mention]] = {}
    for mention in map(Mention._make, runs.order_by().values_list(*names).distinct()):
        key = ModelKey(mention.hub_id, weights.get(mention.model, ""))
        of_benchmark = mentions.setdefault(mention.slug, {})
        if mention.is_open or key not in of_benchmark:
            of_benchmark[key] = mention
    return mentions


def _order(row: ModelRow, slugs: Sequence[str]) -> tuple[int, int, list[float], ModelKey]:
    values = [-row.figures[slug].value if slug in row.figures else 0.0 for slug in slugs]
    return (-row.coverage, -row.measured, values, row.key)


def _by_part(measures: Sequence[Measure]) -> list[list[Measure]]:
    by_part: dict[Slice, list[Measure]] = {}
    for measure in measures:
        by_part.setdefault(measure.part, []).append(measure)
    return list(by_part.values())


def _stored(measures: Sequence[Measure]) -> list[Figure]:
    """Return the figures of finished runs with the usual settings, for measures about the same part. One query."""
    by_version = {version.pk: (measure, version) for measure in measures for version in measure.versions}
    part = measures[0].part
    scores = Score.objects.filter(
        run__state=State.FINISHED,
        run__benchmark__in=by_version,
        metric__in={metric for measure in measures for metric in measure.metrics},
        dimension=part.dimension,
        group=part.group,
        value__isnull=False,
    )
    rows = scores.annotate(settings=Cast("run__settings", TextField())).values_list(*FIELDS)
    usual = UsualSettings(by_version)
    return [figure for figure in map(Figure._make, rows) if usual.has(figure)]


class UsualSettings:
    """Tells whether a run has the usual settings of its benchmark; equal settings are compared once."""

    def __init__(self, by_version: Mapping[int, tuple[Measure, Benchmark]]) -> None:
        self._usual = {pk: version.settings_with({}) for pk, (_, version) in by_version.items()}
        self._narrowed_by = {pk: measure.narrowed_by for pk, (measure, _) in by_version.items()}
        self._is_usual: dict[tuple[int, str, str], bool] = {}

    def has(self, figure: Figure) -> bool:
        key = (figure.benchmark, figure.settings, dtype_by_size(figure.parameters, figure.stored_dtype))
        if key not in self._is_usual:
            self._is_usual[key] = self._compare(figure)
        return self._is_usual[key]

    def _compare(self, figure: Figure) -> bool:
        settings = json.loads(figure.settings)
        changed = differences(settings, self._usual[figure.benchmark])
        kept = {name: words for name, words in changed.items() if name not in self._narrowed_by[figure.benchmark]}
        return not settings_group(kept, settings, figure.parameters, figure.stored_dtype)


def _column(
    measure: Measure,
    by_version: Mapping[int, Sequence[Figure]],
    weights: Mapping[int, str],
    mentions: Mapping[ModelKey, Mention],
) -> BenchmarkColumn | None:
    """Return the column of a benchmark in the first of its metrics that a model has; None if it has no models."""
    stored = [figure for version in measure.versions for figure in by_version.get(version.pk, ())]
    guesses = [figure for figure in stored if figure.provenance == Provenance.BASELINE and figure.hub_id in GUESSES]
    models = [figure for figure in stored if figure.provenance in PREFERENCE]
    metric = next((name for name in measure.metrics if any(figure.metric == name for figure in models)), None)
    if metric is None and not mentions:
        return None
    if metric is None:
        return BenchmarkColumn(measure, measure.metrics[0], measure.versions[0], None, {}, mentions)
    shown = [figure for figure in models if figure.metric == metric]
    with_figures = {figure.benchmark for figure in shown}
    version = next(version for version in measure.versions if version.pk in with_figures)
    chances = sorted(
        (figure.benchmark != version.pk, GUESSES.index(figure.hub_id), figure.value)
        for figure in guesses
        if figure.metric == metric
    )
    chance = chances[0][2] if chances else None
    main = _main(shown, version, weights)
    others = {key: mention for key, mention in mentions.items() if key not in main}
    return BenchmarkColumn(measure, metric, version, chance, main, others)


def _main(figures: Iterable[Figure], version: Benchmark, weights: Mapping[int, str]) -> dict[ModelKey, Figure]:
    """Map each model to its figure: measured before published, about this version before others, the newest run."""

    def preference(figure: Figure) -> tuple[int, bool, int]:
        return (-PREFERENCE.index(Provenance(figure.provenance)), figure.benchmark == version.pk, figure.run)

    main: dict[ModelKey, Figure] = {}
    for figure in figures:
        key = ModelKey(figure.hub_id, weights.get(figure.model, ""))
        if key not in main or preference(figure) > preference(main[key]):
            main[key] = figure
    return main


def running() -> QuerySet[Run]:
    """Return the runs that are being measured now."""
    return Run.objects.filter(state__in=WORKING).order_by("pk")


def with_open_runs(rows: Sequence[ModelRow]) -> list[ModelRow]:
    """Return the rows of a page with the open runs of their models. Two queries."""
    runs = Run.objects.filter(state__in=OPEN, model__hub_id__in={row.hub_id for row in rows})
    stored = list(runs.select_related("model", "benchmark").order_by("-pk"))
    percents = percent_done([run.pk for run in stored])
    by_model: dict[ModelKey, dict[str, OpenRun]] = {}
    for run in stored:
        key = ModelKey(run.model.hub_id, run.model.weights_in_words)
        by_model.setdefault(key, {})[run.benchmark.slug] = OpenRun(run.pk, run.state, percents.get(run.pk, 0))
    return [replace(row, open_runs=by_model.get(row.key, {})) for row in rows]


def citations(runs: Collection[int]) -> list[Run]:
    """Return runs with what their sources are cited from, and nothing else. One query."""
    fields = ("provenance", "reference", "reference_url", "provenance_record")
    return list(Run.objects.filter(pk__in=runs).only(*fields))
