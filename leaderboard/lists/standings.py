"""The leaderboard of one benchmark: rows with rank ranges, and how many rows each choice of a facet would leave.

Runs are ranked in groups of equal settings, the usual ones first (docs/methods.md, Ranks).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.db.models import Q
from django.http import QueryDict

from leaderboard.lists.runs import finished_runs
from leaderboard.lists.scores import OVERALL, Slice
from leaderboard.models import Benchmark, Run, Score

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
        places = str(self.best) if self.best == self.worst else f"{self.best}–{self.worst}"
        return f"≈ {places}" if self.by_intervals else places


@dataclass(frozen=True)
class Standing:
    """A row of the leaderboard: a run, its scores by metric and slice, and the range of its rank if it has one."""

    run: Run
    metric: str
    scores: Mapping[str, Mapping[Slice, Score]]
    rank: Rank | None = None

    @property
    def heading(self) -> str:
        """What stands above the rows of its group: nothing above baselines and runs with the usual settings."""
        if self.run.provenance == Provenance.BASELINE or not self.run.settings_group:
            return ""
        return f"{SOME_ITEMS if self.run.asks_a_part else OTHER_SETTINGS}: {self.run.settings_group}"

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
    """Return the rows in order: baselines, then group by group the ranked rows by score and the rest. Two queries.

    Ranks are those among all ranked runs of a group, whatever the filter hides.
    """
    runs = list(finished_runs(filters.benchmark))
    scores = _scores(filters, runs)
    standings = [Standing(run, filters.metric, scores[run.pk]) for run in runs]
    ranks = _ranks(standings, filters.rank_published)
    rows = [replace(row, rank=ranks.get(row.run.pk)) for row in standings if filters.holds(row.run)]
    facets = [(facet, _facet_choices(facet, filters, runs)) for facet in FACETS]
    return Leaderboard(sorted(rows, key=_default_order), facets)


def _ranks(standings: Iterable[Standing], rank_published: bool) -> dict[int, Rank]:
    groups: dict[str, list[Standing]] = defaultdict(list)
    for row in standings:
        groups[row.run.settings_group].append(row)
    return {pk: rank for rows in groups.values() for pk, rank in _group_ranks(rows, rank_published).items()}


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
    bounds = {row.run: bounds for row in rows if (bounds := _bounds(row.main))}
    measured = {run for run in bounds if run.provenance == Provenance.MEASURED}
    reported = {run for run in bounds if run.provenance in REPORTED and rank_published}
    references = measured or reported
    return {
        run.pk: place_by_intervals(bounds[run], [bounds[other] for other in references if other != run])
        for run in measured | reported
    }


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
    value = standing.main.value if standing.main else None
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
