"""Masked scoring: the PLL variants by hand, each masked input once, next to no padding."""

from typing import Any, get_args

import numpy as np
import pytest

from probing.errors import BadInput
from probing.language_model import PLL, Request, Scoring
from probing.scoring import masked
from probing.scoring.batching import Budget
from probing.scoring.masked import Asks, MaskedModel
from probing.template import prompt
from tests.probing.scoring import obvious
from tests.probing.scoring.compare import ASKED, answers, assert_decided, assert_equal, estimate_work
from tests.probing.scoring.networks import HEAD_APART
from tests.probing.scoring.stubs import SPECIAL, random_table, right_neighbour, word_pieces
from tests.tiny_models import word_piece

PIECES = ["a", "##b", "b", "c", "d", *(f"w{i}" for i in range(30)), *(f"##{i}" for i in range(10))]
MASK, SEP = SPECIAL.index("[MASK]"), SPECIAL.index("[SEP]")
A, B_PIECE, B, C = (len(SPECIAL) + i for i in range(4))


def stub() -> MaskedModel:
    """A token by its right neighbour; the self-check is behind it."""
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
def test_each_variant_hides_what_it_says(pll: PLL, right_neighbours: list[int]) -> None:
    """`b [c a##b] c`: what each token sees to its right says which tokens are hidden with it."""
    model = stub()
    log_probs = random_table(len(model.tokenizer)).log_softmax(-1)
    tokens = [B, C, A, B_PIECE, C]
    (scores,) = answers(model, [(prompt("b [Y] c", ""), ["c ab"])], Scoring(pll=pll))
    right = [float(log_probs[neighbour, token]) for neighbour, token in zip(right_neighbours, tokens, strict=True)]
    np.testing.assert_allclose(scores.log_probs[0], right, atol=1e-5)
    assert scores.answers == (slice(1, 4),)


@pytest.mark.parametrize("pll", get_args(PLL))
def test_each_variant_equals_the_obvious_way(pll: PLL) -> None:
    tokenizer = word_piece()
    model = MaskedModel(HEAD_APART["bert"](len(tokenizer)), tokenizer)
    wanted = estimate_work(ASKED, obvious.masked(model.network, tokenizer, pll))
    assert_equal(answers(model, ASKED, Scoring(pll=pll)), wanted)
    for best in (1, 3):
        assert_decided(answers(model, ASKED, Scoring(pll=pll, decide=best)), wanted, best)
    mean = Scoring(pll=pll, decide=1, reduction="mean")
    assert_decided(answers(model, ASKED, mean), wanted, 1, "mean")


def asked() -> list[Request]:
    """Options of one to three pieces, in prompts of different lengths."""
    options = ["w1", "w12", "w123", "w2", "w21", "w21 c", "a", "ab"]
    return [(prompt(f"[X] b [Y] d{' c' * i}", f"w{i}"), options) for i in range(6)]


@pytest.mark.parametrize("pll", ["original", "within_word_l2r", "sentence_l2r"])
def test_each_distinct_masked_input_is_computed_once(pll: PLL) -> None:
    model = stub()
    answers(model, asked(), Scoring(pll=pll))
    found = [tuple(token for token in row if token != SPECIAL.index("[PAD]")) for row in model.network.seen]
    assert len(found) == len(set(found))
    other = stub()
    estimate_work(asked(), obvious.masked(other.network, other.tokenizer, pll))
    assert set(found) == set(map(tuple, other.network.seen))
    assert len(found) < len(other.network.seen)


@pytest.mark.parametrize("decide", [0, 1])
def test_long_statements_are_taken_a_few_at_a_time(decide: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their inputs are as many as they have tokens: memory would grow with the square."""
    wanted, held, of = answers(stub(), asked(), Scoring(decide=decide)), [], Asks.of

    def watched(*given: Any) -> Asks:
        held.append(of(*given))
        return held[-1]

    monkeypatch.setattr(masked, "WINDOW", 800)
    monkeypatch.setattr(Asks, "of", watched)
    found = answers(stub(), asked(), Scoring(decide=decide))
    assert 1 < len(held) <= len(asked())
    assert max(asks.length.sum() for asks in held) <= 800
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one.reduce()[one.exact & other.exact], other.reduce()[one.exact & other.exact])
        assert one.reduce().argmax() == other.reduce().argmax()


def test_padding_is_next_to_nothing() -> None:
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
    answers(model, asked())
    assert model.usage.statements - before == pytest.approx(48)


def test_an_option_of_which_nothing_is_left_is_an_error() -> None:
    tokenizer = word_piece()
    model = MaskedModel(HEAD_APART["bert"](len(tokenizer)), tokenizer)
    with pytest.raises(BadInput, match="nothing to score"):
        answers(model, [(prompt("[Y]", ""), ["Chad", "\u200b"])])


def test_deciding_computes_less() -> None:
    full, decided = stub(), stub()
    answers(full, asked())
    answers(decided, asked(), Scoring(decide=1))
    assert len(decided.network.seen) < len(full.network.seen)
