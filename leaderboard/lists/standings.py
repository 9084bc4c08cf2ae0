"""The leaderboard of one benchmark: rows with rank ranges, and how many rows each choice of a facet would leave.

Runs are ranked in groups of equal settings, the usual ones first (docs/methods.md, Ranks).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from django.db.models import Q
from django.http import QueryDict

from leaderboard.changed_settings import asks_other_items
from leaderboard.lists.runs import finished_runs
from leaderboard.lists.scores import OVERALL, Slice
from leaderboard.models import Benchmark, Run, Score
from leaderboard.rank_tables import RunRank, places

Provenance = Run.Provenance
REPORTED = (Provenance.PUBLISHED, Provenance.THIRD_PARTY)
# The beginnings of headings above the groups of a leaderboard, in alphabetical order.
OTHER_SETTINGS, SOME_ITEMS = "Other settings", "Some of the items"
SIZES = {"100m": (0, 10**8), "1b": (10**8, 10**9), "10b": (10**9, 10**10), "more": (10**10, 10**16)}


@dataclass(frozen=True)
class Facet:
    """A property by which the leaderboard is narrowed. `choices` maps values to titles; `holds` tests a run."""

    name: str
    title: str
    choices: Mapping[str, str]
    holds: Callable[[Run, str], bool]


def _in_size(run: Run, choice: str) -> bool:
    low, high = SIZES[choice]
    return run.model.parameters is not None and low <= run.model.parameters < high


FACETS = (
    Facet("kind", "Kind", {"causal": "causal", "masked": "masked"}, lambda run, kind: run.model.kind == kind),
    Facet(
        "size",
        "Parameters",
        {"100m": "below 100 M", "1b": "100 M to 1 B", "10b": "1 B to 10 B", "more": "10 B and more"},
        _in_size,
    ),
    Facet(
        "provenance",
        "Source",
        {choice.value: choice.label.lower() for choice in (Provenance.MEASURED, *REPORTED)},
        lambda run, choice: run.provenance == choice,
    ),
)


@dataclass(frozen=True)
class LeaderboardFilter:
    """The rows and columns that a reader asked for.

    `metric` ranks the runs; `other_metrics` are read with it, overall and by slice. `chosen` maps a facet's name to the
    choice.
    """

    benchmark: Benchmark
    metric: str
    other_metrics: Sequence[str] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)
    search: str = ""
    slices: Sequence[Slice] = ()
    rank_published: bool = False

    def holds(self, run: Run, without: str = "") -> bool:
        """Tell whether a run passes the search and every facet but the one named `without`. Baselines always do."""
        if run.provenance == Provenance.BASELINE:
            return True
        facets = [facet for facet in FACETS if self.chosen.get(facet.name) and facet.name != without]
        return self.search.lower() in run.model.hub_id.lower() and all(
            facet.holds(run, self.chosen[facet.name]) for facet in facets
        )


def chosen_facets(query: QueryDict) -> dict[str, str]:
    """Return the choice of each facet in a query string; a choice that does not exist is left out."""
    chosen = {facet.name: query.get(facet.name, "") for facet in FACETS}
    return {facet.name: chosen[facet.name] for facet in FACETS if chosen[facet.name] in facet.choices}


def chosen_slices(query: QueryDict, slices: Sequence[Slice], default_dimensions: Sequence[str]) -> list[Slice]:
    """Return the slices that a query string asks for, or those of the default dimensions where it names none."""
    if "columns" not in query:
        return [part for part in slices if part.dimension in default_dimensions]
    names = {Slice.parse(text) for text in query.getlist("columns")}
    return [part for part in slices if part in names]


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


@dataclass(frozen=True)
class Standing:
    """A row of the leaderboard: a run, its scores by metric and slice, and the range of its rank if it has one.

    `stored_ranks`: by metric, where the run stands by paired comparisons with the others of its group.
    """

    run: Run
    metric: str
    scores: Mapping[str, Mapping[Slice, Score]]
    rank: Rank | None = None
    stored_ranks: Mapping[str, RunRank] = field(default_factory=dict)

    @property
    def stored_rank(self) -> RunRank | None:
        """Its stored rank in the metric that ranks, from paired comparisons."""
        return self.stored_ranks.get(self.metric)

    @cached_property
    def heading(self) -> str:
        """What stands above the rows of its group: nothing above baselines and runs with the usual settings."""
        if self.run.provenance == Provenance.BASELINE or not self.run.settings_group:
            return ""
        some_items = asks_other_items(self.run.settings, self.run.benchmark.settings_with({}))
        return f"{SOME_ITEMS if some_items else OTHER_SETTINGS}: {self.run.settings_group}"

    @property
    def main(self) -> Score | None:
        """The overall score in the metric that ranks."""
        return self.score(self.metric, OVERALL)

    @property
    def ranked_value(self) -> float | None:
        """The figure that ranks: the one on the items common to all ranked runs, or else its own."""
        common = self.stored_rank.value if self.stored_rank else None
        return common if common is not None else self.value(self.metric)

    @property
    def spread(self) -> float | None:
        """Standard error of the mean over templates."""
        return self.value(f"{self.metric}_sem")

    def score(self, metric: str, part: Slice) -> Score | None:
        return self.scores.get(metric, {}).get(part)

    def value(self, metric: str) -> float | None:
        """The overall value of a metric."""
        score = self.score(metric, OVERALL)
        return score.value if score else None


@dataclass(frozen=True)
class FacetChoice:
    """A choice of a facet; `count` rows would be left by it, everything else unchanged."""

    value: str
    title: str
    count: int
    chosen: bool


@dataclass(frozen=True)
class Leaderboard:
    """The rows in their default order, and the facets with their choices."""

    standings: list[Standing]
    facets: list[tuple[Facet, list[FacetChoice]]]


def leaderboard(filters: LeaderboardFilter) -> Leaderboard:
    """Return the rows in order: baselines, then group by group the ranked rows by score and the rest. Three queries.

    Ranks are those among all ranked runs of a group, whatever the filter hides.
    """
    runs = list(finished_runs(filters.benchmark))
    scores = _scores(filters, runs)
    stored = _stored_ranks(runs)
    standings = [Standing(run, filters.metric, scores[run.pk], stored_ranks=stored[run.pk]) for run in runs]
    ranks = _ranks(standings, filters.rank_published)
    rows = [replace(row, rank=ranks.get(row.run.pk)) for row in standings if filters.holds(row.run)]
    facets = [(facet, _facet_choices(facet, filters, runs)) for facet in FACETS]
    return Leaderboard(sorted(rows, key=_default_order), facets)


def _ranks(standings: Iterable[Standing], rank_published: bool) -> dict[int, Rank]:
    groups: dict[str, list[Standing]] = defaultdict(list)
    for row in standings:
        groups[row.run.settings_group].append(row)
    return {pk: rank for rows in groups.values() for pk, rank in _group_ranks(rows, rank_published).items()}


def ranked_runs(benchmark: Benchmark, metric: str) -> list[RunRank]:
    """Return the ranks of the runs with the usual settings by paired comparisons, tie group by tie group."""
    runs = {run.pk: run for run in finished_runs(benchmark) if not run.settings_group}
    ranks = list(
        RunRank.objects.filter(run__in=runs, metric=metric, best__isnull=False).order_by("tie_group", "-value")
    )
    for rank in ranks:
        rank.run = runs[rank.run_id]
    return ranks


def _scores(filters: LeaderboardFilter, runs: Sequence[Run]) -> dict[int, dict[str, dict[Slice, Score]]]:
    """Map run and metric to the overall score and those of the chosen slices."""
    parts = Q()
    for part in {OVERALL, *filters.slices}:
        parts |= Q(dimension=part.dimension, group=part.group)
    metrics = [filters.metric, f"{filters.metric}_sem", *filters.other_metrics]
    scores: dict[int, dict[str, dict[Slice, Score]]] = {run.pk: {} for run in runs}
    for score in Score.objects.filter(parts, run__in=runs, metric__in=metrics):
        by_slice = scores[score.run_id].setdefault(score.metric, {})
        by_slice[Slice(score.dimension, score.group)] = score
    return scores


def _group_ranks(rows: Iterable[Standing], rank_published: bool) -> dict[int, Rank]:
    """Map each run of a group to its rank; published runs have one only where that is asked for."""
    stored = {row.run: row.stored_rank for row in rows if row.stored_rank}
    paired = {run: Rank(rank.best, rank.worst) for run, rank in stored.items() if rank.best and rank.worst}
    bounds = {row.run: bounds for row in rows if (bounds := _bounds(row.main))}
    measured = {run for run in bounds if run.provenance == Provenance.MEASURED}
    reported = {run for run in bounds if run.provenance in REPORTED and rank_published}
    references = (set(paired) & measured) or measured or reported
    marked = (measured | reported) - set(stored)
    by_intervals = {
        run: place_by_intervals(bounds[run], [bounds[other] for other in references if other != run]) for run in marked
    }
    return {run.pk: rank for run, rank in {**by_intervals, **paired}.items()}


def _stored_ranks(runs: Sequence[Run]) -> dict[int, dict[str, RunRank]]:
    """Map each run to its stored ranks by metric."""
    ranks: dict[int, dict[str, RunRank]] = {run.pk: {} for run in runs}
    for rank in RunRank.objects.filter(run__in=runs):
        ranks[rank.run_id][rank.metric] = rank
    return ranks


def _bounds(score: Score | None) -> tuple[float, float] | None:
    """Return the ends of a score's interval; a score without an interval counts as a point."""
    if score is None or score.value is None:
        return None
    return (
        score.value if score.low is None else score.low,
        score.value if score.high is None else score.high,
    )


def place_by_intervals(own: tuple[float, float], others: Sequence[tuple[float, float]]) -> Rank:
    """Return the places that an interval allows among others: a run is ahead only if its interval lies wholly above."""
    ahead = sum(low > own[1] for low, _ in others)
    behind = sum(high < own[0] for _, high in others)
    return Rank(1 + ahead, 1 + len(others) - behind, by_intervals=True)


def _default_order(standing: Standing) -> tuple[bool, str, bool, bool, float, str]:
    value = standing.ranked_value
    return (
        standing.run.provenance != Provenance.BASELINE,
        standing.heading,
        standing.rank is None,
        value is None,
        -(value or 0.0),
        standing.run.model.hub_id,
    )


def _facet_choices(facet: Facet, filters: LeaderboardFilter, runs: Iterable[Run]) -> list[FacetChoice]:
    left = [run for run in runs if run.provenance != Provenance.BASELINE and filters.holds(run, without=facet.name)]
    return [
        FacetChoice(value, title, sum(facet.holds(run, value) for run in left), filters.chosen.get(facet.name) == value)
        for value, title in facet.choices.items()
    ]
