import json
from pathlib import Path
from typing import Any

import gguf
import pytest
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from probing.errors import BrokenTokenizer
from probing.scoring.gguf_tokens import UNNAMED_NOTE, follow_gguf
from tests.tiny_models import byte_level_bpe, metaspace_unigram

CONTROL, ORDINARY = 3, 1
MORE = ["In 2024 and 1999, 12345 of 67890 sailed; 20 24 19 99 2024 1999 12345."] * 9


def byte_level_file(folder: Path, **keys: Any) -> Path:
    """Write the tokenizer of a GGUF file of byte pairs, in which digits are merged, without weights."""
    model = json.loads(merging_digits().to_str())["model"]
    merges = [" ".join(pair) for pair in model["merges"]]
    return written(folder, sorted(model["vocab"], key=model["vocab"].__getitem__), model="gpt2", merges=merges, **keys)


def merging_digits() -> Tokenizer:
    return byte_level_bpe(sentences=MORE).backend_tokenizer


def sentencepiece_file(folder: Path, **keys: Any) -> Path:
    """Write the tokenizer of a GGUF file of scored pieces, without weights."""
    pieces = json.loads(metaspace_unigram().backend_tokenizer.to_str())["model"]["vocab"]
    tokens, scores = zip(*pieces, strict=True)
    return written(folder, list(tokens), model="llama", scores=list(scores), **keys)


def written(folder: Path, tokens: list[str], **keys: Any) -> Path:
    path = folder / "model.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    for name in ("context_length", "embedding_length", "block_count", "feed_forward_length", "head_count"):
        getattr(writer, f"add_{name}")(8)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_token_list(tokens)
    writer.add_token_types([CONTROL if token.startswith("<|") else ORDINARY for token in tokens])
    for key, value in keys.items():
        name = f"tokenizer.ggml.{key}"
        add = {str: writer.add_string, bool: writer.add_bool, list: writer.add_array}[type(value)]
        add(name, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def followed(path: Path) -> tuple[Any, list[str]]:
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name, local_files_only=True)
    return tokenizer, follow_gguf("here", tokenizer, path)


def ids(tokenizer: Any, text: str) -> list[int]:
    found: list[int] = tokenizer(text, add_special_tokens=False).input_ids
    return found


@pytest.mark.parametrize(("pre", "expected"), [("gpt-2", "Ġ2024 Ġ1999"), ("smollm", "Ġ 2 0 2 4 Ġ 1 9 9 9")])
def test_digits_are_single_tokens_where_the_pre_tokenizer_says_so(tmp_path: Path, pre: str, expected: str) -> None:
    tokenizer, notes = followed(byte_level_file(tmp_path, pre=pre))
    assert tokenizer.convert_ids_to_tokens(ids(tokenizer, " 2024 1999")) == expected.split()
    assert notes == []


def test_a_split_that_transformers_knows_is_kept(tmp_path: Path) -> None:
    """Three digits at a time, and the space apart from them."""
    tokenizer, _ = followed(byte_level_file(tmp_path, pre="llama-bpe"))
    pieces = tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str("in 20245")
    assert [piece for piece, _ in pieces] == ["in", "Ġ", "202", "45"]


@pytest.mark.parametrize(("pre", "whole"), [("llama-bpe", True), ("gpt-2", False)])
def test_a_piece_that_is_a_token_is_taken_whole_where_llama_cpp_does(tmp_path: Path, pre: str, whole: bool) -> None:
    model = json.loads(merging_digits().to_str())["model"]
    tokens = [*sorted(model["vocab"], key=model["vocab"].__getitem__), "Kazan"]  # to which no merges lead
    path = written(tmp_path, tokens, model="gpt2", merges=[" ".join(pair) for pair in model["merges"]], pre=pre)
    tokenizer, _ = followed(path)
    assert (ids(tokenizer, "Kazan") == [len(tokens) - 1]) == whole


@pytest.mark.parametrize("keys", [{}, {"pre": "default"}])
def test_a_pre_tokenizer_without_a_name_is_noted(tmp_path: Path, keys: dict[str, str]) -> None:
    assert followed(byte_level_file(tmp_path, **keys))[1] == [UNNAMED_NOTE]


@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize(
    ("write", "mark"), [(byte_level_file, "Ġ"), (sentencepiece_file, "▁")], ids=["bytes", "sentencepiece"]
)
def test_the_space_before_a_text_is_that_of_the_file(tmp_path: Path, write: Any, mark: str, wanted: bool) -> None:
    tokenizer, _ = followed(write(tmp_path, add_space_prefix=wanted))
    (first, *_) = tokenizer.convert_ids_to_tokens(ids(tokenizer, "Norway"))
    assert first.startswith(mark) == wanted
    assert (ids(tokenizer, " Norway") == ids(tokenizer, "Norway")) == wanted


REFUSED = {
    "a pre-tokenizer that nothing here makes": (byte_level_file, {"pre": "deepseek-llm"}, "the pre 'deepseek-llm', wh"),
    "one of bytes for scored pieces": (sentencepiece_file, {"pre": "llama-bpe"}, "the pre 'llama-bpe', which"),
    "spaces that are removed": (
        byte_level_file,
        {"pre": "gpt-2", "remove_extra_whitespaces": True},
        "the remove_extra_whitespaces 'True', which its tokenizer cannot be made to follow",
    ),
    "a table of characters": (
        sentencepiece_file,
        {"precompiled_charsmap": [1, 2, 3]},
        "the precompiled_charsmap 'a table of characters', which",
    ),
    "a space before what splits letters first": (
        byte_level_file,
        {"pre": "deepseek-v3", "add_space_prefix": True},
        "here asks for the pre",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_key_that_cannot_be_followed_is_refused(tmp_path: Path, case: str) -> None:
    write, keys, sentence = REFUSED[case]
    with pytest.raises(BrokenTokenizer, match=sentence) as refusal:
        followed(write(tmp_path, **keys))
    assert refusal.value.next_step == "Use the model's folder in Hugging Face format."


@pytest.mark.parametrize("write", [byte_level_file, sentencepiece_file])
def test_spaces_that_are_kept_are_kept(tmp_path: Path, write: Any) -> None:
    tokenizer, _ = followed(write(tmp_path, remove_extra_whitespaces=False))
    assert ids(tokenizer, "a  b") != ids(tokenizer, "a b")
