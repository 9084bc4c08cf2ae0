"""Rows of a leaderboard: the places that intervals allow, and the scores of a row."""

import pytest

from leaderboard.figures.scores import OVERALL_SLICE, Slice
from leaderboard.figures.standings import Standing, place_by_intervals
from leaderboard.models import Run, Score


def score(value: float | None, low: float | None = None, high: float | None = None) -> Score:
    return Score(metric="accuracy", dimension="overall", group="all", value=value, n=100, low=low, high=high)


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
    overall, spread = score(0.5), score(0.02)
    scores = {"accuracy": {OVERALL_SLICE: overall}, "accuracy_sem": {OVERALL_SLICE: spread}}
    row = Standing(Run(), "accuracy", scores)
    assert (row.main, row.spread, row.value("accuracy"), row.value("p_at_1")) == (overall, 0.02, 0.5, None)
    assert row.score("accuracy", Slice("domain", "Arts")) is None
