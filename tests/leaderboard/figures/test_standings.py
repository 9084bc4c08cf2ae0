"""Standings: rank ranges, what a query string chooses, and how many rows each choice of a facet would leave."""

import pytest
from django.http import QueryDict

from leaderboard.figures.runs import runs_on
from leaderboard.figures.scores import Slice
from leaderboard.figures.standings import (
    LeaderboardFilter,
    Row,
    chosen_slices,
    facet_choices,
    figures_of,
    place_by_intervals,
    standings,
)
from leaderboard.models import Benchmark
from tests.leaderboard import factories as make

ARTS, SPORTS, FIRST = Slice("domain", "Arts"), Slice("domain", "Sports"), Slice("template", "0")


def rows_of(filters: LeaderboardFilter) -> list[Row]:
    return standings(filters, figures_of(filters), runs_on(filters.benchmark))


def test_a_run_without_a_value_has_no_rank_and_takes_no_place(tiny: Benchmark) -> None:
    make.finished(tiny, None, make.model("org/none"))
    make.finished(tiny, 0.5, make.model("org/a"))
    rows = rows_of(LeaderboardFilter(tiny, "accuracy"))
    assert [(row["run"].model.hub_id, row["rank_text"]) for row in rows] == [("org/a", "≈ 1"), ("org/none", "")]


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


def test_a_facet_counts_the_rows_that_each_of_its_choices_would_leave(tiny: Benchmark) -> None:
    make.finished(tiny, of=make.model(kind="masked", parameters=5_000_000))
    make.finished(tiny, of=make.model(kind="masked", parameters=None))
    make.finished(tiny, of=make.model(kind="causal", parameters=200_000_000))
    make.published(tiny)
    filters = LeaderboardFilter(tiny, "accuracy", chosen={"kind": "masked"})
    facets = facet_choices(rows_of(filters), filters, figures_of(filters))
    assert {name: {value: number for value, _, number, _ in choices} for name, _, choices in facets} == {
        "kind": {"causal": 1, "masked": 2, "encoder-decoder": 0},
        "size": {"100m": 1, "1b": 0, "10b": 0, "more": 0},
        "provenance": {"measured": 2, "elsewhere": 0},
    }
    assert [value for _, _, choices in facets for value, _, _, is_chosen in choices if is_chosen] == ["masked"]


Bounds = tuple[float, float]


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        ((0.8, 1.0), [(0.4, 0.6)], (1, 1)),
        ((0.4, 0.6), [(0.8, 1.0)], (2, 2)),
        ((0.5, 1.0), [(0.4, 0.6), (0.55, 0.6)], (1, 3)),
        ((0.6, 0.8), [(0.8, 1.0)], (2, 2)),
        ((0.6, 0.8), [(0.7, 0.9)], (1, 2)),
        ((0.5, 0.5), [(0.4, 0.8), (0.5, 0.5), (0.1, 0.1)], (1, 3)),
        ((0.5, 0.6), [], (1, 1)),
    ],
)
def test_an_interval_leaves_the_places_that_the_verdicts_on_it_and_others_do(
    own: Bounds, others: list[Bounds], expected: tuple[int, int]
) -> None:
    def figure(bounds: Bounds) -> tuple[float, Bounds]:
        return sum(bounds) / 2, bounds

    assert place_by_intervals(figure(own), [figure(other) for other in others]) == expected
