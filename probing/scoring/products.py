"""Products of linear layers on a CPU: which library and which number format compute them faster.

For products in float32 torch calls MKL, which uses the widest instructions of processors by Intel only. oneDNN, which
torch contains as well, uses those of every processor, which makes one by AMD with AVX-512 much faster
(docs/performance.md). Both compute in float32, and their results differ by rounding. MKL sums the terms of an output in
blocks of a few hundred; oneDNN adds them one after another, so that its rounding grows with the number of inputs. Here
it gets as many inputs at a time as MKL sums.

The choice depends on the processor and the sizes alone and never on a measured time, so that two runs on a machine
give the same digits. A run records its processor.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from transformers.pytorch_utils import Conv1D

# oneDNN prepares a kernel for every new number of rows, which takes longer than a product with fewer multiplications.
FEWEST_MULTIPLICATIONS = 2**22
# The most terms that oneDNN adds one after another. With so many it rounds as MKL does (docs/methods/scoring.md).
LONGEST_SUM = 384
# Instructions that multiply in bfloat16, as torch names them. Without them bfloat16 is 40 to 500 times slower than
# float32; with them it is several times faster.
BFLOAT16_INSTRUCTIONS = ("avx512_bf16", "amx_bf16", "bf16")
# The weights of layers of exactly these classes, shape (outputs, inputs); subclasses may compute something else.
WEIGHTS: Mapping[type[nn.Module], Callable[[Any], torch.Tensor]] = {
    nn.Linear: lambda layer: layer.weight,
    Conv1D: lambda layer: layer.weight.T,
}


@contextmanager
def fast_products(network: nn.Module) -> Iterator[None]:
    """Have oneDNN compute the network's plain linear layers that are in float32 on a CPU, where that is faster."""
    layers = [layer for layer in network.modules() if _is_plain(layer)] if onednn_is_faster() else []
    for layer in layers:
        layer.__dict__["forward"] = ForwardByOneDNN(layer)
    try:
        yield
    finally:
        for layer in layers:
            layer.__dict__.pop("forward", None)


class ForwardByOneDNN:
    """The `forward` of a plain linear layer for the time of scoring. A copy of the layer gets that of its class."""

    def __init__(self, layer: Any) -> None:
        self._layer, self._weight_of = layer, WEIGHTS[type(layer)]

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        layer, weight = self._layer, self._weight_of(self._layer)
        if states.dtype != torch.float32 or states.numel() * len(weight) < FEWEST_MULTIPLICATIONS:
            outputs: torch.Tensor = type(layer).forward(layer, states)
            return outputs
        return linear(states, weight, layer.bias)

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self._layer, "forward")  # of its class, as a copy has no attributes of its own yet


def _is_plain(layer: Any) -> bool:
    """Tell whether a layer computes nothing but a product of dense float32 weights in the memory of the processor."""
    if type(layer) not in WEIGHTS or "forward" in layer.__dict__:
        return False
    return _is_dense(layer.weight) and (layer.bias is None or _is_dense(layer.bias))


def _is_dense(tensor: Any) -> bool:
    """Tell whether this is an ordinary tensor; subclasses, by which some libraries quantise, multiply as they like."""
    return type(tensor) in (nn.Parameter, torch.Tensor) and (tensor.dtype, tensor.device.type, tensor.layout) == (
        torch.float32,
        "cpu",
        torch.strided,
    )


def linear(states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """Apply a linear layer to states of shape (..., inputs) by oneDNN; return shape (..., outputs)."""
    dense = None if bias is None else bias.contiguous()  # oneDNN reads what lies side by side
    blocks = zip(torch.split(states, LONGEST_SUM, -1), torch.split(weight, LONGEST_SUM, -1), strict=True)
    outputs = _product(*next(blocks), dense)
    for block in blocks:
        outputs += _product(*block)
    return outputs


def _product(states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    dense = weight if weight.T.is_contiguous() else weight.contiguous()  # with gaps between rows it is far slower
    outputs: torch.Tensor = torch.ops.mkldnn._linear_pointwise(states, dense, bias, "none", [], "")
    return outputs


def onednn_is_faster() -> bool:
    """Return whether oneDNN multiplies faster than what torch calls: on processors by AMD with AVX-512."""
    processor = torch.cpu.get_capabilities()
    has_wide_instructions = bool(processor.get("avx512_f")) and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    return has_wide_instructions and str(processor.get("cpu_name")).startswith("AMD")


def bfloat16_is_faster() -> bool:
    """Return whether this processor multiplies faster in bfloat16 than in float32."""
    processor = torch.cpu.get_capabilities()
    return any(processor.get(name) for name in BFLOAT16_INSTRUCTIONS)
