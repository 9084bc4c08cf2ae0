"""LoRA adapters merged into the weights of a network, by peft if it is installed."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import PreTrainedModel

from probing.errors import BadConfig, UnsupportedModel
from probing.files.adapters import MERGE, Adapter


def require_peft() -> None:
    """Raise `UnsupportedModel` if peft is not installed."""
    if find_spec("peft") is None:
        raise UnsupportedModel("Adapters need the library peft, which is not installed.", "Install clozeboard[peft].")


def merged(network: PreTrainedModel, adapter: Adapter) -> PreTrainedModel:
    """Return the network with the adapter added to its weights, in the network's own number format.

    Raises `BadConfig` if the adapter was made for another network.
    """
    require_peft()
    peft: Any = import_module("peft")
    try:
        wrapped = peft.get_peft_model(network, peft.LoraConfig(**adapter.config))
        outcome = peft.set_peft_model_state_dict(wrapped, load_file(adapter.weights))
    except (ValueError, TypeError, LookupError, RuntimeError, AttributeError) as error:
        if isinstance(error, torch.OutOfMemoryError):
            raise
        raise _unfit(adapter, " ".join(str(error).split())[:200]) from error
    unused = [*outcome.unexpected_keys, *(name for name in outcome.missing_keys if "lora_" in name)]
    if unused:
        raise _unfit(adapter, f"{min(unused)[:100]} fits nothing")
    network = wrapped.merge_and_unload()
    return network


def _unfit(adapter: Adapter, reason: str) -> BadConfig:
    return BadConfig(f"The adapter {adapter.name} was made for another model: {reason.rstrip('.')}.", MERGE)
