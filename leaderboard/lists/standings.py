"""The leaderboard of one benchmark: rows with rank ranges, and how many rows each choice of a facet would leave."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.db.models import Q
from django.http import QueryDict

from leaderboard.lists.runs import finished_runs
from leaderboard.lists.scores import OVERALL, Slice
from leaderboard.models import Benchmark, Run, Score

Provenance = Run.Provenance
REPORTED = (Provenance.PUBLISHED, Provenance.THIRD_PARTY)
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

    def ranks(self, run: Run) -> bool:
        """Tell whether a run has a rank: only runs on the same items are ranked among each other."""
        if run.asks_a_part:
            return False
        return run.provenance == Provenance.MEASURED or (self.rank_published and run.provenance in REPORTED)


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
    """Best and worst place that the 95 % intervals allow."""

    best: int
    worst: int

    def __str__(self) -> str:
        return str(self.best) if self.best == self.worst else f"{self.best}–{self.worst}"


@dataclass(frozen=True)
class Standing:
    """A row of the leaderboard: a run, its scores by metric and slice, and the range of its rank if it has one."""

    run: Run
    metric: str
    scores: Mapping[str, Mapping[Slice, Score]]
    rank: Rank | None = None

    @property
    def main(self) -> Score | None:
        """The overall score in the metric that ranks."""
        return self.score(self.metric, OVERALL)

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
    """Return the rows in order of score: baselines, ranked rows, then the rest. Two queries.

    Ranks are those among all ranked runs of the benchmark, whatever the filter hides.
    """
    runs = list(finished_runs(filters.benchmark))
    scores = _scores(filters, runs)
    standings = [Standing(run, filters.metric, scores[run.pk]) for run in runs]
    mains = {row.run.pk: row.main for row in standings if row.main and filters.ranks(row.run)}
    ranks = rank_ranges(mains)
    rows = [replace(row, rank=ranks.get(row.run.pk)) for row in standings if filters.holds(row.run)]
    facets = [(facet, _facet_choices(facet, filters, runs)) for facet in FACETS]
    return Leaderboard(sorted(rows, key=_default_order), facets)


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


def rank_ranges(scores: Mapping[int, Score]) -> dict[int, Rank]:
    """Return the best and worst place of each run that has a value.

    A run is certainly better than another if its interval lies wholly above the other's. A score without an interval
    counts as a point.
    """
    bounds = {
        run: (
            score.value if score.low is None else score.low,
            score.value if score.high is None else score.high,
        )
        for run, score in scores.items()
        if score.value is not None
    }
    lows = sorted(low for low, _ in bounds.values())
    highs = sorted(high for _, high in bounds.values())
    return {
        run: Rank(1 + len(lows) - bisect_right(lows, high), len(highs) - bisect_left(highs, low))
        for run, (low, high) in bounds.items()
    }


def _default_order(standing: Standing) -> tuple[bool, bool, bool, float, str]:
    value = standing.main.value if standing.main else None
    return (
        standing.run.provenance != Provenance.BASELINE,
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
