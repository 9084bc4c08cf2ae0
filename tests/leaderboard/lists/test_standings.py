"""Standings: rank ranges, what a query string chooses, and how many rows each choice of a facet would leave."""

import pytest
from django.http import QueryDict

from leaderboard.lists.scores import OVERALL, Slice
from leaderboard.lists.standings import (
    Facet,
    FacetChoice,
    LeaderboardFilter,
    Rank,
    Standing,
    chosen_facets,
    chosen_slices,
    leaderboard,
    rank_ranges,
)
from leaderboard.models import Benchmark, Run, Score
from tests.leaderboard import factories as make

ARTS, SPORTS, FIRST = Slice("domain", "Arts"), Slice("domain", "Sports"), Slice("template", "0")
Interval = tuple[float, float, float]


@pytest.fixture
def tiny(db: None) -> Benchmark:
    return make.benchmark()


def score(value: float | None, low: float | None = None, high: float | None = None) -> Score:
    return Score(metric="accuracy", dimension="overall", group="all", value=value, n=100, low=low, high=high)


def ranges(*scores: Score) -> list[str]:
    ranks = rank_ranges(dict(enumerate(scores)))
    return [str(ranks.get(number, "")) for number in range(len(scores))]


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([(0.9, 0.8, 1.0), (0.5, 0.4, 0.6)], ["1", "2"]),
        ([(0.9, 0.5, 1.0), (0.5, 0.4, 0.6)], ["1–2", "1–2"]),
        ([(0.9, 0.8, 1.0), (0.7, 0.5, 0.85), (0.4, 0.3, 0.6)], ["1–2", "1–3", "2–3"]),
        ([(0.9, 0.8, 1.0), (0.7, 0.6, 0.8)], ["1–2", "1–2"]),
    ],
)
def test_a_run_is_only_ahead_of_runs_whose_interval_lies_wholly_below(
    intervals: list[Interval], expected: list[str]
) -> None:
    assert ranges(*(score(*interval) for interval in intervals)) == expected


def test_scores_without_intervals_are_points_and_equal_points_share_their_places() -> None:
    assert ranges(score(0.9), score(0.5), score(0.5), score(0.1)) == ["1", "2–3", "2–3", "4"]


def test_a_point_within_an_interval_shares_its_places() -> None:
    assert ranges(score(0.5), score(0.6, 0.4, 0.8)) == ["1–2", "1–2"]


def test_a_run_without_a_value_has_no_rank_and_takes_no_place() -> None:
    assert ranges(score(None), score(0.5)) == ["", "1"]


def test_no_scores_have_no_ranks() -> None:
    assert rank_ranges({}) == {}


def test_choices_of_facets_that_do_not_exist_are_left_out() -> None:
    assert chosen_facets(QueryDict("kind=causal&size=huge&provenance=&search=x")) == {"kind": "causal"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", [ARTS, SPORTS]),
        ("columns=", []),
        ("columns=template:0&columns=domain:Sports", [SPORTS, FIRST]),
        ("columns=domain:Nothing", []),
    ],
)
def test_slices_are_those_asked_for_or_else_those_of_the_default_dimensions(query: str, expected: list[Slice]) -> None:
    assert chosen_slices(QueryDict(query), [ARTS, SPORTS, FIRST], ["domain"]) == expected


def counts(choices: list[tuple[Facet, list[FacetChoice]]]) -> dict[str, dict[str, int]]:
    return {facet.name: {choice.value: choice.count for choice in of_facet} for facet, of_facet in choices}


def test_a_facet_counts_the_rows_that_each_of_its_choices_would_leave(tiny: Benchmark) -> None:
    make.finished(tiny, of=make.model(kind="masked", parameters=5_000_000))
    make.finished(tiny, of=make.model(kind="masked", parameters=None))
    make.finished(tiny, of=make.model(kind="causal", parameters=200_000_000))
    make.published(tiny)
    make.baseline(tiny)
    facets = leaderboard(LeaderboardFilter(tiny, "accuracy", chosen={"kind": "masked"})).facets
    assert counts(facets) == {
        "kind": {"causal": 2, "masked": 2},
        "size": {"100m": 1, "1b": 0, "10b": 0, "more": 0},
        "provenance": {"measured": 2, "published": 0, "third-party": 0},
    }
    assert [choice.value for _, choices in facets for choice in choices if choice.chosen] == ["masked"]


def test_ranks_are_those_among_all_ranked_runs_whatever_the_filter_hides(tiny: Benchmark) -> None:
    make.finished(tiny, 0.9, make.model("org/best"))
    make.finished(tiny, 0.1, make.model("org/worst"))
    (row,) = leaderboard(LeaderboardFilter(tiny, "accuracy", search="WORST")).standings
    assert (row.run.model.hub_id, row.rank) == ("org/worst", Rank(2, 2))


def test_published_runs_are_ranked_only_on_request_and_parts_never(tiny: Benchmark) -> None:
    measured, published = make.finished(tiny), make.published(tiny)
    part = make.finished(tiny, settings={"limit": 5})
    runs = (measured, published, part)
    usual, with_published = (LeaderboardFilter(tiny, "accuracy", rank_published=choice) for choice in (False, True))
    assert [run for run in runs if usual.ranks(run)] == [measured]
    assert [run for run in runs if with_published.ranks(run)] == [measured, published]


def test_a_standing_gives_its_scores_by_metric_and_slice() -> None:
    overall, spread = score(0.5), score(0.02)
    scores = {"accuracy": {OVERALL: overall}, "accuracy_sem": {OVERALL: spread}}
    row = Standing(Run(), "accuracy", scores)
    assert (row.main, row.spread, row.value("accuracy"), row.value("p_at_1")) == (overall, 0.02, 0.5, None)
    assert row.score("accuracy", ARTS) is None
