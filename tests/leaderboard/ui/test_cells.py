"""How values look on a page, and what CSV gets for them."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from leaderboard.models import Run, Score
from leaderboard.ui import cells

# What CSV gets, and what a page shows, by the rule that they follow.
VALUES: dict[str, list[tuple[cells.Cell, cells.Raw, str]]] = {
    "parameters have three digits and a unit": [
        (cells.parameters(6_700_000_000_000), 6_700_000_000_000, "6.7 T"),
        (cells.parameters(6_700_000_000), 6_700_000_000, "6.7 B"),
        (cells.parameters(999_600_000), 999_600_000, "1 B"),
        (cells.parameters(134_515_008), 134_515_008, "135 M"),
        (cells.parameters(4_385), 4_385, "4.38 K"),
        (cells.parameters(999), 999, "999"),
    ],
    "a score never looks like a zero that it is not": [
        (cells.score(0.6234), 0.6234, "0.623"),
        (cells.score(0.0), 0.0, "0.000"),
        (cells.score(6e-21), 6e-21, "6 × 10⁻²¹"),
        (cells.score(-3e-5), -3e-5, "−3 × 10⁻⁵"),
        (cells.score(None), None, "not measured"),
    ],
    "a p-value has the digits that papers print": [
        (cells.power(5.98e-4), 5.98e-4, "5.98 × 10⁻⁴"),
        (cells.power(-0.015, "+"), -0.015, "−1.50 × 10⁻²"),
        (cells.power(0.015, "+"), 0.015, "+1.50 × 10⁻²"),
        (cells.power(0.0), 0.0, "0.00 × 10⁰"),
        (cells.power(None), None, "–"),
    ],
    "a negative number has a minus sign, and a difference its sign": [
        (cells.number(-1.5), -1.5, "−1.500"),
        (cells.score(-1.5), -1.5, "−1.500"),
        (cells.signed(-1.5), -1.5, "−1.500"),
        (cells.bound(-1.5), -1.5, "−1.500"),
        (cells.signed(0.25), 0.25, "+0.250"),
        (cells.signed(0.0), 0.0, "+0.000"),
    ],
    "a number of items has a fraction only where it is one, and is unknown where nobody states it": [
        (cells.items(1226.0), 1226.0, "1,226"),
        (cells.items(2028.5), 2028.5, "2,028.5"),
        (cells.items(0), None, "–"),
    ],
    "a float is rounded and an integer is not": [
        (cells.number(12_345, 3), 12_345, "12,345"),
        (cells.number(12_345.6789, 3), 12_345.6789, "12,345.679"),
        (cells.number(0.5, 1), 0.5, "0.5"),
    ],
    "a small p-value is shown as a bound": [
        (cells.p_value(5.984e-4), 5.984e-4, "5.98 × 10⁻⁴"),
        (cells.p_value(0.0), 0.0, "< 0.001"),
        (cells.p_value(0.001), 0.001, "0.001"),
        (cells.p_value(0.25), 0.25, "0.250"),
    ],
    "an answer is yes or no on a page and true or false in CSV": [
        (cells.yes_no(True), True, "yes"),
        (cells.yes_no(False), False, "no"),
    ],
    "a missing value is a dash and empty in CSV": [
        *((cell(None), None, "–") for cell in (cells.number, cells.items, cells.signed, cells.bound)),
        *((cell(None), None, "–") for cell in (cells.parameters, cells.day)),
        *((cell(None), None, "–") for cell in (cells.yes_no, cells.stored)),
    ],
    "a stored value of any type has a cell": [
        (cells.stored("Paris"), "Paris", "Paris"),
        (cells.stored(3), 3, "3"),
        (cells.stored(1234.5678), 1234.5678, "1,234.57"),
        (cells.stored(True), True, "yes"),
        (cells.stored([True, False]), "true; false", "yes; no"),
        (cells.stored(["Paris", "Rome"]), "Paris; Rome", "Paris; Rome"),
        (cells.stored([0.123456, 2]), "0.123456; 2", "0.12; 2"),
        (cells.stored([]), "", ""),
    ],
}


def test_values_have_their_text_on_a_page_and_their_value_in_csv(subtests: pytest.Subtests) -> None:
    for rule, cases in VALUES.items():
        with subtests.test(rule):
            assert [(cell.value, cell.text) for cell, _, _ in cases] == [(csv, text) for _, csv, text in cases]


def test_a_score_draws_its_interval_and_chance_in_percent_of_the_line_unless_it_is_beyond_0_to_1() -> None:
    cell = cells.score(0.5, 0.25, 0.75)
    assert (cell.bar, cell.note) == (cells.Bar(50, 25, 75), "95 % interval 0.250 to 0.750")
    assert cells.score(0.5, 0.25, 0.75, 0.2).bar == cells.Bar(50, 25, 75, chance=20)
    assert (cells.score(0.5).bar, cells.score(0.5).note) == (cells.Bar(50), "")
    assert [cells.score(value).bar for value in (3.2, -0.1)] == [None, None]


@pytest.mark.parametrize(
    ("score", "text", "note"),
    [
        (None, "not measured", ""),
        (Score(value=None, n=0), "no countable questions", ""),
        (Score(value=None, n=12), "no mean", "A part of this mean has no countable questions."),
        (Score(value=0.25, n=12, low=0.2, high=0.3), "0.250", "95 % interval 0.200 to 0.300"),
    ],
)
def test_a_stored_score_without_a_value_names_what_is_missing(score: Score | None, text: str, note: str) -> None:
    cell = cells.of_score(score)
    assert (cell.text, cell.note) == (text, note)
    assert cell.value == (score and score.value)
    assert cell.kind == ("missing" if cell.value is None else "score")


def test_the_clustered_interval_is_in_the_tooltip_and_read_out() -> None:
    row = Score(value=0.25, n=12, low=0.2, high=0.3, cluster_low=0.1, cluster_high=0.5)
    cell = cells.of_score(row)
    expected = "95 % interval 0.200 to 0.300 on these relations, 0.100 to 0.500 on other relations like these"
    assert (cell.note, cell.spoken) == (expected, expected)
    assert cells.of_score(Score(value=0.25, n=12, low=0.2, high=0.3)).spoken == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(20, "under a minute"), (97, "1.5 min"), (300, "5 min"), (610, "10 min"), (5400, "1.5 h"), (216000, "2.5 days")],
)
def test_a_time_to_wait_is_rounded(seconds: int, text: str) -> None:
    assert cells.approximate_time(timedelta(seconds=seconds)) == text


def test_a_share_has_a_bar_as_long_as_it() -> None:
    assert (cells.share(0.25).text, cells.share(0.25).bar) == ("0.250", cells.Bar(25, 0, 25))


@pytest.mark.parametrize(
    ("cell", "text", "uncertainty", "note"),
    [
        (cells.score(0.439, 0.412, 0.466), "0.439", "± 0.027", "95 % interval 0.412 to 0.466"),
        (cells.score(0.439), "0.439", "", ""),
        (cells.signed(-0.1, low=-0.2, high=0.1), "−0.100", "(−0.200 to 0.100)", "95 % interval −0.200 to 0.100"),
        (cells.score(0.0, 0.0, 0.354), "0.000", "(0.000 to 0.354)", "95 % interval 0.000 to 0.354"),
        (cells.score(0.997, 0.94, 1.0), "0.997", "(0.940 to 1.000)", "95 % interval 0.940 to 1.000"),
        (cells.signed(0.1), "+0.100", "", ""),
    ],
)
def test_an_interval_stands_behind_the_value_with_two_ends_where_it_is_skewed(
    cell: cells.Cell, text: str, uncertainty: str, note: str
) -> None:
    assert (cell.text, cell.uncertainty, cell.note) == (text, uncertainty, note)


@pytest.mark.parametrize(
    ("provenance", "mark", "word"),
    [
        ("measured", "measured", "measured here"),
        ("published", "published", "published"),
        ("elsewhere", "elsewhere", "measured elsewhere"),
        ("baseline", "", ""),
    ],
)
def test_a_score_is_marked_with_where_it_comes_from(provenance: str, mark: str, word: str) -> None:
    cell = cells.of_run(cells.score(0.5), Run(provenance=provenance))
    assert (cell.mark, cell.mark_word) == (mark, word)


def test_the_tooltip_of_a_text_that_may_be_cut_has_all_of_it() -> None:
    long = "a" * (cells.LONGEST + 1)
    assert [cells.text(value).tooltip for value in ("short", long)] == ["", long]
    assert cells.text(long, note="why").tooltip == "why"


def test_stored_text_keeps_its_language() -> None:
    assert [cells.stored(value, "ar").lang for value in ("باريس", ["باريس"])] == ["ar", "ar"]


def test_several_names_are_a_list_on_a_page_and_one_text_in_csv() -> None:
    cell = cells.several([("Paris", "0.6"), ("Rome", "0.3")], lang="fr")
    assert (cell.value, cell.several) == ("Paris (0.6); Rome (0.3)", (("Paris", "0.6"), ("Rome", "0.3")))


def test_days_are_local() -> None:
    with timezone.override("Asia/Tokyo"):
        time = datetime(2026, 1, 31, 23, 30, 15, tzinfo=UTC)
        assert (cells.day(time).value, cells.day(time).text) == ("2026-02-01", "2026-02-01")
