"""Scores of finished runs, by run, by slice and by group. Every function makes a fixed number of queries."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Max, Min, Q, QuerySet
from django.urls import reverse

from leaderboard.changed_settings import asks_other_items
from leaderboard.figures.board import WHOLE_SCORE, groups_of, ordered, rows_of, with_value
from leaderboard.figures.runs import finished
from leaderboard.models import Benchmark, Entry, Printed, PrintedRow, Run, Score
from probing.analysis.accuracy import BASELINES, CHANCE
from probing.analysis.breakdowns import split_group
from probing.analysis.culture_metrics import PAIR_IN_LANGUAGE
from probing.analysis.details import DETAIL_METRICS
from probing.analysis.wording_sensitivity import HIGHEST, LOWEST


class Slice(NamedTuple):
    """One group of one dimension, written `dimension:group` in a query string."""

    dimension: str
    group: str

    def __str__(self) -> str:
        return f"{self.dimension}:{self.group}"

    @classmethod
    def parse(cls, text: str) -> "Slice":
        """Read what `str` writes."""
        dimension, _, group = text.partition(":")
        return cls(dimension, group)


OVERALL_SLICE = Slice("overall", "all")
# The dimensions whose groups are never pooled into one figure, of which the first that a run has counts, and the
# settings by which a run is asked one of them.
PARTS, PART_SETTINGS = (PAIR_IN_LANGUAGE, "language"), ("pair", "language")
MAIN_DIMENSIONS = (OVERALL_SLICE.dimension, *PARTS)
DOMAIN, RELATION = "domain", "relation"
MOST_DOTS = 20  # models in a strip
RANGE = re.compile(r"-?[\d.,]+–-?[\d.,]+")  # the name of a group of numbers
# Relations and templates come last on a page: they are the longest and the least informative.
LAST = ("relation", "template")


def part_order(part: Slice) -> tuple[int, list[str], bool, str]:
    """Return the sort key of a group of `PARTS`: pairs of cultures by name, and of each pair English first."""
    *pair, language = split_group(*part)
    return PARTS.index(part.dimension), pair, language != "en", language


def parts_among(slices: Iterable[Slice]) -> list[Slice]:
    """Return the slices that are never pooled, in their order: pairs in a language, or else languages."""
    parts = sorted((part for part in slices if part.dimension in PARTS), key=part_order)
    return [part for part in parts if part.dimension == parts[0].dimension]


def main_part(slices: Iterable[Slice]) -> Slice:
    """Return the items that the one figure of a run or a benchmark is about: the first part, or all items without."""
    return next(iter(parts_among(slices)), OVERALL_SLICE)


def part_of(score: Score) -> Slice:
    return Slice(score.dimension, score.group)


def main_score(scores: Iterable[Score], metric: str) -> Score | None:
    """Return the score in a metric that stands for a run, given all its scores: that of its main part."""
    by_slice = {part_of(score): score for score in scores if score.metric == metric}
    return by_slice.get(main_part(by_slice))


def dimension_order(dimension: str) -> int:
    """Return the sort key of a dimension on a page: tags come first, in stored order."""
    return LAST.index(dimension) if dimension in LAST else -1


def scores_of(entries: Iterable[Entry], metrics: Collection[str] = (), dimensions: Collection[str] = ()) -> list[Score]:
    """Return the scores of runs and printed rows, in stored order: all of them, or those named here. One query."""
    entries = list(entries)
    chosen = {"metric__in": metrics} if metrics else {}
    chosen |= {"dimension__in": dimensions} if dimensions else {}
    stored = Score.objects.filter(run__in=[entry.pk for entry in entries if isinstance(entry, Run)], **chosen)
    printed = [score for entry in entries if isinstance(entry, PrintedRow) for score in entry.scores]
    wanted = [score for score in printed if score.metric in (metrics or [score.metric])]
    return [*stored.order_by("pk"), *(one for one in wanted if one.dimension in (dimensions or [one.dimension]))]


def figures(runs: Iterable[Entry]) -> dict[int, dict[tuple[str, str], Score]]:
    """Map each run to its overall and per-relation scores by metric and group. One query."""
    runs = list(runs)
    by_run: dict[int, dict[tuple[str, str], Score]] = {run.pk: {} for run in runs}
    for score in scores_of(runs, dimensions=("relation", OVERALL_SLICE.dimension)):
        by_run[score.run_id][score.metric, score.group] = score
    return by_run


def slices(benchmark: Benchmark, metric: str, hidden: Collection[str] = ()) -> list[Slice]:
    """Return the groups that can be columns: those of runs measured here, or else of the published ones.

    Runs with the same settings are asked the same items, so that the newest of them is enough. Dimensions in `hidden`
    are left out.
    """
    runs = finished(benchmark)
    measured = runs.filter(provenance=Run.Provenance.MEASURED)
    newest = measured.order_by().values("settings_digest").annotate(newest=Max("pk")).values("newest")
    groups = (
        _groups_of(Score.objects.filter(run__in=newest), metric, hidden)
        or _groups_of(Score.objects.filter(run__in=runs.values("pk")), metric, hidden)
        or _groups_of(Printed.objects.filter(benchmark=benchmark, baseline=False), metric, hidden, "part")
    )
    return sorted(groups, key=lambda part: dimension_order(part.dimension))


def _groups_of(scores: QuerySet[Any], metric: str, hidden: Collection[str], name: str = "group") -> list[Slice]:
    """Return the groups, in stored order, in which there is any of the scores; `name`: of the field of the group."""
    chosen = scores.filter(metric=metric).exclude(dimension__in=(OVERALL_SLICE.dimension, *hidden))
    rows = chosen.values_list("dimension", name).annotate(first=Min("pk")).order_by("first")
    return [Slice(dimension, group) for dimension, group, _ in rows]


@dataclass(frozen=True)
class Group:
    """The scores of one group of a dimension by metric; `main` is the score of the main metric.

    `wordings`: the accuracy with the worst and with the best wording, where several were asked.
    """

    name: str
    scores: Mapping[str, Score]
    main: Score | None
    wordings: tuple[float, float] | None = None


def breakdowns(scores: Iterable[Score], metric: str, hidden: Collection[str] = ()) -> dict[str, list[Group]]:
    """Map every dimension to its groups, the best by `metric` first.

    Templates, and ranges of numbers such as 10–49, keep their order. The overall scores, the dimensions in `hidden` and
    the metrics that have tables of their own are left out.
    """
    by_dimension: dict[str, dict[str, dict[str, Score]]] = {}
    ends: dict[tuple[str, str, str], float] = {}
    for score in scores:
        if score.metric in (LOWEST, HIGHEST) and score.value is not None:
            ends[score.dimension, score.group, score.metric] = score.value
        elif score.dimension not in (OVERALL_SLICE.dimension, *hidden) and score.metric not in DETAIL_METRICS:
            by_dimension.setdefault(score.dimension, {}).setdefault(score.group, {})[score.metric] = score
    return {name: _groups(metric, name, by_dimension[name], ends) for name in sorted(by_dimension, key=dimension_order)}


def _groups(
    metric: str,
    dimension: str,
    scores: Mapping[str, dict[str, Score]],
    ends: Mapping[tuple[str, str, str], float],
) -> list[Group]:
    def wordings(name: str) -> tuple[float, float] | None:
        low, high = (ends.get((dimension, name, end)) for end in (LOWEST, HIGHEST))
        return None if low is None or high is None else (low, high)

    groups = [Group(name, by_metric, by_metric.get(metric), wordings(name)) for name, by_metric in scores.items()]
    keep_order = dimension == "template" or any(map(RANGE.fullmatch, scores))
    return groups if keep_order else sorted(groups, key=_best_first)


def _best_first(group: Group) -> tuple[bool, float]:
    value = group.main.value if group.main else None
    return (value is None, -(value or 0.0))


def group_url(benchmark: Benchmark, dimension: str, group: str) -> str:
    """Return the address of a group's own page, which only relations have."""
    own_page = dimension == "relation" and "/" not in group
    return reverse("relation", args=[benchmark.name, group]) if own_page else ""


def slice_scores(benchmark: Benchmark, metric: str, dimension: str, group: str) -> list[Any]:
    """Return the metric of every finished run in one slice, the best first, as rows of the board."""
    stored = rows_of(ordered(groups_of([benchmark.pk], [metric], [dimension], [group], WHOLE_SCORE)))
    return [score for score in stored if score.run > 0]


def dot_scores(runs: Sequence[Run], metric: str, dimensions: Collection[str]) -> dict[Slice, list[tuple[Run, Score]]]:
    """Map groups to the scores of at most `MOST_DOTS` models with their runs, the lowest first. One query.

    `runs`: sorted by their figures; those with dots are spread evenly over them. `dimensions`: those of the groups.
    """
    models = {run.pk: run for run in runs[:: max(1, -(-len(runs) // MOST_DOTS))]}
    scores: dict[Slice, list[tuple[Run, Score]]] = {}
    stored = [score for score in scores_of(models.values(), [metric], dimensions) if score.value is not None]
    for score in sorted(stored, key=lambda score: score.value or 0.0):
        scores.setdefault(part_of(score), []).append((models[score.run_id], score))
    return scores


def main_scores(runs: Iterable[Entry]) -> dict[int, Score]:
    """Map each run to its `main_score` in the main metric of its benchmark. One query."""
    runs = list(runs)
    metrics = {run.pk: run.benchmark.main_metric for run in runs}
    # With the metrics named, the database looks up each run instead of reading the scores of all of them.
    by_run: dict[int, list[Score]] = {}
    for score in scores_of(runs, set(metrics.values()), MAIN_DIMENSIONS):
        by_run.setdefault(score.run_id, []).append(score)
    scores = {run: main_score(of_run, metrics[run]) for run, of_run in by_run.items()}
    return {run: score for run, score in scores.items() if score}


def baselines_by_group(
    benchmark: Benchmark, dimension: str, groups: Collection[str]
) -> Mapping[str, Mapping[str, float]]:
    """Map groups of a dimension to what is reached there without a model, by the name of the baseline.

    On all items it is what the benchmark states, in a group of them what runs say that were asked all of its items.
    """
    if dimension == OVERALL_SLICE.dimension:
        return {OVERALL_SLICE.group: benchmark.baselines}

    def asks_all(changed: Sequence[tuple[str, str]]) -> bool:
        return not asks_other_items({name for name, _ in changed} - {*PART_SETTINGS}, benchmark.probe)

    scores = with_value(groups_of([benchmark.pk], [CHANCE, *BASELINES], [dimension], groups))
    by_group: dict[str, dict[str, float]] = {}
    for score in rows_of(scores[scores["settings"].map(asks_all).astype(bool)]):
        by_group.setdefault(score.group, {})[score.metric] = score.value
    return by_group


def baselines_of(benchmark: Benchmark, part: Slice) -> Mapping[str, float]:
    """Return what is reached without a model on all items or on a part of them, by the name of the baseline."""
    return baselines_by_group(benchmark, part.dimension, [part.group]).get(part.group, {})


def chance_of(benchmark: Benchmark, part: Slice) -> float | None:
    """Return what guessing reaches on all items or on a part of them; None if unknown."""
    return baselines_of(benchmark, part).get(CHANCE)


def of_main_parts() -> Q:
    """Return the condition for scores of all items and of parts, among which is the one that stands for a run."""
    return Q(dimension__in=MAIN_DIMENSIONS)
