"""The verdict on two figures of a list: that of the ranks of their runs, or else that of their separate intervals.

Ranks hold the verdicts on all pairs that have answered the same questions (`probing.analysis.ranks`). Figures that were
published, or measured with other settings, share no known questions, so that only their intervals can say.
"""

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from leaderboard.figures.board import ends
from leaderboard.figures.scores import OVERALL_SLICE, Slice, main_part, of_main_parts, part_of
from leaderboard.models import RunRank, Score
from probing.analysis.intervals import recovered
from probing.analysis.verdicts import ALIKE, p_of_interval, verdict

Ends = tuple[float, float]


class Compared(NamedTuple):
    """The runs that one run was compared with: those that it is better than, and those that it is level with.

    `undecided`: by which Holm's correction multiplies the p-value of each pair.
    """

    ahead_of: Collection[int] = ()
    level_with: Collection[int] = ()
    undecided: int = 1

    def __contains__(self, run: object) -> bool:
        return run in self.ahead_of or run in self.level_with


def compared_with(run: int, metric: str, part: Slice = OVERALL_SLICE) -> Compared:
    """Return what the rank of a run says of others; nothing where the rank is about other questions than the part."""
    if part != ranked_part(run, metric):
        return Compared()
    ranks = RunRank.objects.filter(run=run, metric=metric, best__isnull=False)
    stored = ranks.values_list("ahead_of", "level_with", "undecided").first()
    if stored is None:
        return Compared()
    ahead_of, level_with, undecided = stored
    return Compared(frozenset(ahead_of), frozenset(level_with), undecided or 1)


def ranked_part(run: int, metric: str) -> Slice:
    """Return the part of the questions that the rank of a run is about."""
    return main_part(map(part_of, Score.objects.filter(of_main_parts(), run=run, metric=metric)))


def level_with(best: Any, others: Iterable[Any]) -> set[int]:
    """Return the runs of those figures of a list that cannot be told apart from the highest one."""
    ranked = compared_with(best.run, best.metric, Slice(best.dimension, best.group))
    return {
        other.run
        for other in others
        if (other.run in ranked.level_with if other.run in ranked else are_level(best, other))
    }


def are_level(best: Any, other: Any) -> bool:
    """Tell whether the intervals of two figures leave open which one is higher; not where that of the best is unknown.

    A figure without an interval counts as exact.
    """
    of_best = ends(best)
    if of_best is None:
        return False
    return verdict_of_intervals(best.value, of_best, other.value, ends(other) or (other.value, other.value)) == ALIKE


def verdict_of_intervals(first: float, ends_first: Ends, second: float, ends_second: Ends) -> str:
    """Return the verdict on two figures that share no known questions, from the intervals of both."""
    return verdict(first - second, p_of_interval(first - second, *recovered(first, ends_first, second, ends_second)))
