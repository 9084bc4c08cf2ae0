"""CSV: safe in a spreadsheet, exact in a program."""

import pytest

from leaderboard.display.exports import csv_lines, safe


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx"])
def test_a_formula_becomes_text(text: str) -> None:
    assert safe(text) == f"'{text}"


def test_a_negative_figure_stays_a_figure() -> None:
    assert safe(-0.5) == -0.5


def test_a_missing_value_is_empty_and_figures_are_in_full() -> None:
    assert list(csv_lines(["a", "b"], [[None, 0.1234567890123456]])) == ["a,b\n", ",0.1234567890123456\n"]
