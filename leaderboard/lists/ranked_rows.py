"""Rows of a leaderboard, with their ranks among the rows of their group and their default order."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

from django.utils.functional import cached_property

from leaderboard.lists.facets import FACETS, REPORTED
from leaderboard.lists.scores import OVERALL, Slice
from leaderboard.models import Run, Score
from leaderboard.models.ranks import RunRank, places

Provenance = Run.Provenance
# The beginnings of headings above the groups of a leaderboard, in their order.
OTHER_SETTINGS, SOME_ITEMS = "Other settings", "Some of the questions"
STANDARD_ERRORS = NormalDist().inv_cdf(0.975)  # of a figure, on each side of it in its 95 % interval


@dataclass(frozen=True)
class Rank:
    """The best and the worst place of a run within its group.

    `by_intervals`: whether they come from separate intervals and not from paired comparisons; the run then takes no
    place from others.
    """

    best: int
    worst: int
    by_intervals: bool = False

    def __str__(self) -> str:
        return f"≈ {places(self.best, self.worst)}" if self.by_intervals else places(self.best, self.worst)


@dataclass(eq=False)
class Standing:
    """A row of the leaderboard: a run, its scores by metric and slice, and the range of its rank if it has one.

    `part` is the part of the items that the row is about, and `group` what sets its settings apart from the usual ones,
    in words; `some_items` tells that it was asked only some of the items. `stored_ranks`: by metric, where the run
    stands by paired comparisons with the others of its group. `listed_apart`: published figures that stand below the
    measured ones, under their source.
    """

    run: Run
    metric: str
    scores: Mapping[str, Mapping[Slice, Score]]
    rank: Rank | None = None
    stored_ranks: Mapping[str, RunRank] = field(default_factory=dict)
    part: Slice = OVERALL
    group: str = ""
    some_items: bool = False
    listed_apart: bool = False

    @cached_property
    def hub_id(self) -> str:
        return self.run.model.hub_id

    @cached_property
    def facets(self) -> dict[str, str]:
        """Its choice of each facet by the facet's name; a text that is none of them where it has none."""
        return {facet.name: facet.value(self.run) for facet in FACETS}

    @cached_property
    def stored_rank(self) -> RunRank | None:
        """Its stored rank in the metric that ranks, from paired comparisons."""
        return self.stored_ranks.get(self.metric)

    @cached_property
    def is_baseline(self) -> bool:
        return self.run.provenance == Provenance.BASELINE

    @property
    def settings_beginning(self) -> str:
        """The beginning of the text above the rows of its group: nothing for baselines and the usual settings."""
        if self.is_baseline or not self.group:
            return ""
        return SOME_ITEMS if self.some_items else OTHER_SETTINGS

    @cached_property
    def settings_heading(self) -> str:
        """What its settings say above the rows of its group."""
        return f"{self.settings_beginning}: {self.group}" if self.settings_beginning else ""

    @property
    def source(self) -> str:
        """The reference of figures that are listed apart, without the place in it; empty for all other rows."""
        if not self.listed_apart:
            return ""
        return str(self.run.provenance_record.get("source", {}).get("title", "")) or self.run.reference

    @cached_property
    def place(self) -> tuple[bool, str, bool, str]:
        """The group of rows that it stands in: rows of equal places are sorted and ranked among themselves."""
        return (not self.is_baseline, self.settings_heading, self.listed_apart, self.source)

    @cached_property
    def main(self) -> Score | None:
        """The score that ranks: that of all items, or of the part of them that the row is about."""
        return self.score(self.metric, self.part)

    @property
    def ranked_value(self) -> float | None:
        """The figure that ranks: the one on the items common to all ranked runs, or else its own."""
        common = self.stored_rank.value if self.stored_rank else None
        return common if common is not None or not self.main else self.main.value

    @property
    def spread(self) -> float | None:
        """Standard error of the mean over templates; none for a part of the items."""
        return self.value(f"{self.metric}_sem") if self.part == OVERALL else None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The ends of the interval that ranks it; none for a published figure without a stated error."""
        if self.main is None or self.main.value is None:
            return None
        value, low, high = self.main.value, self.main.low, self.main.high
        if low is not None and high is not None:
            return low, high
        if self.run.provenance not in REPORTED:
            return value, value
        half = STANDARD_ERRORS * self.spread if self.spread else None
        return (value - half, value + half) if half else None

    def score(self, metric: str, part: Slice) -> Score | None:
        return self.scores.get(metric, {}).get(part)

    def value(self, metric: str) -> float | None:
        """The overall value of a metric."""
        score = self.score(metric, OVERALL)
        return score.value if score else None


def ranked(rows: Iterable[Standing], rank_published: bool) -> list[Standing]:
    """Give rows their ranks within their groups, and return them in their default order."""
    groups: dict[str, list[Standing]] = defaultdict(list)
    for row in rows:
        groups[row.group].append(row)
    for members in groups.values():
        ranks = _group_ranks(members, rank_published)
        for row in members:
            row.rank = ranks.get(row.run.pk)
    return sorted((row for members in groups.values() for row in members), key=_default_order)


def _group_ranks(rows: Sequence[Standing], rank_published: bool) -> dict[int, Rank]:
    """Map each run of a group to its rank; published runs have one only where that is asked for.

    Baselines have none, and neither has a published figure without a stated error, which takes no place either.
    """
    paired: dict[int, Rank] = {}
    bounds: dict[int, tuple[float, float]] = {}
    measured, reported, marked = [], [], []
    for row in rows:
        pk, stored = row.run.pk, row.stored_rank
        if stored and stored.best and stored.worst:
            paired[pk] = Rank(stored.best, stored.worst)
        if row.bounds:
            bounds[pk] = row.bounds
            is_measured, is_reported = row.run.provenance == Provenance.MEASURED, row.run.provenance in REPORTED
            measured += [pk] if is_measured else []
            reported += [pk] if is_reported and rank_published else []
            marked += [pk] if stored is None and (is_measured or (is_reported and rank_published)) else []
    references = [pk for pk in measured if pk in paired] or measured or reported
    by_intervals = {
        pk: place_by_intervals(bounds[pk], [bounds[other] for other in references if other != pk]) for pk in marked
    }
    return by_intervals | paired


def place_by_intervals(own: tuple[float, float], others: Sequence[tuple[float, float]]) -> Rank:
    """Return the places that an interval allows among others: a run is ahead only if its interval lies wholly above."""
    ahead = sum(low > own[1] for low, _ in others)
    behind = sum(high < own[0] for _, high in others)
    return Rank(1 + ahead, 1 + len(others) - behind, by_intervals=True)


def _default_order(standing: Standing) -> tuple[tuple[bool, str, bool, str], bool, bool, float, str]:
    value = standing.ranked_value
    return (
        standing.place,
        standing.rank is None,
        value is None,
        -(value or 0.0),
        standing.hub_id,
    )
