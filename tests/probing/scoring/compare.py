"""What "the scores are right" means, said once."""

from collections.abc import Sequence

import numpy as np

from probing.language_model import LanguageModel, OptionScores, Request, Scoring
from probing.template import prompt
from tests.probing.scoring.obvious import Score, statements

CLOSE = 1e-3  # of a statement's sum, float32

CONTINENTS = ["Africa", "Asia", "Europe", "South America", "North America", "Oceania", "South Africa"]
METALS = ["gold", "golden", "Gold", "a liquid", "bromine", "oxygen", "violin"]
ASKED: list[Request] = [
    *((prompt("[X] is located in [Y].", subject), CONTINENTS) for subject in ("Chad", "Peru", "the river Danube")),
    *((prompt("[Y] is what [X] is made of.", subject), METALS) for subject in ("a trumpet", "Titan")),
    (prompt("The capital of [X] is [Y], in short.", "Norway"), ["Oslo", "Oslo Oslo", "Nairobi", "Élysée"]),
    (prompt("[X] has one option: [Y]", "it"), ["none"]),
]


def estimate_work(asked: Sequence[Request], reference: Score) -> list[list[list[float]]]:
    """For each prompt, for each option, the log-probability of each token."""
    return [[reference(statement) for statement in statements(each)] for each in asked]


def answers(model: LanguageModel, asked: Sequence[Request], scoring: Scoring = Scoring()) -> list[OptionScores]:  # noqa: B008
    return list(model.score(asked, scoring))


def assert_equal(
    found: Sequence[OptionScores], wanted: Sequence[Sequence[Sequence[float]]], close: float = CLOSE
) -> None:
    """Every token of every option, and the predictions."""
    assert len(found) == len(wanted)
    for scores, options in zip(found, wanted, strict=True):
        assert scores.exact.all()
        assert [len(tokens) for tokens in scores.log_probs] == [len(tokens) for tokens in options]
        sums = np.array([sum(tokens) for tokens in options])
        np.testing.assert_allclose(scores.reduce(), sums, atol=close, rtol=0)
        for tokens, right in zip(scores.log_probs, options, strict=True):
            np.testing.assert_allclose(tokens, right, atol=close, rtol=0)
        assert np.argmax(scores.reduce()) == np.argmax(sums)


def assert_decided(
    found: Sequence[OptionScores], wanted: Sequence[Sequence[Sequence[float]]], best: int, reduction: str = "sum"
) -> None:
    """The `best` options are exact and in place; exact scores are equal, the others are upper bounds."""
    assert len(found) == len(wanted)
    for scores, options in zip(found, wanted, strict=True):
        reduced = scores.reduce("mean" if reduction == "mean" else "sum")
        right = np.array([sum(tokens) / (max(len(tokens), 1) if reduction == "mean" else 1) for tokens in options])
        np.testing.assert_allclose(reduced[scores.exact], right[scores.exact], atol=CLOSE, rtol=0)
        assert (reduced >= right - CLOSE).all()
        winners = np.argsort(-right, kind="stable")[:best]
        assert np.argsort(-reduced, kind="stable")[:best].tolist() == winners.tolist()
        assert scores.exact[winners].all()
