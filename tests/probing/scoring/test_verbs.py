"""Verbs beside scoring: both kinds of model fill and embed, and only causal ones write."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import PreTrainedTokenizerFast

from probing.errors import BadInput, TooLong, UnsupportedModel
from probing.scoring.load import load
from probing.scoring.verbs import AnsweringModel
from probing.template import prompt
from tests.probing.scoring.pair_models import LONGEST, byte_level, causal, masked, sentence_piece, word_piece
from tests.tiny_models import build_bert, build_gpt2

BUILDERS = {"causal": build_gpt2, "masked": build_bert}


@pytest.fixture(params=BUILDERS)
def model(request: pytest.FixtureRequest, tmp_path: Path) -> AnsweringModel:
    return load(str(BUILDERS[request.param](tmp_path)), device="cpu")


def test_both_kinds_of_model_fill_and_embed(model: AnsweringModel) -> None:
    (blank,) = model.fill([(prompt("The capital of [X] is [Y].", "Norway"), ["Oslo"])], k=3)
    assert len(blank.tokens) == 3
    assert (np.diff(blank.log_probs) <= 0).all()
    (first, second) = model.embed(["Oslo", "Norway"])
    assert first.shape == second.shape == (model.network.config.hidden_size,)
    assert (model.usage.by_verb["fill"], model.usage.by_verb["embed"]) == (1, 2)


def test_a_masked_model_writes_no_text(tmp_path: Path) -> None:
    model = load(str(build_bert(tmp_path)), device="cpu")
    with pytest.raises(UnsupportedModel, match=r"is a masked model and writes no text\. Choose a causal model"):
        model.generate(["The capital of Norway is"], 3)


def test_a_causal_model_writes_as_many_tokens_as_asked_for(tmp_path: Path) -> None:
    model = load(str(build_gpt2(tmp_path)), device="cpu")
    (continuation,) = model.generate(["The capital of Norway is"], 3)
    assert 1 <= len(continuation.ends) <= 3


PHRASES = ["Lyon", "the Red Sea", "Lyon", "France", "<s>", "Red sea France"]
TEXTS = ["It is Lyon.", "It is France, and it is the Red Sea."]


def without_start() -> PreTrainedTokenizerFast:
    tokenizer = byte_level(TEXTS)
    tokenizer.bos_token = tokenizer.eos_token = None
    return tokenizer


MODELS: dict[str, tuple[Callable, Callable[[], PreTrainedTokenizerFast], int, int]] = {
    # the model, its tokenizer, and the numbers of special tokens before and after a phrase
    "causal": (causal, lambda: byte_level(TEXTS), 1, 0),
    "causal without a start token": (causal, without_start, 0, 0),
    "masked, word pieces": (masked, lambda: word_piece(TEXTS), 1, 1),
    "masked, byte-level": (masked, lambda: byte_level(TEXTS, mask=True), 1, 1),
    "masked, sentence pieces": (masked, lambda: sentence_piece(TEXTS), 1, 1),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_vector_is_the_mean_over_the_phrase_s_own_tokens(name: str) -> None:
    make, tokenizer, before, after = MODELS[name]
    model = make(tokenizer(), batch_tokens=8)
    for phrase, vector in zip(PHRASES, model.embed(PHRASES), strict=True):
        ids = [*model.encoder.start, *model.tokenizer(phrase, add_special_tokens=make is masked).input_ids]
        with torch.inference_mode():
            states = model.network.base_model(input_ids=torch.tensor([ids])).last_hidden_state[0]
        np.testing.assert_allclose(vector, states[before : len(ids) - after].mean(0), atol=1e-5)


def test_a_phrase_that_the_model_cannot_read_is_refused() -> None:
    model = causal(byte_level(TEXTS))
    _, error = model.embed(["Lyon", "Lyon " * LONGEST])
    assert isinstance(error, TooLong) and error.limit == LONGEST
    model.tokenizer.add_tokens(["Atlantis"])
    with pytest.raises(UnsupportedModel, match="tokens that the model does not know"):
        list(model.embed(["Atlantis"]))


@pytest.mark.parametrize("model", [causal(without_start()), masked(word_piece(TEXTS))], ids=["causal", "masked"])
def test_a_phrase_without_tokens_is_refused(model) -> None:
    with pytest.raises(BadInput, match=r"leaves nothing of ''"):
        list(model.embed(["Lyon", ""]))
