"""The leaderboard: filter object -> rows with rank ranges, and what each facet would leave."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Q

from leaderboard.lists.queries import BESIDE, OVERALL, Slice, finished_runs, headline
from leaderboard.models import Benchmark, Run, Score

PROVENANCE = Run.Provenance
GAP = "culture_gap"
REPORTED = (PROVENANCE.PUBLISHED, PROVENANCE.THIRD_PARTY)
SIZES = {"100m": (0, 10**8), "1b": (10**8, 10**9), "10b": (10**9, 10**10), "more": (10**10, 10**16)}


@dataclass(frozen=True)
class Facet:
    """A way to narrow the leaderboard: the title of each choice, and whether a run is in it."""

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
        {choice.value: choice.label.lower() for choice in (PROVENANCE.MEASURED, *REPORTED)},
        lambda run, choice: run.provenance == choice,
    ),
)


@dataclass(frozen=True)
class LeaderboardFilter:
    """What the query string asks for; `chosen` maps a facet's name to the choice."""

    benchmark: Benchmark
    chosen: Mapping[str, str] = field(default_factory=dict)
    search: str = ""
    slices: Sequence[Slice] = ()
    rank_published: bool = False

    def holds(self, run: Run, without: str = "") -> bool:
        """Whether a run passes the search and every facet but the one named `without`. Baselines always do."""
        if run.provenance == PROVENANCE.BASELINE:
            return True
        asked = [facet for facet in FACETS if self.chosen.get(facet.name) and facet.name != without]
        return self.search.lower() in run.model.hub_id.lower() and all(
            facet.holds(run, self.chosen[facet.name]) for facet in asked
        )

    def ranks(self, run: Run) -> bool:
        """Only what was asked the same items."""
        if run.asks_a_part:
            return False
        return run.provenance == PROVENANCE.MEASURED or (self.rank_published and run.provenance in REPORTED)


@dataclass(frozen=True)
class Rank:
    """Best and worst place that the 95 % intervals allow."""

    best: int
    worst: int

    def __str__(self) -> str:
        return str(self.best) if self.best == self.worst else f"{self.best}–{self.worst}"


@dataclass(frozen=True)
class Standing:
    """A row: a run, its scores by slice, its spread over templates, and the range of its rank if it has one.

    `beside`: other metrics that its probe is known by. `gaps`: between cultures, by slice.
    """

    run: Run
    scores: Mapping[Slice, Score]
    spread: float | None = None
    rank: Rank | None = None
    beside: Mapping[str, float | None] = field(default_factory=dict)
    gaps: Mapping[Slice, Score] = field(default_factory=dict)

    @property
    def main(self) -> Score | None:
        return self.scores.get(OVERALL)


@dataclass(frozen=True)
class FacetChoice:
    """`count` rows would be left by this choice, everything else being as it is."""

    value: str
    title: str
    count: int
    chosen: bool


@dataclass(frozen=True)
class Leaderboard:
    standings: list[Standing]
    facets: list[tuple[Facet, list[FacetChoice]]]


def leaderboard(asked: LeaderboardFilter) -> Leaderboard:
    """The rows in order of score: baselines, ranked rows, then the rest. Two queries.

    Ranks are those among all ranked runs of the benchmark, whatever the filter hides.
    """
    runs = list(finished_runs(asked.benchmark))
    metric = headline(asked.benchmark)
    scores = _scores(asked, runs, metric)
    mains = {run.pk: scores[run.pk, metric].get(OVERALL) for run in runs if asked.ranks(run)}
    ranks = rank_ranges({run: score for run, score in mains.items() if score})
    standings = [
        Standing(
            run,
            scores[run.pk, metric],
            _value(scores[run.pk, f"{metric}_sem"]),
            ranks.get(run.pk),
            {name: _value(scores[run.pk, name]) for name in BESIDE.get(asked.benchmark.probe, ())},
            scores[run.pk, GAP],
        )
        for run in runs
        if asked.holds(run)
    ]
    return Leaderboard(sorted(standings, key=_order), [(facet, _choices(facet, asked, runs)) for facet in FACETS])


def _scores(asked: LeaderboardFilter, runs: Sequence[Run], metric: str) -> dict[tuple[int, str], dict[Slice, Score]]:
    """By run and metric: the overall score and the chosen slices."""
    wanted = Q()
    for part in {OVERALL, *asked.slices}:
        wanted |= Q(dimension=part.dimension, group=part.group)
    found: dict[tuple[int, str], dict[Slice, Score]] = defaultdict(dict)
    metrics = [metric, f"{metric}_sem", GAP, *BESIDE.get(asked.benchmark.probe, ())]
    for score in Score.objects.filter(wanted, run__in=runs, metric__in=metrics):
        found[score.run_id, score.metric][Slice(score.dimension, score.group)] = score
    return found


def _value(scores: Mapping[Slice, Score]) -> float | None:
    return scores[OVERALL].value if OVERALL in scores else None


def rank_ranges(scores: Mapping[int, Score]) -> dict[int, Rank]:
    """Better is whoever's interval lies wholly above, worse whoever's lies wholly below.

    A score without an interval counts as a point; one that was not measured has no rank.
    """
    bounds = {
        run: (_or(score.low, score.value), _or(score.high, score.value))
        for run, score in scores.items()
        if score.value is not None
    }
    lows = sorted(low for low, _ in bounds.values())
    highs = sorted(high for _, high in bounds.values())
    return {
        run: Rank(1 + len(lows) - bisect_right(lows, high), len(highs) - bisect_left(highs, low))
        for run, (low, high) in bounds.items()
    }


def _or(value: float | None, other: float) -> float:
    return other if value is None else value


def _order(standing: Standing) -> tuple[bool, bool, bool, float, str]:
    value = standing.main.value if standing.main else None
    return (
        standing.run.provenance != PROVENANCE.BASELINE,
        standing.rank is None,
        value is None,
        -(value or 0.0),
        standing.run.model.hub_id,
    )


def _choices(facet: Facet, asked: LeaderboardFilter, runs: Iterable[Run]) -> list[FacetChoice]:
    left = [run for run in runs if run.provenance != PROVENANCE.BASELINE and asked.holds(run, without=facet.name)]
    return [
        FacetChoice(value, title, sum(facet.holds(run, value) for run in left), asked.chosen.get(facet.name) == value)
        for value, title in facet.choices.items()
    ]
