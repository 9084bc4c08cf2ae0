"""LoRA adapters: merged as their formula says, from folder and hub; whatever is more than a plain LoRA is refused."""

import json
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf
from safetensors.torch import save_file

from probing import extras
from probing.errors import BadConfig, MissingPackage, ModelNotFound, ProbingError, UnsafeModel, UnsupportedModel
from probing.files.adapters import locate_adapter, split_adapter
from probing.scoring import merging
from probing.scoring.load import load
from tests.hub.local_hub import Hub
from tests.probing.scoring.compare import REQUESTS, answers, assert_equal, expected_log_probs
from tests.probing.scoring.obvious import causal
from tests.probing.scoring.seq2seq import sentinel_tokenizer, t5
from tests.tiny_models import build_bert, build_gpt2, build_llama, byte_level_bpe, save

needs_peft = pytest.mark.skipif(find_spec("peft") is None, reason="peft is not installed")
ALPHA, RANK = 8, 2
CONFIG: dict[str, Any] = {
    "peft_type": "LORA",
    "task_type": "CAUSAL_LM",
    "r": RANK,
    "lora_alpha": ALPHA,
    "lora_dropout": 0.1,
    "bias": "none",
    "base_model_name_or_path": "evil/elsewhere",
    "auto_mapping": {"base_model_class": "Evil", "parent_library": "evil_library"},
}
# The module that the adapter changes, the sizes of its input and output, and whether its weight is stored transposed.
CHANGED = {
    "gpt2": (build_gpt2, "transformer.h.0.attn.c_attn", (32, 96), True),
    "llama": (build_llama, "model.layers.1.self_attn.q_proj", (32, 32), False),
}


def build_adapter(folder: Path, family: str, **changes: Any) -> dict[str, torch.Tensor]:
    """Save an adapter as peft does; return its two matrices."""
    _, module, (inputs, outputs), transposed = CHANGED[family]
    folder.mkdir()
    config = CONFIG | {"target_modules": [module.split(".")[-1]], "fan_in_fan_out": transposed}
    (folder / "adapter_config.json").write_text(json.dumps(config | changes))
    generator = torch.Generator().manual_seed(0)
    matrices = {
        "A": torch.randn(RANK, inputs, generator=generator),
        "B": torch.randn(outputs, RANK, generator=generator),
    }
    layers = {"gpt2": ("h.0", "h.1"), "llama": ("layers.0", "layers.1")}[family]
    tensors = {
        f"base_model.model.{module.replace(layers[0], layer).replace(layers[1], layer)}.lora_{name}.weight": (
            matrix if layer in module else torch.zeros_like(matrix)
        )
        for layer in layers
        for name, matrix in matrices.items()
    }
    save_file(tensors, folder / "adapter_model.safetensors")
    return matrices


def build_tied_llama(folder: Path, seed: int = 0) -> Path:
    tokenizer = byte_level_bpe(start="<s>")
    config = hf.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=128, bos_token_id=0, eos_token_id=0, initializer_range=0.4, tie_word_embeddings=True,
    )  # fmt: skip
    return save(folder, lambda: hf.LlamaForCausalLM(config), tokenizer, seed)


def build_t5(kind: type[hf.PreTrainedModel], folder: Path) -> Path:
    tokenizer = sentinel_tokenizer()
    return save(folder, lambda: t5(kind, tokenizer, tie_word_embeddings=True), tokenizer, seed=0)


@needs_peft
@pytest.mark.parametrize("family", list(CHANGED))
def test_an_adapter_adds_the_product_of_its_matrices_to_a_weight(family: str, tmp_path: Path) -> None:
    build, module, _, transposed = CHANGED[family]
    base = build(tmp_path / "base")
    matrices = build_adapter(tmp_path / "adapter", family)
    model = load(f"{base}+{tmp_path / 'adapter'}", device="cpu")
    plain = load(str(base), device="cpu")
    change = ALPHA / RANK * matrices["B"] @ matrices["A"]
    with torch.no_grad():
        plain.network.get_submodule(module).weight += change.T if transposed else change
    expected = expected_log_probs(REQUESTS, causal(plain.network, plain.tokenizer))
    assert_equal(answers(model, REQUESTS), expected)
    assert model.card.adapter == str(tmp_path / "adapter")
    assert {"adapter/adapter_config.json", "adapter/adapter_model.safetensors"} <= set(model.card.files)
    assert any("LoRA adapter" in note for note in model.usage.notes)


# Networks whose head is the embedding: how they are built, and the names of head and embedding.
TIED: dict[str, tuple[Callable[[Path], Path], str, str]] = {
    "llama": (build_tied_llama, "lm_head", "model.embed_tokens"),
    "bert": (build_bert, "cls.predictions.decoder", "bert.embeddings.word_embeddings"),
    "t5": (partial(build_t5, hf.T5ForConditionalGeneration), "lm_head", "encoder.embed_tokens"),
    # It scales its last states where its config says that head and embedding are one.
    "umt5": (partial(build_t5, hf.UMT5ForConditionalGeneration), "lm_head", "encoder.embed_tokens"),
}
IDS = torch.arange(5, 13)[None]


def tied_with_adapter(family: str, changes: str, folder: Path, **options: Any) -> tuple[Path, Any]:
    """Save an adapter as peft does; return the folder of its base, and the network with it beside the weights."""
    peft = merging.require_peft()
    build, head, embedding = TIED[family]
    base = build(folder / "base")
    names = {"head": [head], "embedding": [embedding], "both": [head, embedding]}[changes]
    config = peft.LoraConfig(r=4, target_modules=names, init_lora_weights=False, **options)
    network = load(str(base), device="cpu").network
    with torch.random.fork_rng():
        torch.manual_seed(0)
        beside = peft.get_peft_model(network, config).eval()
    beside.save_pretrained(folder / "adapter")
    return base, beside


def logits_of(network: Any) -> torch.Tensor:
    decoder = {"decoder_input_ids": IDS} if network.config.is_encoder_decoder else {}
    with torch.no_grad():
        logits: torch.Tensor = network(input_ids=IDS, **decoder).logits
    return logits


@needs_peft
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("changes", ["head", "embedding", "both"])
@pytest.mark.parametrize("family", list(TIED))
def test_an_adapter_changes_only_what_it_names_of_layers_that_share_a_weight(
    family: str, changes: str, tmp_path: Path
) -> None:
    base, beside = tied_with_adapter(family, changes, tmp_path)
    network = load(f"{base}+{tmp_path / 'adapter'}", device="cpu").network
    torch.testing.assert_close(logits_of(network), logits_of(beside), rtol=0.0, atol=1e-4)
    _, head, embedding = TIED[family]
    assert network.get_submodule(head).weight is not network.get_submodule(embedding).weight


@needs_peft
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [{"use_dora": True}, {"use_rslora": True}, {"ensure_weight_tying": True}])
def test_every_form_of_adapter_on_a_shared_weight_is_merged_right(options: dict[str, Any], tmp_path: Path) -> None:
    base, beside = tied_with_adapter("llama", "head", tmp_path, **options)
    network = load(f"{base}+{tmp_path / 'adapter'}", device="cpu").network
    torch.testing.assert_close(logits_of(network), logits_of(beside), rtol=1e-5, atol=1e-4)


@needs_peft
def test_weights_that_an_adapter_leaves_alone_stay_shared(tmp_path: Path) -> None:
    base = build_tied_llama(tmp_path / "base")
    build_adapter(tmp_path / "adapter", "llama")
    network: Any = load(f"{base}+{tmp_path / 'adapter'}", device="cpu").network
    assert network.lm_head.weight is network.model.embed_tokens.weight


@needs_peft
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_an_adapter_that_gives_other_scores_when_merged_is_refused(
    dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, _ = tied_with_adapter("llama", "head", tmp_path)
    load(f"{base}+{tmp_path / 'adapter'}", device="cpu", dtype=dtype)
    monkeypatch.setattr(merging, "_separate_changed", lambda network: None)
    with pytest.raises(UnsupportedModel, match="gives other scores merged into the weights than beside them"):
        load(f"{base}+{tmp_path / 'adapter'}", device="cpu", dtype=dtype)


@needs_peft
@pytest.mark.filterwarnings("ignore")
def test_an_adapter_that_brings_other_weights_of_a_layer_is_refused(tmp_path: Path) -> None:
    tied_with_adapter("llama", "head", tmp_path)
    other = build_tied_llama(tmp_path / "other", seed=1)
    with pytest.raises(BadConfig, match="it has other weights of lm_head"):
        load(f"{other}+{tmp_path / 'adapter'}", device="cpu")


@needs_peft
def test_an_adapter_of_the_hub_is_pinned_and_its_base_is_the_one_that_is_named(hub: Hub, tmp_path: Path) -> None:
    build_adapter(tmp_path / "adapter", "gpt2")
    (tmp_path / "adapter" / "adapter_model.bin").write_bytes(b"a pickle")
    hub.add("org/base", build_gpt2(tmp_path / "base"))
    commit = hub.add("org/adapter", tmp_path / "adapter").commit
    model = load(f"org/base+org/adapter@{commit}", device="cpu")
    assert model.card.adapter == f"org/adapter@{commit}"
    assert model.card.commit == hub.repositories["org/base"].commit
    assert not any("evil" in request or "adapter_model.bin" in request for request in hub.requests)


@needs_peft
def test_an_adapter_of_another_model_is_refused(tmp_path: Path) -> None:
    build_adapter(tmp_path / "adapter", "llama")
    base = build_gpt2(tmp_path / "base")
    with pytest.raises(BadConfig, match="does not fit the model"):
        load(f"{base}+{tmp_path / 'adapter'}", device="cpu")


def test_an_adapter_that_stands_in_the_place_of_its_model_is_told_where_to_stand(tmp_path: Path) -> None:
    folder = tmp_path / "adapter"
    build_adapter(folder, "gpt2")
    with pytest.raises(BadConfig) as raised:
        load(str(folder), device="cpu")
    assert raised.value.next_step == f"It is an adapter: name it behind its model, as MODEL+{folder}."


def test_without_peft_there_is_one_clear_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_adapter(tmp_path / "adapter", "gpt2")
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match=r'needs the package peft, .*pip install -e "\.\[peft\]"'):
        load(f"org/base+{tmp_path / 'adapter'}", device="cpu")


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"peft_type": "IA3"}, UnsupportedModel, "is not a LoRA adapter"),
        ({"modules_to_save": ["lm_head"]}, UnsupportedModel, "asks for more than a plain LoRA: modules_to_save"),
        ({"rank_pattern": {"(a+)+$": 4}}, UnsupportedModel, "rank_pattern"),
        ({"loftq_config": {"x": 1}}, UnsupportedModel, "loftq_config"),
        ({"bias": "all"}, UnsupportedModel, "bias"),
        ({"target_modules": "(a+)+$"}, BadConfig, "unusable target_modules"),
        ({"target_modules": ["(a+)+$"]}, BadConfig, "does not name the modules"),
        ({"r": 10**9}, BadConfig, "no usable rank"),
        ({"r": True}, BadConfig, "unusable r"),
        ({"init_lora_weights": "pissa_niter_16"}, UnsupportedModel, "weights that were changed first"),
        ({"ensure_weight_tying": "yes"}, BadConfig, "unusable ensure_weight_tying"),
    ],
)
def test_more_than_a_plain_lora_is_refused(
    changes: dict[str, Any], error: type[ProbingError], message: str, tmp_path: Path
) -> None:
    build_adapter(tmp_path / "adapter", "gpt2", **changes)
    with pytest.raises(error, match=message):
        locate_adapter(str(tmp_path / "adapter"))


def pickled(folder: Path) -> None:
    (folder / "adapter_model.safetensors").rename(folder / "adapter_model.bin")


def other_tensors(folder: Path) -> None:
    save_file({"base_model.model.lm_head.weight": torch.zeros(2, 2)}, folder / "adapter_model.safetensors")


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (pickled, UnsafeModel),
        (other_tensors, UnsupportedModel),
        (lambda folder: (folder / "adapter_config.json").unlink(), UnsupportedModel),
    ],
)
def test_unsafe_and_incomplete_adapters_are_refused(
    damage: Callable[[Path], None], error: type[ProbingError], tmp_path: Path
) -> None:
    build_adapter(tmp_path / "adapter", "gpt2")
    damage(tmp_path / "adapter")
    with pytest.raises(error):
        locate_adapter(str(tmp_path / "adapter"))


def test_a_plus_in_a_path_names_no_adapter(tmp_path: Path) -> None:
    (tmp_path / "a+b").mkdir()
    assert split_adapter(str(tmp_path / "a+b")) == (str(tmp_path / "a+b"), "")
    assert split_adapter("org/base+org/adapter@abc") == ("org/base", "org/adapter@abc")
    with pytest.raises(ModelNotFound):
        locate_adapter("@abc")
