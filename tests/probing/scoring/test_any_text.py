"""Scores equal those of the obvious implementation for any text, tokenizer, size of windows and size of batches."""

from collections.abc import Callable
from functools import cache
from itertools import chain, product

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

from probing.language_model import PLL, OptionScores, Request, Scoring
from probing.scoring.causal import CausalModel
from probing.scoring.hf_model import HFModel
from probing.scoring.masked import MaskedModel
from probing.scoring.tokens import windows
from probing.template import prompt
from tests.probing.scoring import obvious
from tests.probing.scoring.compare import assert_decided, assert_equal, expected_log_probs
from tests.probing.scoring.networks import HEAD_APART, SHARING, causal_model, masked_model
from tests.probing.scoring.obvious import Score, statements
from tests.tiny_models import byte_level_bpe, metaspace_unigram, word_piece

TOKENIZERS: dict[str, Callable[[], PreTrainedTokenizerFast]] = {
    "byte-level BPE": lambda: byte_level_bpe(),
    "byte-level BPE with a start token": lambda: byte_level_bpe(start="<s>"),
    "Unigram with Metaspace": metaspace_unigram,
    "WordPiece": word_piece,
}
# Two tokenizers are the quick test: one of bytes with a start token, one of words.
WITH_TOKENIZER = pytest.mark.parametrize(
    "tokenizer",
    [
        pytest.param(name, marks=pytest.mark.slow if name in ("byte-level BPE", "Unigram with Metaspace") else ())
        for name in TOKENIZERS
    ],
)
LABELS = (
    "Africa,South America,a,A,is,the capital,Oslo Oslo,Élysée,ß,ßa,ŉ,ﬁ,ǆ,İ,القاهرة,مصر,ﷺ,서울,대한민국,東京,"
    "e\u0301,\u0301,🎻,👩\u200d🔬,🇳🇴,I.,-,“x”,don't,1,10,100,1.5,\u00a0x,x\u00a0y,a  b,\tz,[Z],<b>"
)
WORDS = st.one_of(
    st.sampled_from(LABELS.split(",")),
    st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=4),
).filter(lambda text: text.strip() and not {"[X]", "[Y]"} & {text})
PIECES = st.sampled_from(
    ["[X] is [Y].", "[Y] is [X].", "[X] [Y]", "[Y]", "[X] and [Y] are one", "[Y]: [X]!", "([Y]) [X]", "x[Y]y"]
)
OPTIONS = st.lists(WORDS, min_size=1, max_size=4).flatmap(
    lambda words: st.sampled_from(
        [words, [*words, f"{words[0]} {words[-1]}"], [*words, words[0]], [*words, words[0].upper(), words[0].lower()]]
    )
)
REQUESTS = st.lists(st.tuples(st.builds(prompt, PIECES, WORDS), OPTIONS), min_size=1, max_size=3)
SCORING = st.builds(Scoring, decide=st.integers(0, 3), reduction=st.sampled_from(["sum", "mean"]))
PLLS = st.sampled_from(["within_word_l2r", "original", "sentence_l2r", "answer_l2r+word_l2r"])
SOME = settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])


@cache
def causal(tokenizer: str) -> CausalModel:
    return causal_model(SHARING["llama"], tokenizer=TOKENIZERS[tokenizer](), batch_tokens=256)


@cache
def masked(tokenizer: str) -> MaskedModel:
    instance = TOKENIZERS[tokenizer]()
    if instance.mask_token is None:
        instance.add_special_tokens({"mask_token": "<|mask|>"})
    return masked_model(HEAD_APART["bert"], tokenizer=instance, batch_tokens=256)


def scored_in_windows(model: HFModel, requests: list[Request], scoring: Scoring, size: int) -> list[OptionScores]:
    parts = list(windows(requests, model.encoder, model.blank, size=size))
    assume(all(statement.scored for part in parts for statement in part.statements))  # else an error, tested elsewhere
    return list(chain.from_iterable(model._score_window(part, scoring) for part in parts))


def assert_right(actual: list[OptionScores], requests: list[Request], scoring: Scoring, score: Score) -> None:
    expected = expected_log_probs(requests, score)
    if scoring.decide == 0:
        assert_equal(actual, expected)
    else:
        assert_decided(actual, expected, scoring.decide, scoring.reduction)


@pytest.mark.slow
@WITH_TOKENIZER
@SOME
@given(REQUESTS, SCORING, st.integers(1, 9), st.integers(1, 300))
@example([(prompt("([Y]) [X]", "ß"), ["Africa", "ß", "0:"])], Scoring(decide=1, reduction="mean"), 1, 1)  # nearly tied
def test_a_causal_model_scores_any_text(
    tokenizer: str, requests: list[Request], scoring: Scoring, window: int, batch: int
) -> None:
    model = causal(tokenizer)
    model.budget.tokens = batch
    actual = scored_in_windows(model, requests, scoring, window)
    assert_right(actual, requests, scoring, obvious.causal(model.network, model.tokenizer))


@pytest.mark.slow
@WITH_TOKENIZER
@SOME
@given(REQUESTS, SCORING, PLLS, st.integers(1, 9), st.integers(1, 300))
def test_a_masked_model_scores_any_text(
    tokenizer: str, requests: list[Request], scoring: Scoring, pll: PLL, window: int, batch: int
) -> None:
    model = masked(tokenizer)
    model.budget.tokens = batch
    actual = scored_in_windows(model, requests, Scoring(pll, scoring.reduction, scoring.decide), window)
    assert_right(actual, requests, scoring, obvious.masked(model.network, model.tokenizer, pll))


@pytest.mark.parametrize(("tokenizer", "special"), list(product(TOKENIZERS, [False, True])))
@SOME
@given(REQUESTS)
def test_the_answer_is_the_tokens_of_its_characters(tokenizer: str, special: bool, requests: list[Request]) -> None:
    """The answer is exactly those tokens that hold a character of the option."""
    model: HFModel = masked(tokenizer) if special else causal(tokenizer)
    shift = len(model.encoder.start)
    for statement in chain.from_iterable(map(statements, requests)):
        (encoded,) = model.encoder.encode([statement])
        whole = model.tokenizer(statement.text, add_special_tokens=special, return_offsets_mapping=True)
        offsets = [(0, 0)] * shift + whole["offset_mapping"]
        inside = [i for i, (first, last) in enumerate(offsets) if first < statement.end and last > statement.start]
        assert list(encoded.scored[encoded.answer]) == [i for i in inside if i in encoded.scored]
        nothing_before = set() if special or shift else {0}
        assert set(inside) <= {*encoded.scored, *nothing_before}
