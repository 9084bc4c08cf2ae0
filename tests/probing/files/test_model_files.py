"""Where a model's files come from, which of them are touched, and what they must not ask for."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from probing.errors import ModelNotFound, SourceUnavailable, UnsafeModel
from probing.files.model_files import (
    code_key,
    locate,
    refuse_code,
    refuse_pickles,
    wanted,
)


def test_only_weights_config_and_tokenizer_are_wanted() -> None:
    names = ["pytorch_model.bin", "model.safetensors", "modeling_x.py", "config.json", "tokenizer.json", "README.md"]
    assert wanted(names) == ["config.json", "model.safetensors", "tokenizer.json"]


@pytest.mark.parametrize("name", ["model-00001-of-00002.safetensors", "model-1-of-2.safetensors"])
def test_shards_are_wanted(name: str) -> None:
    assert wanted([name]) == [name]


@pytest.mark.parametrize(
    "name", ["../model-1-of-2.safetensors", "x/config.json", "adapter_model.safetensors", "model-1.bin"]
)
def test_other_places_and_formats_are_not_wanted(name: str) -> None:
    assert wanted([name]) == []


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"auto_map": {"AutoModel": "x.Y"}}, "auto_map"),
        ({"text_config": {"auto_map": {"AutoModel": "x.Y"}}}, "auto_map"),
        ({"layers": [{}, {"quantization": {"kernel_config": {"a": "b"}}}]}, "kernel_config"),
        ({"trust_remote_code": True}, "trust_remote_code"),
        ({"attn_implementation": "org/kernel"}, "attn_implementation"),
        ({"_attn_implementation_internal": "org/kernel"}, "_attn_implementation_internal"),
    ],
)
def test_what_asks_for_code_is_refused_at_any_depth(config: dict[str, Any], key: str) -> None:
    assert code_key(config) == key
    with pytest.raises(UnsafeModel, match=key):
        refuse_code("config.json", config)


@pytest.mark.parametrize(
    "config", [{}, {"auto_map": None}, {"trust_remote_code": False}, {"model_type": "auto_map"}, [1]]
)
def test_what_asks_for_nothing_passes(config: Any) -> None:
    refuse_code("config.json", config)


def test_weights_must_be_safetensors() -> None:
    refuse_pickles("here", ["model.safetensors"])
    refuse_pickles("here", ["model.safetensors.index.json"])
    with pytest.raises(UnsafeModel, match="here has no safetensors"):
        refuse_pickles("here", ["pytorch_model.bin", "adapter_model.safetensors"])


def test_a_folder_is_found_and_its_files_are_digested(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("not loaded")
    files = locate(str(tmp_path))
    assert (files.folder, files.source) == (tmp_path, "folder")
    assert files.digests() == {"config.json": hashlib.sha256(b"{}").hexdigest()}


def test_a_file_of_a_folder_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(ModelNotFound, match=r"Give the folder that it lies in"):
        locate(str(tmp_path / "model.safetensors"))


def test_a_gguf_file_is_found_alone_or_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "small.gguf").write_bytes(b"GGUF")
    for name in (tmp_path, tmp_path / "small.gguf"):
        files = locate(str(name))
        assert (files.source, files.gguf) == ("gguf", "small.gguf")
        assert list(files.digests()) == ["small.gguf"]


def test_a_hub_that_is_not_there_is_a_passing_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(SourceUnavailable, match="does not answer") as caught:
        locate("org/nothing-here")
    assert not caught.value.permanent
