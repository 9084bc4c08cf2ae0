"""Tiny models that also see, with their text part inside, saved in several files as on the hub."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers as hf

from tests.tiny_models import byte_level_bpe

TEXT: dict[str, Any] = {
    "vocab_size": 400,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 128,
    "initializer_range": 0.4,
}
DELTA = {"linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 8, "linear_value_head_dim": 8}
SIGHT = {"hidden_size": 16, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
SQUARES = {"image_size": 28, "patch_size": 14}
QWEN_SIGHT = {
    "depth": 1,
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_heads": 2,
    "out_hidden_size": 32,
    "num_position_embeddings": 16,
}


def _mistral() -> hf.PreTrainedModel:
    sight = SIGHT | SQUARES | {"model_type": "pixtral", "head_dim": 8}
    return hf.Mistral3ForConditionalGeneration(
        hf.Mistral3Config(text_config=TEXT | {"model_type": "mistral"}, vision_config=sight)
    )


def _qwen() -> hf.PreTrainedModel:
    return hf.Qwen3_5ForConditionalGeneration(hf.Qwen3_5Config(text_config=TEXT | DELTA, vision_config=QWEN_SIGHT))


def _llama() -> hf.PreTrainedModel:
    text = TEXT | {"intermediate_size_mlp": 64, "num_local_experts": 2}
    sight = SIGHT | SQUARES | {"projector_input_dim": 32, "projector_output_dim": 32, "vision_output_dim": 32}
    return hf.Llama4ForConditionalGeneration(hf.Llama4Config(text_config=text, vision_config=sight))


def _gemma() -> hf.PreTrainedModel:
    return hf.Gemma3ForConditionalGeneration(
        hf.Gemma3Config(text_config=TEXT, vision_config=SIGHT | SQUARES, mm_tokens_per_image=4)
    )


def _qwen2_vl() -> hf.PreTrainedModel:
    text = TEXT | {"rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [2, 1, 1]}}
    sight = {"depth": 1, "embed_dim": 16, "hidden_size": 32, "num_heads": 2}
    return hf.Qwen2VLForConditionalGeneration(hf.Qwen2VLConfig(text_config=text, vision_config=sight))


def _qwen3_vl() -> hf.PreTrainedModel:
    sight = QWEN_SIGHT | {"deepstack_visual_indexes": [0]}
    return hf.Qwen3VLForConditionalGeneration(hf.Qwen3VLConfig(text_config=TEXT, vision_config=sight))


# By the class of the text part. Those without a head are scored by the whole model.
WRAPPED: dict[str, Callable[[], hf.PreTrainedModel]] = {
    "MistralForCausalLM": _mistral,
    "Qwen3_5ForCausalLM": _qwen,
    "Llama4ForCausalLM": _llama,
    "Gemma3ForCausalLM": _gemma,
    "Qwen2VLTextModel": _qwen2_vl,
    "Qwen3VLTextModel": _qwen3_vl,
}


def save_wrapped(name: str, folder: Path, largest: str = "20KB") -> hf.PreTrainedModel:
    """Save a model of `WRAPPED` with a tokenizer, in files of at most this size; return it."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = WRAPPED[name]().eval()
    network.save_pretrained(folder, max_shard_size=largest)
    byte_level_bpe(start="<s>").save_pretrained(folder)
    return network


def text_parameters(whole: hf.PreTrainedModel) -> int:
    """Count the parameters of the text part, with the head of the whole model."""
    return sum(p.numel() for name, p in whole.named_parameters() if "language_model" in name or "lm_head" in name)
