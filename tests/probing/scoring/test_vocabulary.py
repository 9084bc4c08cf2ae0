"""Words that models have as single tokens."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import normalizers
from transformers import PreTrainedTokenizerFast

from probing.scoring.vocabulary import single_tokens, token_words, unified
from tests.probing.scoring.pair_models import byte_level, sentence_piece, word_piece

TEXTS = ["It is Lyon.", "It is France, and it is the sea.", "It is x-ray; 1995!"]


@pytest.mark.parametrize(
    ("tokenizer", "kind"),
    [
        (word_piece(TEXTS), "masked"),
        (byte_level(TEXTS, mask=True), "masked"),
        (sentence_piece(TEXTS), "masked"),
        (byte_level(TEXTS), "causal"),
    ],
    ids=["word_piece", "byte_level", "sentence_piece", "causal"],
)
def test_words_are_texts_that_are_one_token_within_a_sentence(tokenizer, kind) -> None:
    tokens = single_tokens(tokenizer, kind, list(token_words(tokenizer)))
    assert {"Lyon", "France", "sea"} <= tokens.keys()
    assert all(word == token for word, token in tokens.items())
    assert not tokens.keys() & {"the", "and", "It", ".", ",", "!", tokenizer.eos_token, tokenizer.mask_token}
    assert not tokens.keys() & {"Lyo", "ranc"}, "pieces of words are not words"


def uncased(texts: list[str]) -> PreTrainedTokenizerFast:
    tokenizer = word_piece([text.lower() for text in texts])
    tokenizer.backend_tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    return tokenizer


@pytest.fixture
def models(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """A function that saves tokenizers as models, and returns these with their commits."""

    def save(*tokenizers: PreTrainedTokenizerFast) -> dict[str, str]:
        folders = [tmp_path / str(number) for number in range(len(tokenizers))]
        for folder, tokenizer in zip(folders, tokenizers, strict=True):
            tokenizer.save_pretrained(folder)
            (folder / "config.json").write_text('{"model_type": "bert", "architectures": ["BertForMaskedLM"]}')
            save_file({"weight": np.zeros(1, np.float32)}, folder / "model.safetensors")
        return dict.fromkeys(map(str, folders), "")

    return save


def test_the_unified_vocabulary_has_the_words_of_all_models(models: Callable[..., dict[str, str]]) -> None:
    vocabularies = unified(models(word_piece(TEXTS), word_piece(TEXTS[:1])), answers=())
    assert list(vocabularies.values()) == [{"Lyon": "Lyon"}] * 2


def test_an_uncased_model_has_a_cased_one_s_words_in_its_own_spelling(models: Callable[..., dict[str, str]]) -> None:
    one, other = unified(models(word_piece(TEXTS), uncased(TEXTS)), answers=()).values()
    assert one["Lyon"] == "Lyon"
    assert other["Lyon"] == "lyon"
    assert one.keys() == other.keys()
    assert "lyon" not in one, "not a token of the cased model"


def test_uncased_models_have_the_answers_in_their_original_case(models: Callable[..., dict[str, str]]) -> None:
    for vocabulary in unified(
        models(uncased(TEXTS), uncased(TEXTS[:1])), answers={"Lyon", "France", "The", "Lyon!"}
    ).values():
        assert vocabulary == {"Lyon": "lyon", "lyon": "lyon"}
