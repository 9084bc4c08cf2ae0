"""Tests of the check for words that are one token of a tokenizer."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from probing.curation.specificity_pairs import single_token
from probing.errors import BadInput
from tests.tiny_models import byte_level_bpe, word_piece

PIECES = ("<unk>", "▁", "▁Paris", "▁in", "a", "b")
UNIGRAM = models.Unigram([(piece, -float(rank)) for rank, piece in enumerate(PIECES)], unk_id=0)
BPE = models.BPE({piece: rank for rank, piece in enumerate(PIECES)}, [], unk_token="<unk>", ignore_merges=True)
LLAMA = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])


@pytest.mark.parametrize("place", ["", "tokenizer.json"])
def test_a_word_is_checked_as_it_stands_after_a_space(tmp_path: Path, place: str) -> None:
    byte_level_bpe(vocabulary=500).save_pretrained(tmp_path)
    check = single_token(str(tmp_path / place))
    assert check("Peru")
    assert not check("Gloucestershire")


def with_spaces(model: models.Model) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


def with_a_space_of_its_own() -> Tokenizer:
    """Return a tokenizer like Llama's, which does not split the text and puts a space before it."""
    merges = [("▁", "i"), ("▁i", "n"), ("▁", "a"), ("▁a", "b")]
    pieces = ["<unk>", "▁", "i", "n", "a", "b", *("".join(pair) for pair in merges)]
    tokenizer = Tokenizer(models.BPE({piece: rank for rank, piece in enumerate(pieces)}, merges, unk_token="<unk>"))
    tokenizer.normalizer = LLAMA
    return tokenizer


@pytest.mark.parametrize("model", [UNIGRAM, BPE], ids=["unigram", "bpe"])
def test_neither_the_unknown_token_nor_a_separate_space_counts_as_a_word(tmp_path: Path, model: models.Model) -> None:
    with_spaces(model).save(str(tmp_path / "tokenizer.json"))
    check = single_token(str(tmp_path))
    assert check("Paris")
    assert [word for word in ("Łódź", "İzmir", "a", "ab", "Paris a") if check(word)] == []


def test_a_space_that_the_tokenizer_adds_is_not_counted(tmp_path: Path) -> None:
    with_a_space_of_its_own().save(str(tmp_path / "tokenizer.json"))
    check = single_token(str(tmp_path))
    assert check("ab")
    assert not check("ba")


def test_words_unknown_to_wordpiece_are_refused_and_padding_is_not_counted(tmp_path: Path) -> None:
    tokenizer = word_piece(["Peru in"]).backend_tokenizer
    tokenizer.enable_padding(length=16)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    check = single_token(str(tmp_path))
    assert check("Peru")
    assert not check("Łódź")


def test_a_file_that_is_not_a_tokenizer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(BadInput, match="is not a tokenizer"):
        single_token(str(tmp_path))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"has no tokenizer\.json"):
        single_token(str(tmp_path / "empty"))
