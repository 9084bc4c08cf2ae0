"""What a model knows best and least: only of enough questions, and best only what is clearly above chance."""

import pytest

from leaderboard.models import Score
from leaderboard.pages.model_sections import KnownGroup, extremes


def group(name: str, value: float, n: float, low: float, high: float, chance: float = 0.25) -> KnownGroup:
    score = Score(metric="accuracy", dimension="domain", group=name, value=value, n=n, low=low, high=high)
    return KnownGroup(name, name, "", score, chance, None)


@pytest.mark.parametrize(
    ("groups", "best", "least"),
    [
        (
            [group("Few", 1.0, 6, 0.6, 1.0), group("Arts", 0.7, 50, 0.5, 0.8), group("Sport", 0.2, 50, 0.1, 0.3)],
            ["Arts"],
            ["Sport"],
        ),
        ([group("Arts", 0.3, 50, 0.2, 0.4), group("Sport", 0.2, 50, 0.1, 0.3)], [], ["Sport"]),
        ([group("Arts", 0.7, 50, 0.5, 0.8), group("Few", 0.0, 3, 0.0, 0.5)], [], []),
    ],
)
def test_superlatives_rest_on_enough_questions(groups: list[KnownGroup], best: list[str], least: list[str]) -> None:
    named_best, named_least = extremes(groups)
    assert [one.name for one in named_best] == best
    assert [one.name for one in named_least] == least


def test_an_interval_stands_beside_each() -> None:
    assert group("Arts", 0.7, 50, 0.562, 0.809).interval == "0.56 to 0.81"
