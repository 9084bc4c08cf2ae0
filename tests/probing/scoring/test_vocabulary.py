"""The words that models have as single tokens."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tokenizers import normalizers
from transformers import PreTrainedTokenizerFast

from probing.scoring.vocabulary import spellings, unified, words
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
def test_words_are_what_stands_in_a_sentence_as_one_token(tokenizer, kind) -> None:
    known = spellings(tokenizer, kind, list(words(tokenizer)))
    assert {"Lyon", "France", "sea"} <= known.keys()
    assert all(word == token for word, token in known.items())
    assert not known.keys() & {"the", "and", "It", ".", ",", "!", tokenizer.eos_token, tokenizer.mask_token}
    assert not known.keys() & {"Lyo", "ranc"}, "pieces of words are no words"


def uncased(texts: list[str]) -> PreTrainedTokenizerFast:
    tokenizer = word_piece([text.lower() for text in texts])
    tokenizer.backend_tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    return tokenizer


@pytest.fixture
def models(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Folders of models with these tokenizers."""

    def save(*tokenizers: PreTrainedTokenizerFast) -> dict[str, str]:
        folders = [tmp_path / str(number) for number in range(len(tokenizers))]
        for folder, tokenizer in zip(folders, tokenizers, strict=True):
            tokenizer.save_pretrained(folder)
            (folder / "config.json").write_text('{"model_type": "bert", "architectures": ["BertForMaskedLM"]}')
            (folder / "model.safetensors").touch()
        return dict.fromkeys(map(str, folders), "")

    return save


def test_the_unified_vocabulary_is_what_all_models_have(models: Callable[..., dict[str, str]]) -> None:
    found = unified(models(word_piece(TEXTS), word_piece(TEXTS[:1])), answers=())
    assert list(found.values()) == [{"Lyon": "Lyon"}] * 2


def test_an_uncased_model_has_a_cased_one_s_words_in_its_own_spelling(models: Callable[..., dict[str, str]]) -> None:
    one, other = unified(models(word_piece(TEXTS), uncased(TEXTS)), answers=()).values()
    assert one["Lyon"] == "Lyon"
    assert other["Lyon"] == "lyon"
    assert one.keys() == other.keys()
    assert "lyon" not in one, "not a token of the cased model"


def test_uncased_models_have_the_answers_as_they_are_written(models: Callable[..., dict[str, str]]) -> None:
    for found in unified(
        models(uncased(TEXTS), uncased(TEXTS[:1])), answers={"Lyon", "France", "The", "Lyon!"}
    ).values():
        assert found == {"Lyon": "lyon", "lyon": "lyon"}
