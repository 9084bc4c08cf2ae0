"""Models that also see: their text part is scored as in the whole model, and nothing else of them is read."""

import json
from pathlib import Path

import pytest
from safetensors import safe_open

from probing.errors import NoHead
from probing.files.description import describe, loaded_files
from probing.files.listing import folder_listing
from probing.files.model_files import locate
from probing.scoring.load import load
from tests.hub.local_hub import Hub
from tests.probing.scoring import obvious
from tests.probing.scoring.compare import REQUESTS, answers, assert_equal, expected_log_probs
from tests.probing.wrapped_models import WRAPPED, save_wrapped
from tests.tiny_models import set_keys


@pytest.mark.parametrize("name", WRAPPED)
def test_the_text_part_of_a_folder_is_scored_as_in_the_whole_model(name: str, tmp_path: Path) -> None:
    whole = save_wrapped(name, tmp_path)
    shards = sorted(tmp_path.glob("model-*.safetensors"))
    assert len(shards) > 2
    model = load(str(tmp_path), device="cpu")
    assert_equal(answers(model, REQUESTS), expected_log_probs(REQUESTS, obvious.causal(whole, model.tokenizer)))
    assert type(model.network).__name__ == name
    assert model.card.architecture == f"{name} (text part of {type(whole).__name__})"
    assert model.card.parameters == model.network.num_parameters() < whole.num_parameters()
    assert model.usage.notes[0] == (
        f"Only the text part of {type(whole).__name__} is probed: its other weights are neither loaded nor counted."
    )


def text_shards(folder: Path) -> set[str]:
    """Return the names of the files that hold a tensor of the text part, by their contents."""
    shards = set()
    for path in folder.glob("model-*.safetensors"):
        with safe_open(path, "pt") as file:
            if any("language_model" in name or "lm_head" in name for name in file.keys()):  # noqa: SIM118
                shards.add(path.name)
    return shards


def test_files_without_text_are_not_downloaded(hub: Hub, tmp_path: Path) -> None:
    whole = save_wrapped("MistralForCausalLM", tmp_path / "seeing", "5KB")
    hub.add("org/seeing", tmp_path / "seeing")
    folder = locate("org/seeing").folder
    needed = text_shards(tmp_path / "seeing")
    assert {path.name for path in folder.glob("model-*.safetensors")} == needed
    assert needed < {path.name for path in (tmp_path / "seeing").glob("model-*.safetensors")}
    model = load("org/seeing", device="cpu")
    assert_equal(answers(model, REQUESTS), expected_log_probs(REQUESTS, obvious.causal(whole, model.tokenizer)))
    assert {name for name in model.card.files if name.startswith("model-")} == needed


def test_the_size_is_that_of_the_text_part(tmp_path: Path) -> None:
    whole = save_wrapped("Llama4ForCausalLM", tmp_path)
    weights = describe(folder_listing(tmp_path)).weights
    text = sum(p.numel() for name, p in whole.named_parameters() if "language_model" in name)
    assert (weights.parameters, weights.bytes) == (text, 4 * text)


@pytest.mark.parametrize(
    "keys",
    [
        {"architectures": ["Gemma3ForSequenceClassification"]},
        {"text_config": {"model_type": "bert"}, "architectures": ["LlavaForConditionalGeneration"]},
        {"text_config": {"model_type": "bart"}, "architectures": ["Florence2ForConditionalGeneration"]},
        {"text_config": {}, "architectures": ["LlavaForConditionalGeneration"]},
        {"text_config": "text", "architectures": ["LlavaForConditionalGeneration"]},
    ],
)
def test_a_model_without_a_causal_text_part_is_refused(keys: dict[str, object], tmp_path: Path) -> None:
    save_wrapped("Gemma3ForCausalLM", tmp_path)
    set_keys(tmp_path, "config.json", **keys)
    with pytest.raises(NoHead, match="has no language modelling head that transformers loads for text alone: causal"):
        load(str(tmp_path))


def test_all_files_of_a_text_model_are_loaded(tmp_path: Path) -> None:
    save_wrapped("Gemma3ForCausalLM", tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "text_config": None}))
    shards = {path.name for path in tmp_path.glob("model-*.safetensors")}
    assert shards <= set(loaded_files(folder_listing(tmp_path)))
