"""Standings: rank ranges, what a query string chooses, and how many rows each choice of a facet would leave."""

from typing import Any

import pytest
from django.http import QueryDict

from leaderboard.figures.facets import Facet, chosen_facets
from leaderboard.figures.kept_lists import KeptLists
from leaderboard.figures.scores import Slice
from leaderboard.figures.standings import (
    FacetChoice,
    Leaderboard,
    LeaderboardFilter,
    Rank,
    chosen_slices,
    facet_choices,
    leaderboard,
    made_of_rows,
)
from leaderboard.models import Benchmark
from tests.leaderboard import factories as make

ARTS, SPORTS, FIRST = Slice("domain", "Arts"), Slice("domain", "Sports"), Slice("template", "0")


@pytest.fixture
def tiny(db: None) -> Benchmark:
    return make.benchmark()


def ranked(filters: LeaderboardFilter) -> dict[str, str]:
    return {row.run.model.hub_id: str(row.rank or "") for row in leaderboard(filters).standings}


def test_a_run_without_a_value_has_no_rank_and_takes_no_place(tiny: Benchmark) -> None:
    make.finished(tiny, None, make.model("org/none"))
    make.finished(tiny, 0.5, make.model("org/a"))
    assert ranked(LeaderboardFilter(tiny, "accuracy")) == {"org/a": "≈ 1", "org/none": ""}


CASES = {
    "by word": {"options": {"by": "word"}},
    "public code True": {"options": {"public_code": True}},
    "k 10": {"options": {"k": 10}},
    "prompting few-shot": {"options": {"prompting": "few-shot"}},
    "instruction 3": {"options": {"instruction": 3}},
    "limit 5": {"limit": 5},
}


@pytest.mark.parametrize("group", CASES)
def test_runs_with_other_settings_are_ranked_apart(tiny: Benchmark, group: str) -> None:
    make.finished(tiny, 0.9, make.model("org/usual"))
    make.finished(tiny, 0.1, make.model("org/also-usual"))
    make.finished(tiny, 0.99, make.model("org/other"), settings=CASES[group])
    make.finished(tiny, 0.2, make.model("org/also-other"), settings=CASES[group])
    rows = leaderboard(LeaderboardFilter(tiny, "accuracy")).standings
    assert [(row.run.model.hub_id, str(row.rank), row.run.settings_group) for row in rows] == [
        ("org/usual", "≈ 1", ""),
        ("org/also-usual", "≈ 2", ""),
        ("org/other", "≈ 1", group),
        ("org/also-other", "≈ 2", group),
    ]


def test_groups_of_other_settings_come_before_those_of_other_items(tiny: Benchmark) -> None:
    for settings in ({"limit": 5}, {"pll": "original"}, {}):
        make.finished(tiny, settings=settings)
    make.baseline(tiny)
    headings = [row.settings_heading for row in leaderboard(LeaderboardFilter(tiny, "accuracy")).standings]
    assert headings == ["", "", "Other settings: PLL original", "Some of the questions: limit 5"]


def test_a_number_format_that_the_site_chose_by_size_makes_no_group_but_is_told(tiny: Benchmark) -> None:
    large = {"parameters": 70 * 10**9, "stored_dtype": "bfloat16"}
    by_size = make.finished(tiny, of=make.model(**large), settings={"dtype": "bfloat16"})
    chosen = make.finished(tiny, of=make.model(parameters=10**6), settings={"dtype": "bfloat16"})
    assert (by_size.settings_group, by_size.variant) == ("", "bfloat16")
    assert (chosen.settings_group, chosen.variant) == ("bfloat16", "bfloat16")


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
    filters = LeaderboardFilter(tiny, "accuracy", chosen={"kind": "masked"})
    facets = facet_choices(filters, leaderboard(filters))
    assert counts(facets) == {
        "kind": {"causal": 2, "masked": 2, "encoder-decoder": 0},
        "size": {"100m": 1, "1b": 0, "10b": 0, "more": 0},
        "provenance": {"measured": 2, "published": 0, "third-party": 0},
    }
    assert [choice.value for _, choices in facets for choice in choices if choice.chosen] == ["masked"]


def test_ranks_are_those_among_all_ranked_runs_whatever_the_filter_hides(tiny: Benchmark) -> None:
    make.finished(tiny, 0.9, make.model("org/best"))
    make.finished(tiny, 0.1, make.model("org/worst"))
    (row,) = leaderboard(LeaderboardFilter(tiny, "accuracy", search="WORST")).standings
    assert (row.run.model.hub_id, row.rank) == ("org/worst", Rank(2, 2, by_intervals=True))


def test_published_runs_have_places_only_on_request_and_take_none(tiny: Benchmark) -> None:
    make.finished(tiny, 0.5, make.model("org/a"))
    make.published(tiny, 0.9)
    for rank_published, expected in ((False, ["≈ 1", "None"]), (True, ["≈ 1", "≈ 1"])):
        rows = leaderboard(LeaderboardFilter(tiny, "accuracy", rank_published=rank_published)).standings
        assert sorted(str(row.rank) for row in rows) == sorted(expected)


@pytest.fixture
def benchmark(transactional_db: None) -> Benchmark:
    """A benchmark with two models, outside of a transaction, so that what is made of its rows is kept."""
    of_two = make.benchmark()
    make.finished(of_two, 0.5, make.model("org/masked", kind="masked"))
    make.finished(of_two, 0.4, make.model("org/causal", kind="causal"))
    return of_two


class Names:
    """The names of the models of a leaderboard as something that is made of its rows; `made` counts how often."""

    def __init__(self) -> None:
        self.lists = KeptLists[list[str]](most=4)
        self.made = 0

    def of(self, filters: LeaderboardFilter) -> list[str]:
        return made_of_rows(self.lists, filters, leaderboard(filters), self._make)

    def _make(self, board: Leaderboard) -> list[str]:
        self.made += 1
        return [row.hub_id for row in board.standings]


def test_what_is_made_of_rows_is_made_once_until_a_figure_changes(benchmark: Benchmark) -> None:
    names, everything = Names(), LeaderboardFilter(benchmark, "accuracy")
    assert [names.of(everything) for _ in range(2)] == [["org/masked", "org/causal"]] * 2
    assert names.made == 1
    make.finished(benchmark, 0.45, make.model("org/late"))
    assert names.of(everything) == ["org/masked", "org/late", "org/causal"]


def test_what_is_made_of_rows_is_renewed_with_a_new_result(benchmark: Benchmark) -> None:
    names, everything = Names(), LeaderboardFilter(benchmark, "accuracy")
    names.of(everything)
    make.finished(benchmark, 0.45, make.model("org/late"))
    assert names.lists.renew() == 1
    assert names.of(everything) == ["org/masked", "org/late", "org/causal"]
    assert names.made == 2


@pytest.mark.parametrize("choice", [{"chosen": {"kind": "causal"}}, {"search": "CAUSAL"}], ids=["facet", "search"])
def test_each_choice_of_rows_has_what_is_made_of_its_own(benchmark: Benchmark, choice: dict[str, Any]) -> None:
    names = Names()
    assert names.of(LeaderboardFilter(benchmark, "accuracy")) == ["org/masked", "org/causal"]
    assert names.of(LeaderboardFilter(benchmark, "accuracy", **choice)) == ["org/causal"]


def test_inside_a_transaction_nothing_that_is_made_of_rows_is_kept(tiny: Benchmark) -> None:
    names, everything = Names(), LeaderboardFilter(tiny, "accuracy")
    make.finished(tiny, 0.5, make.model("org/first"))
    assert names.of(everything) == ["org/first"]
    make.finished(tiny, 0.4, make.model("org/second"))
    assert names.of(everything) == ["org/first", "org/second"]
