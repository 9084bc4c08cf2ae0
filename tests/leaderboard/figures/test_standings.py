"""Standings: rank ranges, what a query string chooses, and how many rows each choice of a facet would leave."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.http import QueryDict

from leaderboard.figures.filters import RunFacet, chosen_facets
from leaderboard.figures.scores import OVERALL_SLICE, Slice
from leaderboard.figures.standings import (
    FacetChoice,
    LeaderboardFilter,
    Standing,
    chosen_slices,
    facet_choices,
    leaderboard,
    place_by_intervals,
)
from leaderboard.models import Benchmark, Run
from tests.leaderboard import factories as make

ARTS, SPORTS, FIRST = Slice("domain", "Arts"), Slice("domain", "Sports"), Slice("template", "0")


def ranked(filters: LeaderboardFilter) -> dict[str, str]:
    return {row.run.model.hub_id: str(row.rank or "") for row in leaderboard(filters).standings}


def test_a_run_without_a_value_has_no_rank_and_takes_no_place(tiny: Benchmark) -> None:
    make.finished(tiny, None, make.model("org/none"))
    make.finished(tiny, 0.5, make.model("org/a"))
    assert ranked(LeaderboardFilter(tiny, "accuracy")) == {"org/a": "≈ 1", "org/none": ""}


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


def counts(choices: list[tuple[RunFacet, list[FacetChoice]]]) -> dict[str, dict[str, int]]:
    return {facet.name: {choice.value: choice.count for choice in of_facet} for facet, of_facet in choices}


def test_a_facet_counts_the_rows_that_each_of_its_choices_would_leave(tiny: Benchmark) -> None:
    make.finished(tiny, of=make.model(kind="masked", parameters=5_000_000))
    make.finished(tiny, of=make.model(kind="masked", parameters=None))
    make.finished(tiny, of=make.model(kind="causal", parameters=200_000_000))
    make.published(tiny)
    make.baseline(tiny)
    filters = LeaderboardFilter(tiny, "accuracy", chosen={"kind": "masked"})
    facets = facet_choices(filters, leaderboard(filters))
    assert counts(facets) == {
        "kind": {"causal": 2, "masked": 2, "encoder-decoder": 0},
        "size": {"100m": 1, "1b": 0, "10b": 0, "more": 0},
        "provenance": {"measured": 2, "published": 0, "elsewhere": 0},
    }
    assert [choice.value for _, choices in facets for choice in choices if choice.chosen] == ["masked"]


@pytest.fixture
def benchmark(db: None) -> Benchmark:
    """A benchmark with two models."""
    of_two = make.benchmark()
    make.finished(of_two, 0.5, make.model("org/masked", kind="masked"))
    make.finished(of_two, 0.4, make.model("org/causal", kind="causal"))
    return of_two


@pytest.mark.parametrize("choice", [{"chosen": {"kind": "causal"}}, {"search": "CAUSAL"}], ids=["facet", "search"])
def test_a_choice_of_rows_leaves_the_others_out(benchmark: Benchmark, choice: dict[str, Any]) -> None:
    def names(**choice: Any) -> list[str]:
        return [row.hub_id for row in leaderboard(LeaderboardFilter(benchmark, "accuracy", **choice)).standings]

    assert names() == ["org/masked", "org/causal"]
    assert names(**choice) == ["org/causal"]


Bounds = tuple[float, float]


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        ((0.8, 1.0), [(0.4, 0.6)], "≈ 1"),
        ((0.4, 0.6), [(0.8, 1.0)], "≈ 2"),
        ((0.5, 1.0), [(0.4, 0.6), (0.55, 0.6)], "≈ 1–3"),
        ((0.6, 0.8), [(0.8, 1.0)], "≈ 1–2"),
        ((0.5, 0.5), [(0.4, 0.8), (0.5, 0.5), (0.1, 0.1)], "≈ 1–3"),
        ((0.5, 0.6), [], "≈ 1"),
    ],
)
def test_an_interval_is_ahead_only_of_those_that_lie_wholly_below(
    own: Bounds, others: list[Bounds], expected: str
) -> None:
    assert str(place_by_intervals(own, others)) == expected


def test_a_standing_gives_its_scores_by_metric_and_slice() -> None:
    overall = SimpleNamespace(value=0.5, error=0.02)
    row = Standing(Run(), "accuracy", {"accuracy": {OVERALL_SLICE: overall}})
    assert (row.main, row.spread, row.value("accuracy"), row.value("p_at_1")) == (overall, 0.02, 0.5, None)
    assert row.score("accuracy", Slice("domain", "Arts")) is None
