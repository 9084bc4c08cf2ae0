"""Which of a model's files are read, and which of them hold the weights."""

import pytest

from probing.errors import BadWeights, UnsafeModel
from probing.files.listing import files_to_load, refuse_pickles, weight_files


def test_only_weights_config_and_tokenizer_are_loaded() -> None:
    names = ["pytorch_model.bin", "model.safetensors", "modeling_x.py", "config.json", "tokenizer.json", "README.md"]
    assert files_to_load(names) == ["config.json", "model.safetensors", "tokenizer.json"]
    shards = ["model-00001-of-00002.safetensors", "model-1-of-2.safetensors"]
    elsewhere = ["../model-1-of-2.safetensors", "x/config.json", "adapter_model.safetensors", "model-1.bin"]
    assert files_to_load([*elsewhere, *shards]) == shards


def test_weights_must_be_safetensors() -> None:
    refuse_pickles("here", ["model.safetensors"])
    refuse_pickles("here", ["model.safetensors.index.json"])
    with pytest.raises(UnsafeModel, match="here has no safetensors"):
        refuse_pickles("here", ["pytorch_model.bin", "adapter_model.safetensors"])


def test_the_weights_are_the_single_file_or_the_shards_of_the_index() -> None:
    shards = [f"model-{number}-of-2.safetensors" for number in (1, 2)]
    names = ["model.safetensors", "model.safetensors.index.json", *shards]
    index = {"weight_map": {"b": names[3], "a": names[2], "c": names[2]}}
    assert weight_files("here", names, lambda: index) == ["model.safetensors"]
    assert weight_files("here", names[1:], lambda: index) == names[2:]
    with pytest.raises(BadWeights, match="here lacks model-2-of-2"):
        weight_files("here", names[1:3], lambda: index)


@pytest.mark.parametrize("name", ["../model-1-of-1.safetensors", "pytorch_model.bin", "/etc/passwd", 7, None])
def test_an_index_that_names_anything_but_a_shard_is_refused(name: object) -> None:
    with pytest.raises(UnsafeModel, match="not one of its shards"):
        weight_files("here", ["model.safetensors.index.json"], lambda: {"weight_map": {"a": name}})
