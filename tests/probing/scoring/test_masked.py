"""Masked scoring: the PLL variants, each distinct masked input computed once, and little padding."""

from typing import Any, get_args

import numpy as np
import pytest

from probing.errors import BadInput
from probing.language_model import PLL, Request, Scoring
from probing.scoring import masked
from probing.scoring.batching import Budget
from probing.scoring.masked import MaskedModel, Predictions
from probing.template import prompt
from tests.probing.scoring import obvious
from tests.probing.scoring.compare import REQUESTS, answers, assert_decided, assert_equal, expected_log_probs
from tests.probing.scoring.networks import HEAD_APART, masked_model
from tests.probing.scoring.stubs import SPECIAL, random_table, right_neighbour, word_pieces

PIECES = ["a", "##b", "b", "c", "d", *(f"w{i}" for i in range(30)), *(f"##{i}" for i in range(10))]
MASK, SEP = SPECIAL.index("[MASK]"), SPECIAL.index("[SEP]")
A, B_PIECE, B, C = (len(SPECIAL) + i for i in range(4))


def stub() -> MaskedModel:
    """Return a model that predicts a token from its right neighbour and has passed its self-check."""
    tokenizer = word_pieces(PIECES)
    model = MaskedModel(right_neighbour(random_table(len(tokenizer))), tokenizer)
    assert model.use_fast_path
    model.network.seen.clear()
    return model


@pytest.mark.parametrize(
    ("pll", "right_neighbours"),
    [
        ("original", [C, A, B_PIECE, C, SEP]),
        ("within_word_l2r", [C, A, MASK, C, SEP]),
        ("sentence_l2r", [MASK, MASK, MASK, MASK, MASK]),
        ("answer_l2r+word_l2r", [C, MASK, MASK, C, SEP]),
        ("whole_answer", [C, MASK, MASK, C, SEP]),
    ],
)
def test_each_variant_masks_the_tokens_of_its_definition(pll: PLL, right_neighbours: list[int]) -> None:
    """The statement is `b [c a##b] c`; each token's right neighbour in the input shows what is masked with it."""
    model = stub()
    log_probs = random_table(len(model.tokenizer)).log_softmax(-1)
    tokens = [B, C, A, B_PIECE, C]
    (scores,) = answers(model, [(prompt("b [Y] c", ""), ["c ab"])], Scoring(pll=pll))
    right = [float(log_probs[neighbour, token]) for neighbour, token in zip(right_neighbours, tokens, strict=True)]
    np.testing.assert_allclose(scores.log_probs[0], right, atol=1e-5)
    assert scores.answers == (slice(1, 4),)


@pytest.mark.parametrize("pll", get_args(PLL))
def test_each_variant_equals_the_obvious_implementation(pll: PLL) -> None:
    model = masked_model(HEAD_APART["bert"])
    expected = expected_log_probs(REQUESTS, obvious.masked(model.network, model.tokenizer, pll))
    assert_equal(answers(model, REQUESTS, Scoring(pll=pll)), expected)
    for best in (1, 3):
        assert_decided(answers(model, REQUESTS, Scoring(pll=pll, decide=best)), expected, best)
    mean = Scoring(pll=pll, decide=1, reduction="mean")
    assert_decided(answers(model, REQUESTS, mean), expected, 1, "mean")


def requests() -> list[Request]:
    """Return prompts of different lengths whose options have one to three pieces."""
    options = ["w1", "w12", "w123", "w2", "w21", "w21 c", "a", "ab"]
    return [(prompt(f"[X] b [Y] d{' c' * i}", f"w{i}"), options) for i in range(6)]


@pytest.mark.parametrize("pll", ["original", "within_word_l2r", "sentence_l2r"])
def test_each_distinct_masked_input_is_computed_once(pll: PLL) -> None:
    model = stub()
    answers(model, requests(), Scoring(pll=pll))
    inputs = [tuple(token for token in row if token != SPECIAL.index("[PAD]")) for row in model.network.seen]
    assert len(inputs) == len(set(inputs))
    other = stub()
    expected_log_probs(requests(), obvious.masked(other.network, other.tokenizer, pll))
    assert set(inputs) == set(map(tuple, other.network.seen))
    assert len(inputs) < len(other.network.seen)


@pytest.mark.parametrize("decide", [0, 1])
def test_the_inputs_of_long_statements_are_held_a_few_statements_at_a_time(
    decide: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A statement has as many inputs as tokens, so that memory would grow with the square of its length."""
    expected, parts, of = answers(stub(), requests(), Scoring(decide=decide)), [], Predictions.of

    def watched(*arguments: Any) -> Predictions:
        parts.append(of(*arguments))
        return parts[-1]

    monkeypatch.setattr(masked, "INPUT_TOKENS_PER_PART", 800)
    monkeypatch.setattr(Predictions, "of", watched)
    actual = answers(stub(), requests(), Scoring(decide=decide))
    assert 1 < len(parts) <= len(requests())
    assert max(predictions.length.sum() for predictions in parts) <= 800
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(one.reduce()[one.exact & other.exact], other.reduce()[one.exact & other.exact])
        assert one.reduce().argmax() == other.reduce().argmax()


def test_there_is_little_padding() -> None:
    model = stub()
    many = [(prompt(f"[X] b [Y] d{' c' * (i % 17)}", f"w{i}"), [f"w{n}" for n in range(30)]) for i in range(30)]
    model.budget = Budget(model.network.device, ceiling=512, fixed=512)
    before = model.usage.positions, model.usage.padding
    answers(model, many)
    positions, padding = model.usage.positions - before[0], model.usage.padding - before[1]
    assert padding < 0.03 * positions


def test_every_statement_counts_once() -> None:
    model = stub()
    before = model.usage.statements
    answers(model, requests())
    assert model.usage.statements - before == pytest.approx(48)


def test_an_option_without_tokens_is_an_error() -> None:
    with pytest.raises(BadInput, match="nothing to score"):
        answers(masked_model(HEAD_APART["bert"]), [(prompt("[Y]", ""), ["Chad", "\u200b"])])


def test_an_early_decision_computes_less() -> None:
    full, decided = stub(), stub()
    answers(full, requests())
    answers(decided, requests(), Scoring(decide=1))
    assert len(decided.network.seen) < len(full.network.seen)
