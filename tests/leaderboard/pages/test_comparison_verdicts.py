"""What a comparison found in one sentence."""

from dataclasses import replace
from typing import Any

import pytest

from leaderboard.models import Run
from leaderboard.pages.comparison_tables import ComparedRun, Interval, verdict


def rows(difference: float, low: float, high: float, p: float) -> list[dict[str, Any]]:
    overall = {"dimension": "overall", "difference": difference, "low": low, "high": high, "p_holm": p}
    return [overall, *({"dimension": "relation", "difference": value} for value in (0.1, 0.2, -0.1, 0.0))]


def sides(*values: float) -> list[ComparedRun]:
    return [
        ComparedRun(name, name, Run(), Interval(value, None, None))
        for name, value in zip("ABCDE", values, strict=False)
    ]


@pytest.mark.parametrize(
    ("differences", "sentence"),
    [
        (
            rows(0.27, 0.2, 0.34, 0.001),
            "B knows 27 points more than A (95 % interval 20 to 34); ahead in 2 of 4 relations, level in 1.",
        ),
        (
            rows(-0.27, -0.34, -0.2, 0.001),
            "A knows 27 points more than B (95 % interval 20 to 34); ahead in 1 of 4 relations, level in 1.",
        ),
        (
            rows(0.01, -0.02, 0.04, 0.4),
            "No clear difference: B is 1.0 points ahead of A (95 % interval {minus}2.0 to 4.0); "
            "ahead in 2 of 4 relations, level in 1.",
        ),
    ],
)
def test_two_runs_have_their_difference_in_points(differences: list[dict[str, Any]], sentence: str) -> None:
    assert verdict(sides(0.3, 0.5), differences) == sentence.replace("{minus}", "\N{MINUS SIGN}")


def test_runs_with_the_same_figure_are_level() -> None:
    level = verdict(sides(0.4, 0.4), rows(0.0, -0.05, 0.05, 1.0))
    assert level == "No difference: both have 0.400; 95 % interval \N{MINUS SIGN}5.0 to 5.0 points."
    assert verdict(sides(0.4, 0.4, 0.3), rows(0.0, -0.05, 0.05, 1.0)) == "A and B share the highest figure, 0.400."


def test_of_several_runs_the_best_is_named_and_those_that_clearly_differ_from_the_first() -> None:
    runs = [
        replace(run, against_first={"difference": difference, "p_holm": p})
        for run, difference, p in zip(
            sides(0.3, 0.5, 0.4, 0.31, 0.1), (0.0, 0.2, 0.1, 0.01, -0.2), (1, 0.001, 0.001, 0.9, 0.001), strict=True
        )
    ]
    assert verdict([replace(runs[0], against_first=None), *runs[1:]], []) == (
        "B has the highest figure of 5, 0.500. B and C are clearly better than A. E is clearly worse than A. "
        "D is not clearly different from A."
    )
