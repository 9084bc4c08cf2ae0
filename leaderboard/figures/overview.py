"""The overview of models and benchmarks: one figure for each model on each benchmark, in few queries.

The figure of a model is that of its newest run that was measured here with the usual settings, or else a published one.
A column has one metric, and it is about the same items in all of its rows: figures about other items are marked. Models
whose published figures are in other metrics, or that still wait to be measured, have rows as well.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd
from django.db.models import Count, Q

from leaderboard.figures.benchmarks import GUESSES, HUMANS
from leaderboard.figures.board import WEIGHTS, board, reaches, rows_of, usual, with_value
from leaderboard.figures.progress import percent_done
from leaderboard.figures.runs import ANY_VERSION, OPEN, WORKING, State
from leaderboard.figures.scores import MAIN_DIMENSIONS, PARTS, Slice, main_part, parts_among
from leaderboard.line import QUEUES
from leaderboard.models import Benchmark, Claim, Run, Score
from leaderboard.models.model import weights_in_words

Provenance = Run.Provenance
# Whose figure a model has on a benchmark, where several have one.
PREFERENCE = (Provenance.MEASURED.value, Provenance.ELSEWHERE.value, Provenance.PUBLISHED.value)


def versions() -> dict[str, list[Benchmark]]:
    """Map each slug to the versions that pages show: the current one, and that of figures about other items. One query.

    A benchmark whose only figures are such comes with that version alone. All are asked by the main probe.
    """
    rows = Benchmark.objects.filter(Q(current=True) | Q(version=ANY_VERSION), main=True).order_by("-current", "pk")
    by_slug: dict[str, list[Benchmark]] = {}
    for row in rows:
        by_slug.setdefault(row.slug, []).append(row)
    return by_slug


def parts_by_slug(benchmarks: Mapping[str, Sequence[Benchmark]], metrics: Collection[str]) -> dict[str, list[Slice]]:
    """Map benchmarks to the parts in which any run has a score, of the kind that measured runs have.

    Published figures on some of the same items may be about parts of another kind.
    """
    slugs = {version.pk: slug for slug, of_slug in benchmarks.items() for version in of_slug}
    of_parts = board(slugs, metrics, PARTS)[["benchmark", "is_measured", "dimension", "group"]].drop_duplicates()
    every: dict[str, set[Slice]] = {}
    measured: dict[str, set[Slice]] = {}
    for number, is_measured, *part in of_parts.itertuples(index=False):
        for by_slug in [every, measured] if is_measured else [every]:
            by_slug.setdefault(slugs[number], set()).add(Slice(*part))
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


class Mention(NamedTuple):
    """A model with a published or an open run on a benchmark, whether or not it has a figure there."""

    kind: str
    parameters: int | None
    family: str
    is_open: bool


Figure = Any  # a row of the board


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
        return self.best is not None and not self.is_about_other_items(figure) and reaches(figure, self.best)

    def is_about_other_items(self, figure: Figure) -> bool:
        """Tell whether a figure is about other items than the rest of the column."""
        return bool(figure.benchmark != self.version.pk)


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

    Two queries beside those of the board, for the models that have published figures and that wait.
    """
    numbers = [version.pk for measure in measures for version in measure.versions]
    metrics = {metric for measure in measures for metric in measure.metrics}
    scores = board(numbers, metrics, MAIN_DIMENSIONS)
    mentions = _mentions(measures)
    figures = {measure.slug: _figures(measure, scores) for measure in measures}
    columns = [_column(measure, figures[measure.slug], mentions[measure.slug]) for measure in measures]
    shown = [column for column in columns if column]
    measured = [figure.finished for own in figures.values() for figure in own if figure.is_measured and figure.finished]
    return Overview(shown, model_rows(shown), max(measured, default=None))


def _figures(measure: Measure, scores: pd.DataFrame) -> list[Figure]:
    """Return the figures of runs with the usual settings on the part that a measure is about, by its versions."""
    about = (scores["dimension"] == measure.part.dimension) & (scores["group"] == measure.part.group)
    own = usual(with_value(scores[about & scores["metric"].isin(measure.metrics)]), measure.narrowed_by)
    return [row for version in measure.versions for row in rows_of(own[own["benchmark"] == version.pk])]


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
    kind = next((source.kind for source in sources if source.kind), "")
    parameters = next((source.parameters for source in sources if source.parameters), None)
    apart = {slug for slug, mention in mentions.items() if not mention.is_open}
    return ModelRow(key, kind, parameters, figures, apart, sources[0].family)


def _mentions(measures: Sequence[Measure]) -> dict[str, dict[ModelKey, Mention]]:
    """Map slugs to the models with published or open runs there; an open run goes before others. Two queries."""
    published = Run.objects.filter(state=State.FINISHED, provenance=Provenance.PUBLISHED, benchmark__main=True)
    waiting = Run.objects.filter(state__in=OPEN, benchmark__main=True)
    mentions: dict[str, dict[ModelKey, Mention]] = {measure.slug: {} for measure in measures}
    names = ("benchmark__slug", *(f"model__{name}" for name in ("hub_id", *WEIGHTS, "kind", "parameters", "family")))
    for is_open, runs in ((False, published.newest_steps()), (True, waiting)):
        for slug, hub_id, *values, kind, parameters, family in runs.order_by().values_list(*names).distinct():
            if slug in mentions:
                key = ModelKey(hub_id, weights_in_words(*values))
                mentions[slug][key] = Mention(kind, parameters, family, is_open)
    return mentions


def _order(row: ModelRow, slugs: Sequence[str]) -> tuple[int, int, list[float], ModelKey]:
    values = [-row.figures[slug].value if slug in row.figures else 0.0 for slug in slugs]
    return (-row.coverage, -row.measured, values, row.key)


def _column(
    measure: Measure,
    figures: Sequence[Figure],
    mentions: Mapping[ModelKey, Mention],
) -> BenchmarkColumn | None:
    """Return the column of a benchmark in the first of its metrics that a model has; None if it has no models."""
    baselines = [figure for figure in figures if figure.provenance == Provenance.BASELINE]
    models = [figure for figure in figures if figure.provenance in PREFERENCE]
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
    of_ids = [figure for figure in baselines if figure.hub_id in ids]
    return min(of_ids, key=lambda figure: (figure.benchmark != version.pk, ids.index(figure.hub_id)), default=None)


def _main(figures: Iterable[Figure], version: Benchmark) -> dict[ModelKey, Figure]:
    """Map each model to its figure: measured before published, about this version before others, the newest run."""

    def preference(figure: Figure) -> tuple[int, bool, int]:
        return (-PREFERENCE.index(figure.provenance), figure.benchmark == version.pk, figure.run)

    main: dict[ModelKey, Figure] = {}
    for figure in figures:
        key = ModelKey(figure.hub_id, figure.weights)
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
    fields = ("pk", "state", "benchmark__slug", "model__hub_id", *(f"model__{name}" for name in WEIGHTS))
    stored: list[tuple[ModelKey, str, int, str]] = []
    for pk, state, slug, hub_id, *values in runs.order_by("-pk").values_list(*fields):
        key = ModelKey(hub_id, weights_in_words(*values))
        if key in by_key and slug not in by_key[key].figures:
            stored.append((key, slug, pk, state))
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
