"""Networks with quantised weights: the files are checked before a library reads them, and the layers afterwards.

bitsandbytes keeps the weights of linear layers in 4 or 8 bits, and computes them again from stored statistics for each
product. Its kernels trust what a file says of its statistics, so every number of these is compared with the tensors.

Scores are those of the network with these weights, computed in its number format. Two things that bitsandbytes does by
itself are left out for that: in 8 bits it rounds the inputs of layers too, by columns that all texts of a batch choose
together, so that a score would depend on other texts; in 4 bits it computes in bfloat16 on some processors.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import ceil, prod
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from transformers import AutoConfig, BitsAndBytesConfig, PreTrainedConfig, PreTrainedModel

from probing.errors import BadInput, BadWeights, UnsupportedModel
from probing.files.listing import parse_json
from probing.files.weights import QUANTISATION, Quantisation, Tensor, Tensors, read_quantisation

# The classes of bitsandbytes by which linear layers are replaced.
FOUR_BITS, EIGHT_BITS = "Linear4bit", "Linear8bitLt"
STATE = ".quant_state.bitsandbytes__"
LARGEST_STATE = 10_000  # bytes
BLOCKS = {2**power for power in range(5, 13)}
FORMATS = {"float32", "bfloat16", "float16"}
PARTS = ("absmax", "quant_map", "nested_absmax", "nested_quant_map")
QUANTISE_AGAIN = "Quantise the model again and save it with save_pretrained."


def plain_config(folder: Path) -> PreTrainedConfig:
    """Return the config in a folder without its quantisation, by which a network of plain layers is built."""
    config: PreTrainedConfig = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    del config.quantization_config
    return config


def loading_options(
    stored: Quantisation | None, chosen: Quantisation | None, folder: Path, device: torch.device, dtype: torch.dtype
) -> dict[str, Any]:
    """Return the arguments by which transformers makes quantised layers that compute in `dtype`; none for plain ones.

    `stored`: how the files in the folder are quantised. `chosen`: how plain weights are quantised while they are
    loaded. Raises `BadInput` where the device cannot compute with such weights.
    """
    quantisation = stored or chosen
    if not quantisation:
        return {}
    if quantisation.needs_gpu:
        _refuse_without_gpu(quantisation, device)
        return {}
    switches = {**quantisation.config, "bnb_4bit_compute_dtype": str(dtype).removeprefix("torch.")}
    if not stored:
        return {"quantization_config": BitsAndBytesConfig(**switches)}
    config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    config.quantization_config = switches
    return {"config": config}


def _refuse_without_gpu(quantisation: Quantisation, device: torch.device) -> None:
    if device.type != "cuda":
        raise BadInput(
            f"Weights that are quantised ({quantisation.title}) need an NVIDIA GPU; this is the device {device}.",
            "Run it on a machine with a GPU, or use the model from which it was made.",
        )


def stated_quantisation(network: PreTrainedModel) -> str:
    """Return how a network in memory is quantised, such as `bitsandbytes, 4 bits`; empty where it is not."""
    entry = getattr(network.config, QUANTISATION, None)
    if entry is None or not getattr(network, "hf_quantizer", None):
        return ""
    facts = entry if isinstance(entry, dict) else entry.to_dict()
    method = str(getattr(facts.get("quant_method"), "value", facts.get("quant_method")))
    try:
        quantisation = read_quantisation("the network", {QUANTISATION: {**facts, "quant_method": method}})
    except UnsupportedModel:
        return method[:40]
    return quantisation.title if quantisation else ""


def narrowest_dtype(network: PreTrainedModel) -> torch.dtype:
    """Return the number format with the fewest bits in which a layer computes."""
    formats = {network.dtype}
    formats.update(module.compute_dtype for _, module in _layers(network, FOUR_BITS) if module.compute_dtype)
    narrowest: torch.dtype = min(formats, key=lambda dtype: dtype.itemsize)
    return narrowest


@contextmanager
def exact_products(network: PreTrainedModel) -> Iterator[None]:
    """Let quantised layers compute with their weights in the number format of their inputs."""
    four_bits = [module for _, module in _layers(network, FOUR_BITS) if module.support_avx512bf16_for_cpu]
    eight_bits = [module for _, module in _layers(network, EIGHT_BITS)]
    for module in four_bits:
        module.support_avx512bf16_for_cpu = False
    for module in eight_bits:
        module.forward = partial(_product_in_8_bits, module)
    try:
        yield
    finally:
        for module in four_bits:
            module.support_avx512bf16_for_cpu = True
        for module in eight_bits:
            del module.forward


def _product_in_8_bits(module: Any, inputs: torch.Tensor) -> torch.Tensor:
    """Multiply by the weights, whole numbers up to 127 with a scale for each row; shape (..., rows)."""
    state = module.weight if module.weight.CB is not None else module.state  # where the first product moves them
    weight = state.CB.to(inputs.dtype) * (state.SCB / 127).to(inputs.dtype)[:, None]
    bias = None if module.bias is None else module.bias.to(inputs.dtype)
    return torch.nn.functional.linear(inputs, weight, bias)


def without_packed(info: Mapping[str, Collection[Any]]) -> dict[str, Any]:
    """Return what a loader says of quantised files and a network of plain layers, without what quantisation explains.

    A weight in 4 bits is stored as one column of pairs, one in 8 bits may be transposed, and GPTQ and AWQ store it
    under another name. The layers themselves are compared by `refuse_bad_layers`.
    """
    mismatched = [
        (name, stored, built)
        for name, stored, built in info["mismatched_keys"]
        if tuple(stored) not in {(ceil(prod(built) / 2), 1), tuple(reversed(built))}
    ]
    packed = {name.replace(".qweight", ".weight") for name in info["unexpected_keys"]}
    return {**info, "mismatched_keys": mismatched, "missing_keys": set(info["missing_keys"]) - packed}


def refuse_bad_layers(where: str, network: PreTrainedModel) -> None:
    """Raise `BadWeights` if a layer of bitsandbytes did not get a quantised weight of its own shape."""
    for name, module in _layers(network, FOUR_BITS):
        shape = getattr(getattr(module.weight, "quant_state", None), "shape", ())
        if tuple(shape) != (module.out_features, module.in_features):
            raise _unfit(where, f"{name}.weight")
    for name, module in _layers(network, EIGHT_BITS):
        scales = getattr(module.weight, "SCB", None)
        if scales is None or (len(scales), *module.weight.shape[1:]) != (module.out_features, module.in_features):
            raise _unfit(where, f"{name}.weight")


def _layers(network: PreTrainedModel, kind: str) -> Iterator[tuple[str, Any]]:
    """Yield the layers of bitsandbytes of this kind by name; peft calls its own, which hold them, by the same name."""
    for name, module in network.named_modules():
        if type(module).__name__ == kind and type(module).__module__.startswith("bitsandbytes."):
            yield name, module


def refuse_bad_statistics(where: str, folder: Path, names: Iterable[str], tensors: Tensors) -> None:
    """Raise `BadWeights` if the statistics of layers in 4 or 8 bits do not fit the weights that they belong to.

    `names`: the files of weights in the folder. `tensors`: what their headers say.
    """
    for name, tensor in tensors.items():
        if name.endswith(".SCB") and tensor != Tensor("F32", _rows(tensors, f"{name.removesuffix('SCB')}weight")):
            raise _unfit(where, name)
    states = [name for name in tensors if STATE in name]
    if any(tensors[name].dtype != "U8" or tensors[name].bytes > LARGEST_STATE for name in states):
        raise _unfit(where, states[0])
    for name, state in _read_states(where, folder, names, set(states)):
        weight, _, kind = name.partition(STATE)
        parts = {part: tensors.get(f"{weight}.{part}") for part in PARTS}
        if not (state.get("quant_type") == kind and weight in tensors and _fits(tensors[weight], parts, state)):
            raise _unfit(where, name)


def _rows(tensors: Tensors, weight: str) -> tuple[int, ...]:
    """Return the length of the scales of a weight in 8 bits, as a shape; () where there is no such weight."""
    return tensors[weight].shape[:1] if weight in tensors and tensors[weight].dtype == "I8" else ()


def _read_states(where: str, folder: Path, names: Iterable[str], states: set[str]) -> Iterator[tuple[str, Any]]:
    """Yield the name and the content of each state in the files, which are texts of a few hundred bytes."""
    for file in names:
        with safe_open(folder / file, "np") as content:
            for name in sorted(states.intersection(content.keys())):
                yield name, parse_json(f"{name} of {where}", content.get_tensor(name).tobytes())


def _fits(weight: Tensor, parts: Mapping[str, Tensor | None], state: Mapping[str, Any]) -> bool:
    """Tell whether the statistics are those of a packed weight: one largest value for each block of weights.

    `state`: the shape of the weight before it was packed, its number format, and the sizes of blocks.
    """
    shape, block = state.get("shape"), state.get("blocksize")
    if not (isinstance(shape, list) and len(shape) == 2 and all(type(size) is int and size > 0 for size in shape)):
        return False
    if type(block) is not int or block not in BLOCKS or str(state.get("dtype")) not in FORMATS:
        return False
    count = prod(shape)
    if weight != Tensor("U8", (ceil(count / 2), 1)) or parts["quant_map"] != Tensor("F32", (16,)):
        return False
    blocks = ceil(count / block)
    if parts["nested_absmax"] is None:
        return parts["absmax"] == Tensor("F32", (blocks,))
    nested = state.get("nested_blocksize")
    return (
        type(nested) is int
        and nested in BLOCKS
        and state.get("nested_dtype") == "float32"
        and isinstance(state.get("nested_offset"), float)
        and parts["absmax"] == Tensor("U8", (blocks,))
        and parts["nested_absmax"] == Tensor("F32", (ceil(blocks / nested),))
        and parts["nested_quant_map"] == Tensor("F32", (256,))
    )


def _unfit(where: str, name: str) -> BadWeights:
    return BadWeights(f"{name[:100]!r} in {where} does not fit the quantised weight it belongs to.", QUANTISE_AGAIN)
