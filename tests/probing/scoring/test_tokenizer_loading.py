"""Tokenizers that a model of its kind cannot be scored with."""

from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerFast

from probing.errors import NoFastTokenizer, UnsupportedModel
from probing.scoring.load import load
from tests.tiny_models import byte_level_bpe


def test_a_masked_model_without_a_mask_token_is_unsupported(bert: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (bert / name).unlink()
    byte_level_bpe().save_pretrained(bert)
    with pytest.raises(UnsupportedModel, match="no mask token"):
        load(str(bert), device="cpu")


def test_a_tokenizer_that_is_not_fast_is_unsupported(gpt2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PreTrainedTokenizerFast, "is_fast", False)
    with pytest.raises(NoFastTokenizer, match="is not a fast one"):
        load(str(gpt2), device="cpu")
