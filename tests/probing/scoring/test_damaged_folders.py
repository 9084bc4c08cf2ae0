"""Folders and GGUF files with damaged, missing or dangerous files: each is refused with a clear error."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from probing.__main__ import main
from probing.errors import (
    BadConfig,
    BadWeights,
    BrokenTokenizer,
    ModelNotFound,
    NoFastTokenizer,
    NoHead,
    ProbingError,
    UnknownArchitecture,
    UnsafeModel,
    UnsupportedModel,
)
from probing.scoring.load import load
from tests.conftest import BearFolder
from tests.tiny_models import set_keys


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def rewrite(name: str, **values: Any) -> Callable[[Path], None]:
    return lambda folder: set_keys(folder, name, **values)


def overwrite(name: str, content: str) -> Callable[[Path], Any]:
    return lambda folder: (folder / name).write_text(content)


def pickle_only(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def cut(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])


def forget(folder: Path) -> None:
    """Remove a layer, which transformers would fill with random numbers."""
    path = folder / "model.safetensors"
    weights = {name: tensor for name, tensor in load_file(path).items() if ".h.1.mlp.c_fc" not in name}
    save_file(weights, path, metadata={"format": "pt"})


def indexed(shard: Any) -> Callable[[Path], None]:
    """Replace the weights by an index that names one file; pickled and outside copies of the weights lie about."""

    def damage(folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        torch.save(weights, folder / "pytorch_model.bin")
        (folder.parent / "other").mkdir(exist_ok=True)
        (folder / "model.safetensors").rename(folder.parent / "other" / "model.safetensors")
        index = {"metadata": {}, "weight_map": dict.fromkeys(weights, shard)}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))

    return damage


def one_empty_index(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text("{}")


DAMAGED: dict[str, tuple[Callable[[Path], Any], type[ProbingError], str]] = {
    "no config": (remove("config.json"), BadConfig, "has no config.json"),
    "half a config": (overwrite("config.json", '{"model_type": "gp'), BadConfig, "not valid JSON"),
    "a list as config": (overwrite("config.json", "[]"), BadConfig, "not a JSON object"),
    "an unknown type": (rewrite("config.json", model_type="gpt99"), UnknownArchitecture, "'gpt99'"),
    "a type that is no text": (rewrite("config.json", model_type=["gpt2"]), UnknownArchitecture, "gpt2"),
    "no architecture": (rewrite("config.json", architectures=None), BadConfig, "no list 'architectures'"),
    "an architecture that is no text": (rewrite("config.json", architectures=[[1]]), NoHead, "modelling head"),
    "architectures that are a number": (rewrite("config.json", architectures=7), BadConfig, "no list 'architectures'"),
    "a classifier": (rewrite("config.json", architectures=["GPT2ForSequenceClassification"]), NoHead, "head"),
    "a size that is no number": (rewrite("config.json", n_embd="big"), BadConfig, "cannot be read"),
    "no heads": (rewrite("config.json", n_head=0), BadConfig, "cannot be loaded"),
    "another size than the weights": (rewrite("config.json", n_embd=64), BadConfig, "by the config, but"),
    "no weights": (remove("model.safetensors"), UnsafeModel, "no safetensors"),
    "pickled weights": (pickle_only, UnsafeModel, "no safetensors"),
    "cut weights": (cut, BadWeights, "model.safetensors is damaged"),
    "weights that lack a layer": (forget, BadWeights, "lacks transformer.h.1.mlp.c_fc"),
    "a missing shard": (indexed("model-00001-of-00002.safetensors"), BadWeights, "lacks model-00001"),
    "an index of pickled weights": (indexed("pytorch_model.bin"), UnsafeModel, "names 'pytorch_model.bin'"),
    "an index that leaves the folder": (indexed("../other/model.safetensors"), UnsafeModel, "names '../other"),
    "an index of numbers": (indexed(7), UnsafeModel, "names '7'"),
    "an index without shards": (one_empty_index, BadWeights, "names no files"),
    "own code": (
        rewrite("config.json", model_type="own", auto_map={"AutoConfig": "own.Config"}),
        UnsafeModel,
        "auto_map",
    ),
    "own nested code": (
        rewrite("config.json", text_config={"auto_map": {"AutoConfig": "own.Config"}}),
        UnsafeModel,
        "auto_map",
    ),
    "own nested tokenizer code": (
        rewrite("tokenizer_config.json", more={"auto_map": {"AutoTokenizer": ["x"]}}),
        UnsafeModel,
        "auto_map",
    ),
    "a tokenizer without a model": (overwrite("tokenizer.json", '{"version": "1.0"}'), BrokenTokenizer, "tokenizer"),
    "half a tokenizer": (overwrite("tokenizer.json", '{"version": "1.0", '), BrokenTokenizer, "tokenizer"),
    "no tokenizer": (remove("tokenizer.json"), NoFastTokenizer, "no fast tokenizer"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_folder_is_reported_as_such(name: str, gpt2: Path) -> None:
    damage, error, words = DAMAGED[name]
    damage(gpt2)
    with pytest.raises(error) as caught:
        load(str(gpt2), device="cpu")
    assert type(caught.value) is error
    assert words in caught.value.message
    assert caught.value.next_step


@pytest.mark.parametrize("name", DAMAGED)
def test_the_command_line_reports_a_damaged_folder_in_one_line(
    name: str, gpt2: Path, bear_folder: BearFolder, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    DAMAGED[name][0](gpt2)
    arguments = ["run", str(gpt2), "--benchmark", str(bear_folder.write()), "--out", str(tmp_path / "out")]
    assert main([*arguments, "--device", "cpu"]) == 2
    errors = capfd.readouterr().err.strip().splitlines()
    assert errors[-1].startswith("error: ")
    assert not any("Traceback" in line for line in errors)


def test_a_missing_gguf_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"no file .*model\.gguf"):
        load(str(tmp_path / "model.gguf"))


def test_a_broken_gguf_file_is_unsupported(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF but not really")
    with pytest.raises(UnsupportedModel, match=r"model\.gguf cannot be loaded: .*\. Copy it again\.$"):
        load(str(tmp_path / "model.gguf"), device="cpu")
