"""Pickled weights become safetensors with the same scores; whatever else a pickle holds is not read."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from probing.__main__ import main
from probing.errors import BadConfig, BadInput, BadWeights, UnsafeModel
from probing.files.pickled_weights import convert
from probing.language_model import Scoring
from probing.scoring.load import load
from tests.hub.local_hub import serve
from tests.probing.scoring.seq2seq import sentinel_tokenizer
from tests.tiny_models import build_bert, build_gpt2, save, text_to_text
from tests.zoo.model_types import requests
from tests.zoo.repositories import MARKER, Payload


def pickled(folder: Path, weights: Any = None) -> Path:
    """Put pickled weights in the place of a folder's own, by default the same ones."""
    torch.save(load_file(folder / "model.safetensors") if weights is None else weights, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    return folder


def build_t5(folder: Path) -> Path:
    tokenizer = sentinel_tokenizer()
    return save(folder, lambda: text_to_text(len(tokenizer)), tokenizer, 0)


@pytest.mark.slow
@pytest.mark.parametrize("build", [build_gpt2, build_t5])
def test_a_converted_model_has_the_weights_and_each_tied_one_once(
    build: Callable[[Path], Path], tmp_path: Path
) -> None:
    folder = build(tmp_path / "model")
    before = load_file(folder / "model.safetensors")
    state = load(str(folder), device="cpu").network.state_dict()  # with a name for each use of a tied weight
    assert len(state) > len(before)
    assert convert(pickled(folder, state)) == [folder / "model.safetensors"]
    after = load_file(folder / "model.safetensors")
    assert sum(map(torch.numel, after.values())) == sum(map(torch.numel, before.values()))
    assert all(torch.equal(tensor, state[name]) for name, tensor in after.items())


def test_a_converted_model_gives_the_same_scores(tmp_path: Path) -> None:
    folder = build_gpt2(tmp_path / "model")
    model = load(str(folder), device="cpu")
    before = [answer.reduce().tolist() for answer in model.score(requests(), Scoring())]
    assert main(["download", "--convert", str(pickled(folder, model.network.state_dict()))]) == 0
    after = load(str(folder), device="cpu").score(requests(), Scoring())
    assert [answer.reduce().tolist() for answer in after] == before


@pytest.mark.slow
def test_shards_become_shards_with_an_index(tmp_path: Path) -> None:
    folder = build_bert(tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    parts = dict(enumerate((dict(list(weights.items())[:9]), dict(list(weights.items())[9:])), 1))
    shards = {number: f"pytorch_model-0000{number}-of-00002.bin" for number in parts}
    for number, part in parts.items():
        torch.save(part, folder / shards[number])
    names = {name: shards[number] for number, part in parts.items() for name in part}
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin.index.json").write_text(f'{{"weight_map": {names}}}'.replace("'", '"'))
    assert [path.name for path in convert(folder)] == [
        "model.safetensors.index.json",
        "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors",
    ]
    read = load(str(folder), device="cpu").network.state_dict()
    assert all(torch.equal(tensor, read[name]) for name, tensor in weights.items())


def test_no_code_of_a_pickle_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARKER, str(tmp_path / "marker"))
    folder = pickled(build_gpt2(tmp_path / "model"))
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Payload()))
    names = sorted(os.listdir(folder))
    with pytest.raises(UnsafeModel, match=r"pytorch_model.bin in .* holds more than tensors"):
        convert(folder)
    torch.save({"weight": torch.zeros(2), "more": Payload()}, folder / "pytorch_model.bin")
    with pytest.raises(UnsafeModel, match=r"pytorch_model.bin in .* holds more than tensors"):
        convert(folder)
    assert not (tmp_path / "marker").exists()
    assert sorted(os.listdir(folder)) == names


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"weight": torch.zeros(1).expand(2**40)}, "takes far more time or memory than its size explains"),
        ({"weight": torch.zeros(2), "step": 7}, "cannot be converted: 'step' is no tensor"),
        ([torch.zeros(2)], "cannot be converted: it holds no weights by their names"),
    ],
)
def test_what_is_no_table_of_weights_is_refused(weights: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadWeights, match=message):
        convert(pickled(build_gpt2(tmp_path / "model"), weights))
    assert not (tmp_path / "model" / "model.safetensors").exists()


def test_a_damaged_pickle_is_refused(tmp_path: Path) -> None:
    folder = pickled(build_gpt2(tmp_path / "model"))
    content = (folder / "pytorch_model.bin").read_bytes()
    (folder / "pytorch_model.bin").write_bytes(content[: len(content) // 2])
    with pytest.raises((BadWeights, UnsafeModel), match=r"pytorch_model.bin in .*"):
        convert(folder)


@pytest.mark.parametrize("index", ['{"weight_map": {"a": "../pytorch_model-1-of-1.bin"}}', "{}", '{"weight_map": []}'])
def test_an_index_that_names_other_files_is_refused(index: str, tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin.index.json").write_text(index)
    with pytest.raises(BadWeights, match="names other files"):
        convert(tmp_path)


def test_faults_of_the_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no folder"):
        convert(tmp_path / "none")
    with pytest.raises(BadInput, match=r"has no pytorch_model.bin"):
        convert(tmp_path)
    with pytest.raises(BadInput, match="has safetensors weights already"):
        convert(build_gpt2(tmp_path / "model"))
    (tmp_path / "pytorch_model.bin.index.json").write_text("{")
    with pytest.raises(BadConfig, match="is not valid JSON"):
        convert(tmp_path)
    (tmp_path / "pytorch_model.bin.index.json").write_text('{"weight_map": {"a": "pytorch_model-1-of-1.bin"}}')
    with pytest.raises(BadWeights, match=r"lacks pytorch_model-1-of-1.bin"):
        convert(tmp_path)


def test_a_model_with_only_pickles_is_told_both_ways_to_safetensors(tmp_path: Path) -> None:
    folder = pickled(build_gpt2(tmp_path / "model"))
    with pytest.raises(UnsafeModel) as caught:
        load(str(folder), device="cpu")
    assert "refs/pr/N" in caught.value.next_step
    assert "clozeboard download --convert FOLDER" in caught.value.next_step


def test_a_conversion_that_the_hub_offers_is_loaded_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
        repository = hub.add("org/old", pickled(build_gpt2(tmp_path / "old")))
        converted = repository.add_revision("refs/pr/3", build_gpt2(tmp_path / "converted"))
        card = load("org/old", commit="refs/pr/3", device="cpu").card
    assert (card.commit, card.revision) == (converted.commit, "refs/pr/3")
