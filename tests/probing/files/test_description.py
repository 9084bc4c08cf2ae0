"""All checks of a model's files, on a folder and on a hub."""

import json
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from safetensors.numpy import load_file, save_file

from probing.errors import NoFastTokenizer, NoHead, ProbingError, QuantisedWeights
from probing.files.description import describe
from probing.files.hub import HubClient
from probing.files.listing import folder_listing, hub_listing
from tests.hub.local_hub import Hub, serve
from tests.tiny_models import build_gpt2, set_keys
from tests.zoo.repositories import ZOO, build
from tests.zoo.repositories import serve as serve_hostile

LATER = {"broken-tokenizer", "non-finite-scores", "too-slow", "slow-download"}  # only a loaded model shows these
NETWORK = {"some layers too many", "dimensions of other weights"}  # only the network itself shows these
DOWNLOAD = {"wrong size", "endless download"}  # only a download shows these
STATIC = [
    name
    for name, hostile in ZOO.items()
    if hostile.code and hostile.code not in LATER and not hostile.local and name not in NETWORK | DOWNLOAD
]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_gpt2(tmp_path_factory.mktemp("models") / "gpt2")


@pytest.fixture
def folder(honest: Path, tmp_path: Path) -> Path:
    """A copy that tests may change."""
    return copytree(honest, tmp_path / "gpt2")


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serve() as server:
        yield server


def test_a_folder_and_the_same_model_at_a_hub_have_the_same_description(folder: Path, hub: Hub) -> None:
    hub.add("org/gpt2", folder)
    description = describe(hub_listing(HubClient(hub.url), "org/gpt2"))
    assert description == describe(folder_listing(folder))
    assert description.weights.dtype == "float32"
    assert description.architecture == "GPT2LMHeadModel"
    assert not hub.downloaded("model.safetensors")


def test_shards_are_described_together(folder: Path) -> None:
    whole = describe(folder_listing(folder))
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(weights)
    shards = {"model-00001-of-00002.safetensors": names[:5], "model-00002-of-00002.safetensors": names[5:]}
    for shard, part in shards.items():
        save_file({name: weights[name] for name in part}, folder / shard)
    index = {"weight_map": {name: shard for shard, part in shards.items() for name in part}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert describe(folder_listing(folder)).weights == whole.weights


def test_what_is_ignored_is_said(folder: Path) -> None:
    known = json.loads((folder / "config.json").read_text()).keys()
    unknown = {f"key{number}": 1 for number in range(10)}
    set_keys(folder, "config.json", auto_map={"AutoModel": "x.Y"}, **unknown)
    description = describe(folder_listing(folder))
    assert description.notes == (
        "config.json names code of its own (auto_map); it is ignored, as transformers knows gpt2.",
        "Keys of config.json that transformers does not know are ignored: "
        "key0, key1, key2, key3, key4, key5, key6, key7 and 2 more.",
    )
    assert description.config.keys() <= known


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"quant_method": "compressed-tensors"}, "compressed-tensors"),
        ({"quant_method": "fp8"}, "FP8"),
        ({"bits": "many"}, "by an unknown method"),
        ("<script>", "by an unknown method"),
    ],
)
def test_weights_of_other_methods_are_refused_with_their_method(folder: Path, config: Any, words: str) -> None:
    set_keys(folder, "config.json", quantization_config=config)
    with pytest.raises(QuantisedWeights, match=rf"are quantised \({words}\). Only weights that"):
        describe(folder_listing(folder))


def test_a_model_needs_a_fast_tokenizer_and_mostly_a_head(folder: Path) -> None:
    set_keys(folder, "config.json", architectures=["GPT2ForSequenceClassification"])
    with pytest.raises(NoHead):
        describe(folder_listing(folder))
    describe(folder_listing(folder), any_head=True)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(NoFastTokenizer):
        describe(folder_listing(folder), any_head=True)


@pytest.mark.parametrize("name", STATIC)
def test_hostile_repositories_are_refused_before_a_download(name: str, hub: Hub, tmp_path: Path) -> None:
    hub_id = serve_hostile(name, hub, build(name, tmp_path / "hostile"))
    with pytest.raises(ProbingError) as caught:
        describe(hub_listing(HubClient(hub.url), hub_id))
    assert caught.value.code == ZOO[name].code
    assert not hub.downloaded("model.safetensors")
