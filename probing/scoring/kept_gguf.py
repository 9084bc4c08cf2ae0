"""Keeping the network and the tokenizer of a GGUF file in Hugging Face format, if they are the same afterwards."""

import json
from pathlib import Path
from typing import Any

import psutil
import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from probing.files.gguf_cache import GgufCache
from probing.files.quantisation import KEY

WEIGHTS = "model.safetensors"
CONFIG = "config.json"
# Of the memory that is free, the share that a second copy of the weights may take.
MEMORY_SHARE = 0.5


class Differs(OSError):
    """What was written is not read again as what it was."""


def keep_network(key: str, network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, auto: Any) -> None:
    """Keep a network and its tokenizer in the user's cache, where that is possible and changes nothing.

    They are read again before they are kept: every weight and everything that turns texts into tokens must be the same.
    `auto`: the class of transformers that loads the network.
    """
    size = network.get_memory_footprint()
    if size > MEMORY_SHARE * psutil.virtual_memory().available:
        return

    def write(folder: Path) -> None:
        try:
            tokenizer.save_pretrained(folder)
            _write_network(folder, network)
            _refuse_other_tokenizer(folder, tokenizer)
            _refuse_other_network(folder, network, auto)
        except (SafetensorError, ValueError, RuntimeError, LookupError, TypeError, AttributeError) as error:
            raise Differs(str(error)) from error

    GgufCache.of_user().keep(key, size, write)


def _write_network(folder: Path, network: PreTrainedModel) -> None:
    """Write the config without its mention of GGUF, and each weight once, as `save_pretrained` refuses to do both."""
    config = {name: value for name, value in network.config.to_diff_dict().items() if name != KEY}
    (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    network.generation_config.save_pretrained(folder)
    tied = getattr(network, "all_tied_weights_keys", {})
    weights = {name: weight.cpu().contiguous() for name, weight in network.state_dict().items() if name not in tied}
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def _refuse_other_network(folder: Path, network: PreTrainedModel, auto: Any) -> None:
    """Raise `Differs` unless the folder holds the same network: the same config, and the same values of all weights."""
    again, info = auto.from_pretrained(
        folder, local_files_only=True, use_safetensors=True, dtype=network.dtype, output_loading_info=True
    )
    weights = again.state_dict()
    same = (
        type(again) is type(network)
        and _facts(again) == _facts(network)
        and again.generation_config.to_dict() == network.generation_config.to_dict()
        and not any(info[fault] for fault in ("missing_keys", "unexpected_keys", "mismatched_keys"))
        and weights.keys() == network.state_dict().keys()
        and all(_equal(weight, weights[name]) for name, weight in network.state_dict().items())
    )
    if not same:
        raise Differs("the network")


def _facts(network: PreTrainedModel) -> dict[str, Any]:
    """Return a network's config without its mention of GGUF and the folder that it was read from."""
    return {name: value for name, value in network.config.to_dict().items() if name not in (KEY, "_name_or_path")}


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.dtype == other.dtype and torch.equal(one.cpu(), other.cpu())


def _refuse_other_tokenizer(folder: Path, tokenizer: PreTrainedTokenizerBase) -> None:
    """Raise `Differs` unless the folder holds the same tokenizer, with the same special tokens and chat template."""
    again = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    same = (
        type(again) is type(tokenizer)
        and again.backend_tokenizer.to_str() == tokenizer.backend_tokenizer.to_str()
        and again.special_tokens_map == tokenizer.special_tokens_map
        and again.all_special_ids == tokenizer.all_special_ids
        and again.chat_template == tokenizer.chat_template
        and again.model_max_length == tokenizer.model_max_length
        and (again.padding_side, again.truncation_side) == (tokenizer.padding_side, tokenizer.truncation_side)
        and again.model_input_names == tokenizer.model_input_names
    )
    if not same:
        raise Differs("the tokenizer")
