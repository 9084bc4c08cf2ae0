"""The leaderboard of one benchmark: its rows with their ranks, and how many rows each choice of a filter leaves.

Runs are ranked in groups of equal settings, the usual ones first (docs/methods/comparing.md). Rows of a group have
answered the same items; published ones stand apart unless the reader includes them in the ranking.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import NormalDist
from typing import Any, NamedTuple

from django.http import QueryDict
from django.utils.functional import cached_property

from leaderboard.changed_settings import asks_other_items
from leaderboard.figures.board import board, groups_of, rows_of
from leaderboard.figures.filters import REPORTED, RUN_FACETS, RunFacet
from leaderboard.figures.runs import ANY_VERSION, finished, runs_on
from leaderboard.figures.scores import LAST, OVERALL_SLICE, Slice
from leaderboard.models import Benchmark, Run
from leaderboard.models.standing import RunRank, rank_range

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
        return f"≈ {rank_range(self.best, self.worst)}" if self.by_intervals else rank_range(self.best, self.worst)


class HeadingGroup(NamedTuple):
    """What rows under one heading share; groups stand in this order."""

    is_model: bool
    settings: str
    listed_apart: bool
    source: str
    way: str


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
    scores: Mapping[str, Mapping[Slice, Any]]
    rank: Rank | None = None
    stored_ranks: Mapping[str, RunRank] = field(default_factory=dict)
    part: Slice = OVERALL_SLICE
    group: str = ""
    some_items: bool = False
    listed_apart: bool = False

    @cached_property
    def hub_id(self) -> str:
        return self.run.model.hub_id

    @cached_property
    def facets(self) -> dict[str, str]:
        """Its choice of each facet by the facet's name; a text that is none of them where it has none."""
        return {facet.name: facet.value(self.run) for facet in RUN_FACETS}

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
    def heading_group(self) -> HeadingGroup:
        """The group of rows that it stands in: rows of equal groups are sorted and ranked among themselves."""
        return HeadingGroup(not self.is_baseline, self.settings_heading, self.listed_apart, self.source, self.way)

    @cached_property
    def way(self) -> str:
        """What counts as right for its model, where it is another thing for other kinds of models."""
        return "" if self.is_baseline else self.run.way

    @cached_property
    def main(self) -> Any:
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
        overall = self.score(self.metric, OVERALL_SLICE)
        return overall.error if overall and self.part == OVERALL_SLICE else None

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

    def score(self, metric: str, part: Slice) -> Any:
        return self.scores.get(metric, {}).get(part)

    def value(self, metric: str) -> float | None:
        """The overall value of a metric."""
        score = self.score(metric, OVERALL_SLICE)
        return score.value if score else None


@dataclass(frozen=True)
class LeaderboardFilter:
    """The rows and columns that a reader asked for.

    `metric` ranks the runs; `other_metrics` are read with it, overall and by slice. `chosen` maps a facet's name to the
    choice. `part` is the part of the items that all rows are about, which consists of `sides`; runs that were asked
    only this part have `limits` among their settings, by name, and are no group of their own.
    """

    benchmark: Benchmark
    metric: str
    other_metrics: Sequence[str] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)
    search: str = ""
    slices: Sequence[Slice] = ()
    rank_published: bool = False
    part: Slice = OVERALL_SLICE
    sides: Sequence[Slice] = ()
    limits: Mapping[str, str] = field(default_factory=dict)

    @property
    def narrows(self) -> list[RunFacet]:
        """The facets of which the reader has chosen a value."""
        return [facet for facet in RUN_FACETS if self.chosen.get(facet.name)]

    def passing(self, rows: Iterable[Standing], without: str = "") -> list[Standing]:
        """Return the rows that pass the search and every facet but the one named `without`. Baselines always do."""
        chosen = [(facet.name, self.chosen[facet.name]) for facet in self.narrows if facet.name != without]
        search = self.search.lower()
        if not (search or chosen):
            return list(rows)
        return [
            row
            for row in rows
            if row.is_baseline
            or (search in row.hub_id.lower() and all(row.facets[name] == choice for name, choice in chosen))
        ]


@dataclass(frozen=True)
class FacetChoice:
    """A choice of a facet; `count` rows would be left by it, everything else unchanged."""

    value: str
    title: str
    count: int
    chosen: bool


@dataclass(frozen=True)
class Leaderboard:
    """The rows in their default order: those that pass the filter, and all of them (`everything`).

    `without_figure` are runs whose published figures are about single relations or in other metrics only. `compared`
    are the ranks of all runs with the usual settings, whatever the filter hides.
    """

    standings: list[Standing]
    everything: list[Standing]
    without_figure: list[Run]
    compared: list[RunRank]


def leaderboard(filters: LeaderboardFilter) -> Leaderboard:
    """Return the rows in order: baselines, then group by group the ranked rows by score and the rest.

    Ranks are those among all ranked runs of a group, whatever the filter hides. Four queries at most.
    """
    runs = runs_on(filters.benchmark)
    scores = _scores(filters)
    stored = _stored_ranks(filters.benchmark) if filters.part == OVERALL_SLICE else {}
    standings = [_standing(run, filters, scores.get(run.pk, {}), stored.get(run.pk, {})) for run in runs]
    shown = ranked(filter(_has_figure, standings), filters.rank_published)
    others = [row.run for row in standings if not row.scores]
    return Leaderboard(filters.passing(shown), shown, others, _compared(standings))


def _standing(
    run: Run, filters: LeaderboardFilter, scores: Mapping[str, Mapping[Slice, Any]], ranks: Mapping[str, RunRank]
) -> Standing:
    return Standing(
        run,
        filters.metric,
        scores,
        stored_ranks=ranks,
        part=filters.part,
        group=run.group_without(filters.limits),
        some_items=asks_other_items(run.differences.keys() - filters.limits.keys(), run.benchmark.probe),
        listed_apart=run.is_published and not filters.rank_published,
    )


def _has_figure(row: Standing) -> bool:
    """Tell whether a row has a figure to show: one of the chosen part, where not all items are shown."""
    return bool(row.scores) if row.part == OVERALL_SLICE else row.main is not None


def _compared(standings: Iterable[Standing]) -> list[RunRank]:
    """Return the ranks of the runs with the usual settings by paired comparisons, tie group by tie group.

    Models for which other things count as right are ranked apart.
    """
    ranked = []
    for row in standings:
        if row.stored_rank and row.stored_rank.best is not None and not row.group:
            row.stored_rank.run = row.run
            ranked.append(row.stored_rank)
    return sorted(ranked, key=lambda rank: (rank.run.way, rank.tie_group or 0, -(rank.value or 0.0)))


def _scores(filters: LeaderboardFilter) -> dict[int, dict[str, dict[Slice, Any]]]:
    """Map run and metric to the overall score and those of the chosen slices, which are rows of the board."""
    parts = {OVERALL_SLICE, filters.part, *filters.sides, *filters.slices}
    question = [filters.benchmark.pk], [filters.metric, *filters.other_metrics]
    tables = [board(*question, {part.dimension for part in parts if part.dimension not in LAST})]
    if single := [part for part in parts if part.dimension in LAST]:
        dimensions, groups = zip(*single, strict=True)
        tables.append(groups_of(*question, dimensions, groups))
    scores: dict[int, dict[str, dict[Slice, Any]]] = {}
    for row in chain.from_iterable(map(rows_of, tables)):
        if (part := Slice(row.dimension, row.group)) in parts:
            scores.setdefault(row.run, {}).setdefault(row.metric, {})[part] = row
    return scores


def _stored_ranks(benchmark: Benchmark) -> dict[int, dict[str, RunRank]]:
    """Map each run that has any to its stored ranks by metric."""
    ranks: dict[int, dict[str, RunRank]] = {}
    for rank in RunRank.objects.filter(run__in=finished(benchmark)):
        ranks.setdefault(rank.run_id, {})[rank.metric] = rank
    return ranks


def facet_choices(filters: LeaderboardFilter, board: Leaderboard) -> list[tuple[RunFacet, list[FacetChoice]]]:
    """Return the facets with their choices, and how many rows each of these would leave."""
    return [(facet, _choices(facet, filters, board.everything)) for facet in RUN_FACETS]


def _choices(facet: RunFacet, filters: LeaderboardFilter, rows: Iterable[Standing]) -> list[FacetChoice]:
    left = filters.passing(rows, without=facet.name)
    counts = Counter(row.facets[facet.name] for row in left if not row.is_baseline)
    return [
        FacetChoice(value, title, counts[value], filters.chosen.get(facet.name) == value)
        for value, title in facet.choices.items()
    ]


def chosen_slices(query: QueryDict, slices: Sequence[Slice], default_dimensions: Sequence[str]) -> list[Slice]:
    """Return the slices that a query string asks for, or those of the default dimensions where it names none."""
    if "columns" not in query:
        return [part for part in slices if part.dimension in default_dimensions]
    names = {Slice.parse(text) for text in query.getlist("columns")}
    return [part for part in slices if part in names]


# Rows of a leaderboard, with their ranks among the rows of their group and their default order.


def ranked(rows: Iterable[Standing], rank_published: bool) -> list[Standing]:
    """Give rows their ranks within their groups, and return them in their default order."""
    groups: dict[tuple[str, str], list[Standing]] = defaultdict(list)
    for row in rows:
        groups[row.group, row.way].append(row)
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


def _default_order(standing: Standing) -> tuple[HeadingGroup, bool, bool, float, str]:
    value = standing.ranked_value
    return (
        standing.heading_group,
        standing.rank is None,
        value is None,
        -(value or 0.0),
        standing.hub_id,
    )


# Figures that were published about another sample, version or way of measuring than that of the measured runs.


def published_version(benchmark: Benchmark) -> Benchmark | None:
    """Return the version that has the figures which share nothing with runs of this one.

    None if there are no such figures, or if `benchmark` is that version itself, on which nothing can be measured.
    """
    if benchmark.version == ANY_VERSION:
        return None
    versions = Benchmark.objects.filter(slug=benchmark.slug, probe=benchmark.probe, version=ANY_VERSION)
    return versions.filter(runs__state=Run.State.FINISHED).distinct().first()


def differs(run: Run) -> str:
    """Return in what published figures differ from those of measured runs; empty where they may share a column."""
    return str(run.provenance_record.get("differs", ""))
