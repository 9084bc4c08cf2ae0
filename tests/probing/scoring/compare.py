"""Assertions that scores equal those of the obvious implementation, and the requests that most tests score."""

from collections.abc import Sequence

import numpy as np

from probing.language_model import LanguageModel, OptionScores, Request, Scoring
from probing.template import prompt
from tests.probing.scoring.obvious import Score, statements

CLOSE = 1e-3  # largest accepted difference of a statement's sum in float32

CONTINENTS = ["Africa", "Asia", "Europe", "South America", "North America", "Oceania", "South Africa"]
METALS = ["gold", "golden", "Gold", "a liquid", "bromine", "oxygen", "violin"]
REQUESTS: list[Request] = [
    *((prompt("[X] is located in [Y].", subject), CONTINENTS) for subject in ("Chad", "Peru", "the river Danube")),
    *((prompt("[Y] is what [X] is made of.", subject), METALS) for subject in ("a trumpet", "Titan")),
    (prompt("The capital of [X] is [Y], in short.", "Norway"), ["Oslo", "Oslo Oslo", "Nairobi", "Élysée"]),
    (prompt("[X] has one option: [Y]", "it"), ["none"]),
]


def expected_log_probs(requests: Sequence[Request], obvious_score: Score) -> list[list[list[float]]]:
    """Return the log-probability of each token of each option of each request."""
    return [[obvious_score(statement) for statement in statements(request)] for request in requests]


def answers(model: LanguageModel, requests: Sequence[Request], scoring: Scoring = Scoring()) -> list[OptionScores]:  # noqa: B008
    return list(model.score(requests, scoring))


def assert_equal(
    actual: Sequence[OptionScores], expected: Sequence[Sequence[Sequence[float]]], close: float = CLOSE
) -> None:
    """Assert that every token of every option and every prediction is as expected."""
    assert len(actual) == len(expected)
    for scores, options in zip(actual, expected, strict=True):
        assert scores.exact.all()
        assert [len(tokens) for tokens in scores.log_probs] == [len(tokens) for tokens in options]
        sums = np.array([sum(tokens) for tokens in options])
        np.testing.assert_allclose(scores.reduce(), sums, atol=close, rtol=0)
        for tokens, right in zip(scores.log_probs, options, strict=True):
            np.testing.assert_allclose(tokens, right, atol=close, rtol=0)
        assert sums[np.argmax(scores.reduce())] >= sums.max() - close


def assert_decided(
    actual: Sequence[OptionScores], expected: Sequence[Sequence[Sequence[float]]], best: int, reduction: str = "sum"
) -> None:
    """Assert that the `best` options are as expected and exact, and that all other scores are exact or upper bounds."""
    assert len(actual) == len(expected)
    for scores, options in zip(actual, expected, strict=True):
        reduced = scores.reduce("mean" if reduction == "mean" else "sum")
        right = np.array([sum(tokens) / (max(len(tokens), 1) if reduction == "mean" else 1) for tokens in options])
        np.testing.assert_allclose(reduced[scores.exact], right[scores.exact], atol=CLOSE, rtol=0)
        assert (reduced >= right - CLOSE).all()
        # Options whose scores are closer than rounding may change places.
        winners = np.argsort(-reduced, kind="stable")[:best]
        np.testing.assert_allclose(right[winners], np.sort(right)[::-1][:best], atol=CLOSE, rtol=0)
        assert scores.exact[winners].all()
