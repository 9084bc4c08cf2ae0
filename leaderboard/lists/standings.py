"""The leaderboard of one benchmark: its rows, what is made of them, and how many each choice of a facet would leave.

Runs are ranked in groups of equal settings, the usual ones first (docs/methods.md, Ranks). Rows of a group have
answered the same items; published ones stand apart unless the reader includes them in the ranking.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from django.db.models import Q
from django.http import QueryDict

from leaderboard.changed_settings import asks_other_items
from leaderboard.data_version import FiguresVersion, figures_version
from leaderboard.lists.facets import FACETS, Facet
from leaderboard.lists.kept_lists import KeptLists
from leaderboard.lists.light_rows import light_rows
from leaderboard.lists.ranked_rows import Standing, ranked
from leaderboard.lists.runs import finished, runs_on
from leaderboard.lists.scores import OVERALL, Slice
from leaderboard.models import Benchmark, Run, Score
from leaderboard.models.ranks import RunRank

MadeT = TypeVar("MadeT")


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
    part: Slice = OVERALL
    sides: Sequence[Slice] = ()
    limits: Mapping[str, str] = field(default_factory=dict)

    @property
    def narrows(self) -> list[Facet]:
        """The facets of which the reader has chosen a value."""
        return [facet for facet in FACETS if self.chosen.get(facet.name)]

    @property
    def board(self) -> Hashable:
        """Everything that determines the rows before the search and the facets narrow them."""
        metrics = (self.metric, *self.other_metrics)
        limits = frozenset(self.limits.items())
        return self.benchmark.pk, metrics, frozenset(self.slices), self.rank_published, self.part, *self.sides, limits

    @property
    def rows(self) -> Hashable:
        """Everything that determines the rows that are left."""
        chosen = frozenset((facet.name, self.chosen[facet.name]) for facet in self.narrows)
        return self.board, self.search.lower(), chosen

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


def chosen_slices(query: QueryDict, slices: Sequence[Slice], default_dimensions: Sequence[str]) -> list[Slice]:
    """Return the slices that a query string asks for, or those of the default dimensions where it names none."""
    if "columns" not in query:
        return [part for part in slices if part.dimension in default_dimensions]
    names = {Slice.parse(text) for text in query.getlist("columns")}
    return [part for part in slices if part in names]


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
    are the ranks of all runs with the usual settings, whatever the filter hides. `version` is that of their figures.
    """

    standings: list[Standing]
    everything: list[Standing]
    without_figure: list[Run]
    compared: list[RunRank]
    version: FiguresVersion


# A board of a thousand models takes about 4 MB. Readers who search or choose facets share one.
_BOARDS = KeptLists[Leaderboard](most=4)


def leaderboard(filters: LeaderboardFilter, version: FiguresVersion | None = None) -> Leaderboard:
    """Return the rows in order: baselines, then group by group the ranked rows by score and the rest.

    Ranks are those among all ranked runs of a group, whatever the filter hides. One query, and three more where a
    figure of the benchmark has changed since the rows were read. `version`: that of the figures, if it was read
    already.
    """
    version = figures_version(filters.benchmark.pk) if version is None else version
    board = _BOARDS.get(filters.board, version, lambda latest: _board(filters, latest))
    return replace(board, standings=filters.passing(board.everything))


def made_of_rows(
    lists: KeptLists[MadeT], filters: LeaderboardFilter, board: Leaderboard, make: Callable[[Leaderboard], MadeT]
) -> MadeT:
    """Return what is made of the rows of a leaderboard, kept among these lists until a figure of its benchmark changes.

    Beside the rows, it may depend on the rows of benchmarks and on nothing else.
    """
    if not board.version:
        return make(board)
    return lists.get(filters.rows, board.version, lambda latest: make(leaderboard(filters, latest)))


def _board(filters: LeaderboardFilter, version: FiguresVersion) -> Leaderboard:
    """Read and rank all rows, whatever the filter hides. Three queries."""
    runs = runs_on(filters.benchmark, version)
    scores = _scores(filters, runs)
    stored = _stored_ranks(filters.benchmark) if filters.part == OVERALL else {}
    standings = [_standing(run, filters, scores[run.pk], stored.get(run.pk, {})) for run in runs]
    rows = ranked(filter(_has_figure, standings), filters.rank_published)
    others = [row.run for row in standings if not row.scores]
    return Leaderboard(rows, rows, others, _compared(standings), version)


def _standing(
    run: Run, filters: LeaderboardFilter, scores: Mapping[str, Mapping[Slice, Score]], ranks: Mapping[str, RunRank]
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
    return bool(row.scores) if row.part == OVERALL else row.main is not None


def _compared(standings: Iterable[Standing]) -> list[RunRank]:
    """Return the ranks of the runs with the usual settings by paired comparisons, tie group by tie group."""
    ranked = []
    for row in standings:
        if row.stored_rank and row.stored_rank.best is not None and not row.group:
            row.stored_rank.run = row.run
            ranked.append(row.stored_rank)
    return sorted(ranked, key=lambda rank: (rank.tie_group or 0, -(rank.value or 0.0)))


def _scores(filters: LeaderboardFilter, runs: Sequence[Run]) -> dict[int, dict[str, dict[Slice, Score]]]:
    """Map run and metric to the overall score and those of the chosen slices."""
    parts = Q()
    for part in {OVERALL, filters.part, *filters.sides, *filters.slices}:
        parts |= Q(dimension=part.dimension, group=part.group)
    metrics = [filters.metric, f"{filters.metric}_sem", *filters.other_metrics]
    scores: dict[int, dict[str, dict[Slice, Score]]] = {run.pk: {} for run in runs}
    stored = Score.objects.filter(parts, run__in=finished(filters.benchmark), metric__in=metrics)
    for score in light_rows(Score, stored):
        if score.run_id in scores:  # no run has finished since
            scores[score.run_id].setdefault(score.metric, {})[Slice(score.dimension, score.group)] = score
    return scores


def _stored_ranks(benchmark: Benchmark) -> dict[int, dict[str, RunRank]]:
    """Map each run that has any to its stored ranks by metric."""
    ranks: dict[int, dict[str, RunRank]] = {}
    for rank in light_rows(RunRank, RunRank.objects.filter(run__in=finished(benchmark))):
        ranks.setdefault(rank.run_id, {})[rank.metric] = rank
    return ranks


def facet_choices(filters: LeaderboardFilter, board: Leaderboard) -> list[tuple[Facet, list[FacetChoice]]]:
    """Return the facets with their choices, and how many rows each of these would leave."""
    return [(facet, _choices(facet, filters, board.everything)) for facet in FACETS]


def _choices(facet: Facet, filters: LeaderboardFilter, rows: Iterable[Standing]) -> list[FacetChoice]:
    left = filters.passing(rows, without=facet.name)
    counts = Counter(row.facets[facet.name] for row in left if not row.is_baseline)
    return [
        FacetChoice(value, title, counts[value], filters.chosen.get(facet.name) == value)
        for value, title in facet.choices.items()
    ]
