"""LoRA adapters merged into the weights of a network, by peft if it is installed."""

from typing import Any

import torch
from safetensors.torch import load_file
from transformers import PreTrainedModel

from probing.errors import BadConfig
from probing.extras import extra_package
from probing.files.adapters import MERGE, Adapter
from probing.scoring.quantised import stated_quantisation


def require_peft() -> Any:
    """Return the library peft; raise `MissingPackage` if it is not installed."""
    return extra_package("peft", "peft", "Merging an adapter")


def merged(network: PreTrainedModel, adapter: Adapter) -> PreTrainedModel:
    """Return the network with the adapter merged into its weights, in the network's own number format.

    Beside quantised weights the adapter's layers stay, as the sum would have to be rounded to their few bits again.

    Raises `BadConfig` if the adapter was made for another network.
    """
    peft = require_peft()
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
    return wrapped.get_base_model() if stated_quantisation(network) else wrapped.merge_and_unload()


def _unfit(adapter: Adapter, reason: str) -> BadConfig:
    return BadConfig(f"The adapter {adapter.name} was made for another model: {reason.rstrip('.')}.", MERGE)
