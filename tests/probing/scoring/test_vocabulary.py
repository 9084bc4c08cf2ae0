"""The words that models have as single tokens."""

from pathlib import Path

import pytest

from probing.scoring.vocabulary import unified, words
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
    known = words(tokenizer, kind)
    assert {"Lyon", "France", "sea"} <= known
    assert not known & {"the", "and", "It", ".", ",", "!", tokenizer.eos_token, tokenizer.mask_token}
    assert not known & {"Lyo", "ranc"}, "pieces of words are no words"


def test_the_unified_vocabulary_is_what_all_models_have(tmp_path: Path) -> None:
    for name, texts in (("one", TEXTS), ("other", TEXTS[:1])):
        word_piece(texts).save_pretrained(tmp_path / name)
        (tmp_path / name / "config.json").write_text('{"model_type": "bert", "architectures": ["BertForMaskedLM"]}')
        (tmp_path / name / "model.safetensors").touch()
    assert unified({str(tmp_path / name): "" for name in ("one", "other")}) == {"Lyon"}
