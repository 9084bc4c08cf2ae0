"""How numbers, scores and other values are written."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from leaderboard.models import Score
from leaderboard.ui import spelled
from leaderboard.ui.spelled import interval_note, number, parameters, power_of_ten, stored, uncertainty

# A function, a value, and how it is written, by the rule that they follow.
VALUES: dict[str, list[tuple[Callable[[Any], str], Any, str]]] = {
    "parameters have three digits and a unit": [
        (parameters, 6_700_000_000_000, "6.7 T"),
        (parameters, 6_700_000_000, "6.7 B"),
        (parameters, 999_600_000, "1 B"),
        (parameters, 134_515_008, "135 M"),
        (parameters, 4_385, "4.38 K"),
        (parameters, 999, "999"),
    ],
    "a score never looks like a zero that it is not": [
        (spelled.figure, 0.6234, "0.623"),
        (spelled.figure, 0.0, "0.000"),
        (spelled.figure, 6e-21, "6 × 10⁻²¹"),
        (spelled.figure, -3e-5, "−3 × 10⁻⁵"),
    ],
    "a p-value has the digits that papers print": [
        (power_of_ten, 5.98e-4, "5.98 × 10⁻⁴"),
        (power_of_ten, -0.015, "−1.50 × 10⁻²"),
        (power_of_ten, 0.0, "0.00 × 10⁰"),
        (spelled.p_value, 5.984e-4, "5.98 × 10⁻⁴"),
        (spelled.p_value, 0.0, "< 0.001"),
        (spelled.p_value, 0.001, "0.001"),
        (spelled.p_value, 0.25, "0.250"),
    ],
    "a negative number has a minus sign, and a difference its sign": [
        (number, -1.5, "−1.500"),
        (spelled.figure, -1.5, "−1.500"),
        (spelled.signed, -1.5, "−1.500"),
        (spelled.signed, 0.25, "+0.250"),
        (spelled.signed, 0.0, "+0.000"),
    ],
    "a number of items has a fraction only where it is one, and is unknown where nobody states it": [
        (spelled.items, 1226.0, "1,226"),
        (spelled.items, 2028.5, "2,028.5"),
        (spelled.items, 0, "–"),
    ],
    "a float is rounded and an integer is not": [
        (number, 12_345, "12,345"),
        (number, 12_345.6789, "12,345.679"),
        (number, -0.0, "0.000"),
    ],
    "a missing value is a dash": [
        *((function, None, "–") for function in (number, spelled.items, spelled.signed, parameters, stored)),
    ],
    "a stored value of any type has a text": [
        (stored, "Paris", "Paris"),
        (stored, 3, "3"),
        (stored, 1234.5678, "1,234.57"),
        (stored, [True, False], "yes; no"),
        (stored, ["Paris", "Rome"], "Paris; Rome"),
        (stored, [0.123456, 2], "0.12; 2"),
        (stored, [], ""),
    ],
}


def test_values_are_written_by_their_rules(subtests: pytest.Subtests) -> None:
    for rule, cases in VALUES.items():
        with subtests.test(rule):
            assert [function(value) for function, value, _ in cases] == [text for *_, text in cases]


def test_the_interval_that_is_clustered_by_relation_is_named_beside_the_other() -> None:
    row = Score(value=0.25, n=12, low=0.2, high=0.3, cluster_low=0.1, cluster_high=0.5)
    expected = "95 % interval 0.200 to 0.300 on these relations, 0.100 to 0.500 on other relations like these"
    assert spelled.score_note(row) == expected
    assert spelled.score_note(Score(value=0.25, n=12, low=0.2, high=0.3)) == "95 % interval 0.200 to 0.300"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(20, "under a minute"), (97, "1.5 min"), (300, "5 min"), (610, "10 min"), (5400, "1.5 h"), (216000, "2.5 days")],
)
def test_a_time_to_wait_is_rounded(seconds: int, text: str) -> None:
    assert spelled.approximate_time(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize(
    ("figures", "text", "note"),
    [
        ((0.439, 0.412, 0.466), "± 0.027", "95 % interval 0.412 to 0.466"),
        ((0.439, None, None), "", ""),
        ((-0.1, -0.2, 0.1), "(−0.200 to 0.100)", "95 % interval −0.200 to 0.100"),
        ((0.0, 0.0, 0.354), "(0.000 to 0.354)", "95 % interval 0.000 to 0.354"),
        ((0.997, 0.94, 1.0), "(0.940 to 1.000)", "95 % interval 0.940 to 1.000"),
    ],
)
def test_an_interval_has_two_ends_where_it_is_skewed(figures: Any, text: str, note: str) -> None:
    assert (uncertainty(*figures), interval_note(*figures[1:])) == (text, note)
