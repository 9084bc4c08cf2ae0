"""LoRA adapters merged into the weights of a network by peft, if it is installed.

A merged network must score as the network does with the adapter beside its weights, which peft computes layer by layer.
Layers may share a weight, as a head often does with the embeddings. An adapter changes only the layers that it names,
so such a layer gets a weight of its own before it is changed.
"""

import warnings
from collections import Counter
from collections.abc import Mapping
from contextlib import redirect_stderr
from io import StringIO
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import PreTrainedModel

from probing.errors import BadConfig, UnsupportedModel
from probing.extras import MERGING, extra_package
from probing.files.adapters import MERGE, PREFIX, STORED, Adapter
from probing.scoring.network_state import ScoringState
from probing.scoring.quantised import stated_quantisation
from probing.scoring.trial import first_logits

# The largest difference between the logits of both ways, as a share of the largest logit. The sum of two weights is
# rounded once more than they are alone: tiny networks differ by up to 2e-6, 0.008 and 0.04 of it, and networks with
# large states by far more in float32.
ROUNDING = {torch.float32: 1e-3, torch.float16: 2**-5, torch.bfloat16: 2**-2}


def require_peft() -> Any:
    """Return the library peft; raise `MissingPackage` if it is not installed."""
    with redirect_stderr(StringIO()):  # bitsandbytes, which peft imports, says there which package it has not found
        return extra_package("peft", "peft", MERGING)


def merged(network: PreTrainedModel, adapter: Adapter, ids: list[int]) -> PreTrainedModel:
    """Return the network with the adapter merged into its weights, in the network's own number format.

    Beside quantised weights the adapter's layers stay, as the sum would have to be rounded to their few bits again.
    `ids`: the tokens of a text on which both ways are compared.

    Raises `BadConfig` if the adapter was made for another network, and `UnsupportedModel` if it gives other scores when
    it is merged.
    """
    with warnings.catch_warnings(action="ignore"):  # of peft about shared weights, which are seen to here
        wrapped = _with_adapter(network, adapter)
        if stated_quantisation(network):
            return wrapped.get_base_model()
        beside = _logits(network, adapter, ids)
        _separate_changed(network)
        wrapped.merge_adapter()
        # `merge_and_unload` would also change `tie_word_embeddings`, by which some networks scale their last states.
        network = wrapped.unload()
    _refuse_difference(adapter, beside, _logits(network, adapter, ids), network.dtype)
    return network


def _with_adapter(network: PreTrainedModel, adapter: Adapter) -> Any:
    """Put the adapter's layers into the network, and return what peft wraps around it."""
    peft = require_peft()
    tensors = load_file(adapter.weights)
    try:
        _refuse_other_weights(network, adapter, tensors)
        wrapped = peft.get_peft_model(network, peft.LoraConfig(**adapter.config))
        outcome = peft.set_peft_model_state_dict(
            wrapped, {name: tensor for name, tensor in tensors.items() if not name.endswith(STORED)}
        )
    except (ValueError, TypeError, LookupError, RuntimeError, AttributeError) as error:
        if isinstance(error, torch.OutOfMemoryError):
            raise
        raise _unfit(adapter, " ".join(str(error).split())[:200]) from error
    unused = [*outcome.unexpected_keys, *(name for name in outcome.missing_keys if "lora_" in name)]
    if unused:
        raise _unfit(adapter, f"{min(unused)[:100]} fits nothing")
    return wrapped


def _refuse_other_weights(network: PreTrainedModel, adapter: Adapter, tensors: Mapping[str, torch.Tensor]) -> None:
    """Raise `BadConfig` if weights that peft saved beside the adapter, such as embeddings, are not the network's."""
    for name in (name for name in tensors if name.endswith(STORED)):
        module = name.removeprefix(PREFIX).removesuffix(STORED)
        own, stored = network.get_submodule(module).weight, tensors[name]
        narrower = min(own.dtype, stored.dtype, key=lambda dtype: dtype.itemsize)
        if not torch.equal(own.to("cpu", narrower), stored.to(narrower)):
            raise _unfit(adapter, f"it has other weights of {module}")


def _unfit(adapter: Adapter, reason: str) -> BadConfig:
    return BadConfig(f"The adapter {adapter.name} does not fit the model: {reason.rstrip('.')}.", MERGE)


def _logits(network: PreTrainedModel, adapter: Adapter, ids: list[int]) -> torch.Tensor:
    with ScoringState.of(network)():
        return first_logits(f"The network with the adapter {adapter.name}", network, ids).float()


def _separate_changed(network: PreTrainedModel) -> None:
    """Copy each weight that an adapter changes and that other layers hold as well; other weights stay shared."""
    holders = Counter(id(weight) for _, weight in network.named_parameters(remove_duplicate=False))
    for layer in list(network.modules()):
        changed = layer.base_layer.named_parameters(recurse=False) if hasattr(layer, "base_layer") else ()
        for name, weight in list(changed):
            if holders[id(weight)] > 1:
                setattr(layer.base_layer, name, torch.nn.Parameter(weight.detach().clone(), requires_grad=False))


def _refuse_difference(adapter: Adapter, beside: torch.Tensor, merged: torch.Tensor, dtype: torch.dtype) -> None:
    """Raise `UnsupportedModel` unless both ways give the same logits but for the rounding of the number format."""
    largest = float(beside.nan_to_num(0.0, 0.0, 0.0).abs().max())
    if not torch.allclose(beside, merged, rtol=0.0, atol=ROUNDING[dtype] * largest, equal_nan=True):
        raise UnsupportedModel(
            f"The adapter {adapter.name} gives other scores merged into the weights than beside them: its logits "
            f"differ by up to {float((beside - merged).abs().max()):.2g}.",
            MERGE if dtype == torch.float32 else "Load the model in float32.",
        )
