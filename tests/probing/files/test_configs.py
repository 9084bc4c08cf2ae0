"""Which keys of a config reach transformers, which configs cannot be right, and which kind a model class is."""

from typing import Any

import pytest

from probing.errors import BadConfig, UnsafeModel, UnsupportedModel
from probing.files.configs import (
    _table,
    allowed_keys,
    architecture_of,
    code_key,
    filtered,
    idle_parameters,
    kind_of,
    known_model_types,
    refuse_absurd,
    refuse_code,
    require_kind,
    require_known_type,
)
from probing.files.weights import Tensor, Tensors

TENSORS = {"embedding": Tensor("F32", (400, 32)), "empty": Tensor("F32", (0, 10**9)), "bias": Tensor("F32", (32,))}


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"auto_map": {"AutoModel": "x.Y"}}, "auto_map"),
        ({"text_config": {"auto_map": {"AutoModel": "x.Y"}}}, "auto_map"),
        ({"layers": [{}, {"quantization": {"kernel_config": {"a": "b"}}}]}, "kernel_config"),
        ({"trust_remote_code": True}, "trust_remote_code"),
        ({"attn_implementation": "org/kernel"}, "attn_implementation"),
        ({"_attn_implementation_internal": "org/kernel:forward"}, "_attn_implementation_internal"),
        ({"_attn_implementation": "paged|org/kernel@v1"}, "_attn_implementation"),
        ({"text_config": {"attn_implementation": {"": "sdpa", "vision": "org/kernel"}}}, "attn_implementation"),
        ({"_experts_implementation": "module.function"}, "_experts_implementation"),
        ({"use_kernels": True}, "use_kernels"),
    ],
)
def test_what_asks_for_code_is_refused_at_any_depth(config: dict[str, Any], key: str) -> None:
    assert code_key(config) == key
    with pytest.raises(UnsafeModel, match=key):
        refuse_code("config.json", config, known_type=False)


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"auto_map": None},
        {"trust_remote_code": False},
        {"use_kernels": False},
        {"model_type": "auto_map"},
        {"a": [1]},
        {"_attn_implementation": "flash_attention_2"},
        {"attn_implementation": "paged|sdpa"},
        {"text_config": {"_attn_implementation_internal": "flex_attention"}},
        {"attn_implementation": {"text_config": "eager", "vision_config": None}},
        {"_experts_implementation": "grouped_mm"},
    ],
)
def test_what_asks_for_nothing_passes(config: Any) -> None:
    refuse_code("config.json", config, known_type=False)


def test_code_beside_a_type_that_transformers_knows_is_ignored() -> None:
    refuse_code("config.json", {"auto_map": {"AutoModel": "x.Y"}, "trust_remote_code": True}, known_type=True)
    with pytest.raises(UnsafeModel):
        refuse_code("config.json", {"text_config": {"auto_map": {"AutoModel": "x.Y"}}}, known_type=True)


@pytest.mark.parametrize(
    ("model_type", "key"),
    [
        ("gpt2", "n_embd"),  # a field of the class
        ("gpt2", "hidden_size"),  # a name that is mapped to a field
        ("gemma3_text", "sliding_window_pattern"),  # an old name that the class still reads
        ("opt", "_remove_final_layer_norm"),
        ("llama", "rope_scaling"),
        ("xlm-roberta", "max_position_embeddings"),  # the module is named otherwise
        ("gpt_neox", "use_parallel_residual"),
    ],
)
def test_what_a_family_knows_is_kept(model_type: str, key: str) -> None:
    assert key in allowed_keys(model_type)


@pytest.mark.parametrize(
    "key", ["num_labels", "auto_map", "_attn_implementation", "attn_implementation", "torch_dtype"]
)
@pytest.mark.parametrize("model_type", ["gpt2", "llama", "bert", "no such type"])
def test_what_is_harmful_is_never_kept(model_type: str, key: str) -> None:
    assert key not in allowed_keys(model_type)


def test_back_ends_of_transformers_are_left_out_without_a_word() -> None:
    config = {"model_type": "llama", "_attn_implementation": "flash_attention_2", "attn_implementation": "sdpa"}
    assert filtered(config) == ({"model_type": "llama"}, [])


def test_a_config_without_a_type_or_a_class_is_told_which_key_is_missing() -> None:
    with pytest.raises(BadConfig, match="no key 'model_type'"):
        require_known_type("")
    with pytest.raises(BadConfig, match="no list 'architectures'"):
        require_kind(architecture_of({"architectures": []}))


def test_unknown_keys_are_left_out_and_named_at_any_depth() -> None:
    config = {
        "model_type": "llama",
        "hidden_size": 32,
        "surprise": 1,
        "num_labels": 10**9,
        "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "deep": {"hidden_size": 10**9}},
    }
    kept, dropped = filtered(config)
    assert kept == {
        "model_type": "llama", "hidden_size": 32, "rope_scaling": {"rope_type": "llama3", "factor": 8.0}
    }  # fmt: skip
    assert dropped == ["surprise", "rope_scaling.deep"]


def test_a_nested_config_may_have_the_keys_of_its_own_family() -> None:
    nested = {"model_type": "gpt2", "n_inner": 64}
    assert filtered({"model_type": "llava", "text_config": nested})[0]["text_config"] == nested


@pytest.mark.parametrize(
    "config",
    [
        {"vocab_size": 400, "hidden_size": 32, "num_hidden_layers": 3, "rope_theta": 10**9},
        {
            "max_position_embeddings": 10_485_760,
            "eos_token_id": [1, 2],
            "layer_types": ["full"] * 100,
            "use_cache": True,
        },
        {"hidden_size": None, "num_experts": 64, "pad_token_id": -1},
    ],
)
def test_a_usable_config_passes(config: dict[str, Any]) -> None:
    refuse_absurd("here", config, TENSORS)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"hidden_size": 10_000}, "hidden_size is 10,000, but the largest dimension of the weights is 400"),
        ({"vocab_size": 10**9}, "vocab_size is 1,000,000,000"),
        ({"n_layer": 4}, "n_layer is 4, but the weights are 3 tensors"),
        ({"num_local_experts": 401}, "num_local_experts"),
        ({"text_config": {"num_hidden_layers": 10**6}}, "num_hidden_layers"),
        ({"max_position_embeddings": 10**9}, "max_position_embeddings"),
        ({"n_positions": -(10**9)}, "n_positions"),
        ({"anything": 10**5000}, "anything is absurd"),
        ({"rope_theta": 10**13}, "rope_theta"),
        ({"attention_types": [[["global"], 10**9]]}, "attention_types"),
        ({"layer_types": ["full"] * 20_000}, "a list of 20,000"),
        ({"hidden_act": "x" * 20_000}, "a text of 20,000"),
    ],
)
def test_an_absurd_config_is_refused(config: dict[str, Any], words: str) -> None:
    with pytest.raises(BadConfig, match=words):
        refuse_absurd("here", config, TENSORS)


def test_the_active_parameters_of_mixtral_are_those_that_its_authors_state() -> None:
    """Jiang et al. 2024, arXiv:2401.04088: "each token has access to 47B parameters, but only uses 13B"."""
    layer = {
        **{f"self_attn.{name}_proj.weight": (4096, 4096) for name in "qo"},
        **{f"self_attn.{name}_proj.weight": (1024, 4096) for name in "kv"},
        "block_sparse_moe.gate.weight": (8, 4096),
        **{f"block_sparse_moe.experts.{n}.w{m}.weight": (14336, 4096) for n in range(8) for m in (1, 2, 3)},
    }
    shapes = {f"model.layers.{n}.{name}": shape for n in range(32) for name, shape in layer.items()}
    shapes |= {"model.embed_tokens.weight": (32000, 4096), "lm_head.weight": (32000, 4096)}
    tensors = {name: Tensor("BF16", shape) for name, shape in shapes.items()}
    idle = idle_parameters({"num_local_experts": 8, "num_experts_per_tok": 2}, tensors)
    total = sum(tensor.elements for tensor in tensors.values())
    assert (round(total / 1e9, 1), idle and round((total - idle) / 1e9, 1)) == (46.7, 12.9)


FUSED = {"a.mlp.experts.down_proj": Tensor("F32", (4, 10)), "a.mlp.shared_experts.down_proj": Tensor("F32", (10,))}


@pytest.mark.parametrize(
    ("config", "tensors", "idle"),
    [
        ({"hidden_size": 32}, TENSORS, 0),
        ({"num_experts": 1}, TENSORS, 0),
        ({"text_config": {"n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 1}}, FUSED, 30),
        ({"num_experts": 4, "num_experts_per_tok": 4}, FUSED, 0),
        ({"num_experts": 4}, FUSED, None),
        ({"num_experts": 4, "num_experts_per_tok": 5}, FUSED, None),
        ({"num_experts": 4, "num_experts_per_tok": 2}, TENSORS, None),
        ({}, FUSED, None),
    ],
)
def test_what_config_and_tensors_do_not_tell_of_experts_stays_unknown(
    config: dict[str, Any], tensors: Tensors, idle: int | None
) -> None:
    assert idle_parameters(config, tensors) == idle


@pytest.mark.parametrize(
    ("architecture", "kind"),
    [
        ("GPT2LMHeadModel", "causal"),
        ("LlamaForCausalLM", "causal"),
        ("MPTForCausalLM", "causal"),  # as MPT's own repositories spell MptForCausalLM
        ("Mistral4ForCausalLM", "causal"),  # listed only among models that see
        ("BertForMaskedLM", "masked"),
        ("XLMRobertaForMaskedLM", "masked"),
        ("FlaubertWithLMHeadModel", "masked"),
        ("T5ForConditionalGeneration", "encoder-decoder"),
        ("BartForConditionalGeneration", "encoder-decoder"),
        ("MBartForConditionalGeneration", "encoder-decoder"),
        ("VoxtralForConditionalGeneration", None),
        ("BertForSequenceClassification", None),
        ("XLMWithLMHeadModel", None),
        ("NeverHeardOfForCausalLM", None),
        ("", None),
    ],
)
def test_the_class_tells_the_kind(architecture: str, kind: str | None) -> None:
    assert kind_of(architecture) == kind


def test_model_types_are_those_of_the_installed_transformers() -> None:
    assert {"gpt2", "llama", "bert", "t5"} <= known_model_types()
    assert "no-such-model" not in known_model_types()


def test_the_first_architecture_of_a_config_is_the_models() -> None:
    assert architecture_of({"architectures": ["GPT2LMHeadModel", "BertModel"]}) == "GPT2LMHeadModel"
    for names in (None, [], {"a": 1}):
        assert architecture_of({"architectures": names}) == ""
    assert architecture_of({}) == ""


def test_what_cannot_be_probed_is_refused() -> None:
    assert require_kind("GPT2LMHeadModel") == "causal"
    require_known_type("gpt2")
    with pytest.raises(UnsupportedModel, match="BertModel has no language modelling head"):
        require_kind("BertModel")
    with pytest.raises(UnsupportedModel, match="'brandnew'"):
        require_known_type("brandnew")


@pytest.mark.parametrize("family", ["Bert", "Albert", "MobileBert"])
def test_weights_that_were_saved_after_a_pre_training_are_read_with_their_masked_head(family: str) -> None:
    assert require_kind(f"{family}ForPreTraining") == "masked"
    assert kind_of(f"{family}ForPreTraining") is None, "such a network in memory has other outputs"


def test_a_table_that_transformers_no_longer_has_is_named() -> None:
    with pytest.raises(LookupError, match=r"no table GONE in modeling_auto\.py: this version is not supported"):
        _table("modeling_auto.py", "GONE")
