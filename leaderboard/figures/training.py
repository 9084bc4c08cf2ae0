"""What a model knows at several steps of its training.

The scores of the steps are series of finished runs that were measured in the same way.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import NamedTuple

import pandas as pd
from django.db.models import Count, Q, QuerySet

from leaderboard.figures.scores import OVERALL_SLICE, Slice, main_part, of_main_parts, part_of
from leaderboard.models import Benchmark, Model, Run, Score
from probing.analysis.paired_tests import SCORE_KEY
from probing.analysis.steps import RELATIVE_COLUMNS, relative_to_first

# Large fields of a run that no page of a series shows.
UNUSED = ("provenance_record", "message", "next_step", "traceback", "log")
FEWEST = 2  # steps that make a series


@dataclass(frozen=True)
class Series:
    """The finished runs of one model on one benchmark at different steps, in the order of the steps.

    All have the same settings and come from the same source, so that only the training differs. Of several runs at one
    step it has the newest. A page gives it its scores (`points`), and the name by which it is told from others.
    """

    runs: tuple[Run, ...]
    name: str = ""
    points: tuple["StepScore", ...] = ()

    @property
    def last(self) -> Run:
        """The run at the largest step."""
        return self.runs[-1]

    @property
    def model(self) -> Model:
        return self.last.model

    @property
    def benchmark(self) -> Benchmark:
        return self.last.benchmark

    @property
    def settings_group(self) -> str:
        """What sets it apart from runs with the usual settings, in words."""
        return self.last.settings_group

    @property
    def title(self) -> str:
        """Its benchmark, and whatever sets it apart there from the usual runs."""
        version = "" if self.benchmark.current else f"version {self.benchmark.version[:12]}"
        source = "" if self.is_measured else self.last.get_provenance_display().lower()
        return ", ".join(filter(None, [self.benchmark.title, self.settings_group, version, source]))

    @property
    def is_measured(self) -> bool:
        """Tell whether it was measured here, and not elsewhere."""
        return self.last.provenance == Run.Provenance.MEASURED

    @property
    def has_tokens(self) -> bool:
        """Tell whether the number of tokens read is known at every step."""
        return all(run.model.tokens is not None for run in self.runs)

    @property
    def sort_key(self) -> tuple[str, bool, bool, bool, int]:
        """The sort key: by benchmark, current versions, measured ones, usual settings and longer ones first."""
        older, other = not self.benchmark.current, not self.is_measured
        return (self.benchmark.title, older, other, bool(self.settings_group), -len(self.runs))


class Percent(NamedTuple):
    """A percentage with its interval; None where there is none."""

    value: float | None
    low: float | None
    high: float | None


class StepScore(NamedTuple):
    """The score of a series at one of its steps, also in percent of that at its first step, where that is not 0.

    The first step has no interval in percent, as it is 100 by definition.
    """

    run: Run
    score: Score
    percent: Percent

    @property
    def step(self) -> int:
        return step_of(self.run)

    @property
    def value(self) -> float:
        return float(self.score.value or 0)


def step_of(run: Run) -> int:
    return int(run.model.step or 0)


def series_of(runs: Iterable[Run]) -> list[Series]:
    """Return the series among runs, the main one of each benchmark first; runs without a step belong to none."""
    by_training: dict[tuple[object, ...], dict[int, Run]] = {}
    finished = [run for run in runs if run.state == Run.State.FINISHED and run.model.step is not None]
    for run in sorted(finished, key=lambda run: (step_of(run), run.pk)):
        by_training.setdefault(_training(run), {})[step_of(run)] = run
    series = [Series(tuple(by_step.values())) for by_step in by_training.values() if len(by_step) >= FEWEST]
    return sorted(series, key=lambda part: part.sort_key)


def _training(run: Run) -> tuple[object, ...]:
    """Return what all runs of a series share, as `RunQuerySet.newest_steps` has it."""
    model = (run.model.hub_id, run.model.weights_file)
    return (*model, run.benchmark_id, run.settings_digest, run.provenance, run.reference)


def read_series(hub_ids: Collection[str], benchmark: Benchmark | None = None) -> list[Series]:
    """Return the series of models, on all benchmarks or on one version. One query."""
    runs = _with_steps().filter(model__hub_id__in=hub_ids)
    return series_of(runs.filter(benchmark=benchmark) if benchmark else runs)


def _with_steps() -> QuerySet[Run]:
    runs = Run.objects.filter(state=Run.State.FINISHED, model__step__isnull=False)
    return runs.select_related("model", "benchmark").defer(*UNUSED)


def is_part_of_series(run: Run) -> bool:
    """Tell whether a run is a point of a series. One query, and none for a run without a step."""
    if run.model.step is None or run.state != Run.State.FINISHED:
        return False
    return any(run in series.runs for series in read_series([run.model.hub_id], run.benchmark))


def read_points(series: Sequence[Series], main: Series, dimension: str) -> dict[Series, dict[Slice, list[StepScore]]]:
    """Return the scores of series in their main metrics by slice, and those of one of them by a dimension. One query.

    They come step by step, with percentages of those at the first step of each series.
    """
    runs = [run.pk for part in series for run in part.runs]
    chosen = of_main_parts() | Q(dimension=dimension, run__in=[run.pk for run in main.runs])
    metrics = {part.benchmark.main_metric for part in series}
    scores = Score.objects.filter(chosen, run__in=runs, metric__in=metrics, value__isnull=False)
    by_run: dict[int, list[Score]] = {}
    for score in scores.order_by("pk"):
        by_run.setdefault(score.run_id, []).append(score)
    points: dict[Series, dict[Slice, list[StepScore]]] = {part: {} for part in series}
    rows = [
        (number, run, score)
        for number, part in enumerate(series)
        for run in part.runs
        for score in by_run.get(run.pk, ())
        if score.metric == part.benchmark.main_metric
    ]
    for (number, run, score), percent in zip(rows, _percents(_scores_table(rows)), strict=True):
        points[series[number]].setdefault(part_of(score), []).append(StepScore(run, score, percent))
    return points


def with_points(series: Series, name: str, points: Mapping[Slice, Sequence[StepScore]]) -> Series:
    """Return a series with a name, and with the scores that stand for its runs, step by step."""
    return replace(series, name=name, points=tuple(points.get(main_part(points), ())))


def _scores_table(rows: Sequence[tuple[int, Run, Score]]) -> pd.DataFrame:
    """Return the scores of numbered series as one table, as a table for each series takes several times as long.

    `step` counts the runs of each series from 0, and the dimension names the series, so that each series is relative to
    its own first step.
    """
    values, steps = [], defaultdict[int, dict[int, int]](dict)
    for number, run, score in rows:
        step = steps[number].setdefault(run.pk, len(steps[number]))
        key = (score.metric, f"{number} {score.dimension}", score.group)
        values.append((step, *key, score.value, score.low, score.high))
    return pd.DataFrame(values, columns=["step", *SCORE_KEY, "value", "low", "high"])


def _percents(table: pd.DataFrame) -> list[Percent]:
    """Return the percentage of each score of a table, relative to step 0."""
    relative = relative_to_first(table, "step")[RELATIVE_COLUMNS]
    return [Percent(*(None if isnan(value) else value for value in row)) for row in relative.to_numpy().tolist()]


def dimensions_of(run: Run, metric: str, hidden: Collection[str]) -> list[str]:
    """Return the dimensions by which a run's metric is broken down into at least two groups. One query."""
    scores = run.scores.filter(metric=metric, value__isnull=False).exclude(
        dimension__in=(OVERALL_SLICE.dimension, *hidden)
    )
    counts = scores.order_by().values("dimension").annotate(groups=Count("group")).filter(groups__gt=1)
    return sorted(counts.values_list("dimension", flat=True))
