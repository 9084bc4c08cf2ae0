"""Models that also see: their text part is scored as in the whole model, and nothing else of them is read."""

import json
from pathlib import Path

import pytest
import transformers
from safetensors import safe_open

from probing.errors import BadConfig, NoHead
from probing.files.description import describe, loaded_files
from probing.files.listing import folder_listing
from probing.files.model_files import locate
from probing.scoring.load import load
from tests.hub.local_hub import Hub
from tests.probing.scoring import obvious
from tests.probing.scoring.compare import REQUESTS, answers, assert_equal, expected_log_probs
from tests.probing.wrapped_models import WRAPPED, save_wrapped, text_parameters
from tests.tiny_models import set_keys


@pytest.mark.parametrize("name", WRAPPED)
def test_the_text_part_of_a_folder_is_scored_as_in_the_whole_model(name: str, tmp_path: Path) -> None:
    whole = save_wrapped(name, tmp_path)
    shards = sorted(tmp_path.glob("model-*.safetensors"))
    assert len(shards) > 2
    model = load(str(tmp_path), device="cpu")
    assert_equal(answers(model, REQUESTS), expected_log_probs(REQUESTS, obvious.causal(whole, model.tokenizer)))
    assert type(model.network) is getattr(transformers, name if name.endswith("ForCausalLM") else type(whole).__name__)
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
            if any("vis" not in name and "projector" not in name for name in file.keys()):  # noqa: SIM118
                shards.add(path.name)
    return shards


@pytest.mark.slow
@pytest.mark.parametrize("name", ["MistralForCausalLM", "Qwen2VLTextModel"])
def test_files_without_text_are_not_downloaded(name: str, hub: Hub, tmp_path: Path) -> None:
    whole = save_wrapped(name, tmp_path / "seeing", "5KB")
    hub.add("org/seeing", tmp_path / "seeing")
    folder = locate("org/seeing").folder
    needed = text_shards(tmp_path / "seeing")
    assert {path.name for path in folder.glob("model-*.safetensors")} == needed
    assert needed < {path.name for path in (tmp_path / "seeing").glob("model-*.safetensors")}
    model = load("org/seeing", device="cpu")
    assert_equal(answers(model, REQUESTS), expected_log_probs(REQUESTS, obvious.causal(whole, model.tokenizer)))
    assert {name for name in model.card.files if name.startswith("model-")} == needed


@pytest.mark.parametrize("name", ["Llama4ForCausalLM", "Qwen2VLTextModel", "Qwen3VLTextModel"])
def test_the_size_is_that_of_the_text_part(name: str, tmp_path: Path) -> None:
    whole = save_wrapped(name, tmp_path)
    weights = describe(folder_listing(tmp_path)).weights
    text = text_parameters(whole)
    assert (weights.parameters, weights.bytes) == (text, 4 * text)


def test_the_config_of_a_text_part_may_stand_beside_the_other_parts(tmp_path: Path) -> None:
    whole = save_wrapped("Qwen2VLTextModel", tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    text = config.pop("text_config")
    rotary = text.pop("rope_parameters")
    turned = {"rope_theta": rotary["rope_theta"], "rope_scaling": {"type": "mrope", "mrope_section": [2, 1, 1]}}
    (tmp_path / "config.json").write_text(json.dumps({**text, **turned, **config}))
    model = load(str(tmp_path), device="cpu")
    assert model.card.architecture == "Qwen2VLTextModel (text part of Qwen2VLForConditionalGeneration)"
    assert_equal(answers(model, REQUESTS), expected_log_probs(REQUESTS, obvious.causal(whole, model.tokenizer)))


@pytest.mark.parametrize(
    "keys",
    [
        {"architectures": ["Gemma3ForSequenceClassification"]},
        {"text_config": {"model_type": "bert"}, "architectures": ["LlavaForConditionalGeneration"]},
        {"text_config": {"model_type": "bart"}, "architectures": ["Florence2ForConditionalGeneration"]},
        {"text_config": {}, "architectures": ["LlavaForConditionalGeneration"]},
        {
            "text_config": {"model_type": "voxtral_realtime_text"},
            "architectures": ["VoxtralRealtimeForConditionalGeneration"],
        },
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
    set_keys(tmp_path, "config.json", text_config=None)
    shards = {path.name for path in tmp_path.glob("model-*.safetensors")}
    assert shards <= set(loaded_files(folder_listing(tmp_path)))


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("depth", 10_000_000, r"depth is 10,000,000, but the weights are \d+ tensors"),
        ("num_heads", 10**9, "num_heads is 1,000,000,000, more than any model has"),
        ("patch_size", "large", "cannot be read: .*patch_size"),
    ],
)
def test_the_config_of_what_sees_is_checked_too(key: str, value: object, sentence: str, tmp_path: Path) -> None:
    """The whole model is built without memory before its other parts are removed."""
    save_wrapped("Qwen2VLTextModel", tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    set_keys(tmp_path, "config.json", vision_config=config["vision_config"] | {key: value})
    with pytest.raises(BadConfig, match=sentence):
        load(str(tmp_path), device="cpu")
