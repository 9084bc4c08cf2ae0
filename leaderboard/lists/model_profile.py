"""A model's figures on each benchmark, beside those of models of similar size. A fixed number of queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple, cast

from django.db.models import QuerySet

from leaderboard.changed_settings import differences, settings_group
from leaderboard.lists.families import family_of
from leaderboard.lists.scores import OVERALL, overall_scores
from leaderboard.models import Benchmark, Model, Run, Score
from leaderboard.stored.chance import GUESSES

SIMILAR = 2  # models of similar size have at most this many times the parameters, and at least this part of them
SHOWN = (Run.Provenance.MEASURED, Run.Provenance.PUBLISHED, Run.Provenance.THIRD_PARTY)
FIGURE_FIELDS = (
    *("run", "run__benchmark", "run__provenance", "run__settings", "run__model__hub_id"),
    *("run__model__parameters", "run__model__stored_dtype", "value", "low", "high"),
)


class Figure(NamedTuple):
    """The overall figure of a run in the main metric of its benchmark's probe.

    `group` is what sets it apart from runs with the usual settings, in words; figures compare within a group.
    """

    run: int
    hub_id: str
    parameters: int | None
    measured: bool
    group: str
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ProfileRow:
    """A model's figure on a benchmark, that of guessing, and the figures of models of similar size."""

    run: Run
    score: Score
    similar: Sequence[Figure]
    chance: float | None

    @property
    def value(self) -> float:
        return float(self.score.value or 0)

    @property
    def band(self) -> tuple[float, float] | None:
        """The lowest and the highest figure of models of similar size."""
        values = [figure.value for figure in self.similar]
        return (min(values), max(values)) if values else None

    @property
    def median(self) -> float | None:
        return median(figure.value for figure in self.similar) if self.similar else None


def profile(hub_id: str, runs: Sequence[Run], parameters: int | None) -> list[ProfileRow]:
    """Return the model's figures that are shares between 0 and 1, one on each benchmark."""
    finished = [run for run in runs if run.state == Run.State.FINISHED and run.provenance in SHOWN]
    scores = overall_scores(finished, lambda benchmark: benchmark.main_metric)
    shares = {pk: score for pk, score in scores.items() if score.value is not None and 0 <= score.value <= 1}
    by_slug: dict[str, list[Run]] = {}
    for run in finished:
        if run.pk in shares:
            by_slug.setdefault(run.benchmark.slug, []).append(run)
    benchmarks = {run.benchmark_id: run.benchmark for of_one in by_slug.values() for run in of_one}
    similar = similar_figures(hub_id, parameters, benchmarks)
    chance = chance_levels(benchmarks)
    rows = []
    for of_one in by_slug.values():
        run = _shown_run(of_one, similar)
        rows.append(ProfileRow(run, shares[run.pk], _beside(run, similar), chance.get(run.benchmark_id)))
    return rows


def _shown_run(runs: Sequence[Run], similar: Mapping[int, Sequence[Figure]]) -> Run:
    """Choose one of a model's runs on a benchmark: measured here, with the usual settings, the newest.

    Where runs answered different items, as those of different languages do, it is one that most models can be compared
    with.
    """

    def preference(run: Run) -> tuple[bool, bool, int, int]:
        measured = run.provenance == Run.Provenance.MEASURED
        return (measured, not run.settings_group, len(_beside(run, similar)), run.pk)

    return max(runs, key=preference)


def _beside(run: Run, similar: Mapping[int, Sequence[Figure]]) -> list[Figure]:
    """Return one figure of each model of similar size in the settings of a run, a measured one where there is one."""
    group = run.settings_group
    by_model: dict[str, Figure] = {}
    for figure in similar.get(run.benchmark_id, ()):
        if figure.group == group and (figure.measured or figure.hub_id not in by_model):
            by_model[figure.hub_id] = figure
    return list(by_model.values())


def similar_figures(
    hub_id: str, parameters: int | None, benchmarks: Mapping[int, Benchmark]
) -> dict[int, list[Figure]]:
    """Map each benchmark to the figures of other models of similar size, oldest first; none without a size."""
    if not parameters:
        return {}
    scores = Score.objects.filter(run__model__parameters__range=(parameters / SIMILAR, parameters * SIMILAR))
    return _figures(scores.exclude(run__model__hub_id=hub_id), benchmarks)


def _figures(scores: QuerySet[Score], benchmarks: Mapping[int, Benchmark]) -> dict[int, list[Figure]]:
    """Return the overall figures among scores by benchmark. One query."""
    metrics = {benchmark.main_metric for benchmark in benchmarks.values()}
    overall = scores.filter(
        run__benchmark__in=benchmarks,
        run__state=Run.State.FINISHED,
        run__provenance__in=(Run.Provenance.MEASURED, Run.Provenance.PUBLISHED),
        metric__in=metrics,
        dimension=OVERALL.dimension,
        group=OVERALL.group,
        value__isnull=False,
    )
    usual = {pk: benchmark.settings_with({}) for pk, benchmark in benchmarks.items()}
    changed: dict[tuple[int, str], dict[str, str]] = {}  # most runs have one of a few settings
    by_benchmark: dict[int, list[Figure]] = {}
    for metric, *values in overall.order_by("run").values_list("metric", *FIGURE_FIELDS):
        pk, benchmark, provenance, settings, hub_id, parameters, dtype, *value = values
        if metric == benchmarks[benchmark].main_metric:
            key = benchmark, str(settings)
            if key not in changed:
                changed[key] = differences(settings, usual[benchmark])
            group = settings_group(changed[key], settings, parameters, dtype) if changed[key] else ""
            figure = Figure(pk, hub_id, parameters, provenance == Run.Provenance.MEASURED, group, *value)
            by_benchmark.setdefault(benchmark, []).append(figure)
    return by_benchmark


def chance_levels(benchmarks: Mapping[int, Benchmark]) -> dict[int, float]:
    """Map each benchmark to what guessing reaches in its main metric, where that is known. One query."""
    scores = Score.objects.filter(
        run__benchmark__in=benchmarks,
        run__provenance=Run.Provenance.BASELINE,
        run__model__hub_id__in=GUESSES,
        dimension=OVERALL.dimension,
        group=OVERALL.group,
        value__isnull=False,
    )
    levels = scores.order_by("-run__model__hub_id").values_list("run__benchmark", "metric", "value")
    return {pk: value for pk, metric, value in levels if value is not None and metric == benchmarks[pk].main_metric}


def medians(figures: Sequence[Figure], metric: str, dimension: str) -> dict[str, float]:
    """Map each group of a dimension to the median of the runs of these figures that were measured here. One query."""
    runs = [figure.run for figure in figures if figure.measured]
    scores = Score.objects.filter(run__in=runs, metric=metric, dimension=dimension, value__isnull=False)
    by_group: dict[str, list[float]] = {}
    for group, value in scores.values_list("group", "value"):
        by_group.setdefault(group, []).append(cast(float, value))
    return {group: median(values) for group, values in by_group.items()}


def family_figures(hub_id: str, rows: Sequence[ProfileRow]) -> tuple[ProfileRow, list[Figure]] | None:
    """Return the row of the benchmark on which most models of the family have a figure, with these; None without any.

    Only models of a known size count. Two queries.
    """
    family = family_of(hub_id)
    if not family or not rows:
        return None
    names = Model.objects.exclude(parameters=None).values_list("hub_id", flat=True).distinct()
    members = [name for name in names if family_of(name) == family]
    benchmarks = {row.run.benchmark_id: row.run.benchmark for row in rows}
    figures = _figures(Score.objects.filter(run__model__hub_id__in=members), benchmarks)
    choices = [(row, [figure for figure in _beside(row.run, figures) if figure.parameters]) for row in rows]
    row, chosen = max(choices, key=lambda choice: len(choice[1]))
    return (row, chosen) if len({figure.parameters for figure in chosen}) > 1 else None
