"""Products of linear layers on a CPU: which library and which number format computes them fastest.

In float32 oneDNN computes them where that is faster than what torch would call. For them torch calls MKL, which uses
the widest instructions of processors by Intel only. oneDNN, which torch contains as well, uses those of every
processor, which makes one by AMD with AVX-512 much faster (docs/performance.md). Both compute in float32, and their
results differ by rounding. MKL sums the terms of an output in blocks of a few hundred; oneDNN adds them one after
another, so that its rounding grows with the number of inputs. Here it gets as many inputs at a time as MKL sums.

Whether a processor multiplies matrices faster in bfloat16 is found out within a fifth of a second. Processors with
instructions for bfloat16 are several times faster in it; others are 40 to 500 times slower. So the trial begins with
products that take microseconds, and stops before one that would not end in time.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from threading import RLock
from typing import Any

import torch
from torch import nn
from transformers.pytorch_utils import Conv1D

# oneDNN prepares a kernel for every new number of rows, which takes longer than a product with fewer multiplications.
FEWEST_MULTIPLICATIONS = 2**22
# The most terms that oneDNN adds one after another. With so many it rounds as MKL does (docs/methods/scoring.md).
LONGEST_SUM = 384
# So many times faster oneDNN must be in the trial.
FASTER_BY_ONEDNN = 1.15
TRIAL_SIZE = 512  # rows and columns
TRIAL_PRODUCTS = 4  # the fastest counts, and the first one is slow because it prepares the others
# Held while the number of threads is changed, so that two trials at once put back what was there before both.
CHANGING_THREADS = RLock()
# The weights of layers of exactly these classes, shape (outputs, inputs); subclasses may compute something else.
WEIGHTS: Mapping[type[nn.Module], Callable[[Any], torch.Tensor]] = {
    nn.Linear: lambda layer: layer.weight,
    Conv1D: lambda layer: layer.weight.T,
}
SECONDS = 0.2
# Rows of the products; the last one tells, as calls take a large share of the time of small ones. Each takes about
# `GROWTH` times as long as the one before it.
SIZES = (64, 128, 256, 512)
GROWTH = 8
# How many times faster the products must be; more than 1, because a network does more than multiply.
FASTER_IN_BFLOAT16 = 1.5


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


def float32_product() -> Callable[..., torch.Tensor]:
    """Return the faster of two functions that apply a linear layer in float32 on this processor."""
    return linear if onednn_is_faster() else nn.functional.linear


@cache
@torch.inference_mode()
def onednn_is_faster() -> bool:
    """Return whether oneDNN multiplies as exactly as torch does by itself, and faster; tried once in a process."""
    if not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        return False
    matrix = torch.rand((TRIAL_SIZE, TRIAL_SIZE), generator=torch.Generator().manual_seed(0))
    usual = nn.functional.linear
    with one_thread(), suppress(RuntimeError):  # raised where torch was built without oneDNN for this processor
        exact = torch.allclose(linear(matrix, matrix), usual(matrix, matrix), rtol=1e-5)
        return exact and fastest_product(usual, matrix) >= FASTER_BY_ONEDNN * fastest_product(linear, matrix)
    return False


def fastest_product(product: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], matrix: torch.Tensor) -> float:
    """Return the seconds of the fastest of a few products of a square matrix with itself."""
    times = []
    for _ in range(TRIAL_PRODUCTS):
        begin = time.perf_counter()
        product(matrix, matrix)
        times.append(time.perf_counter() - begin)
    return min(times)


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread, so that a trial does not wait for a core that is busy with something else."""
    with CHANGING_THREADS:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


@cache
def bfloat16_is_faster() -> bool:
    """Return whether products in bfloat16 are clearly faster on this processor; measured once in a process."""
    return speed_up() >= FASTER_IN_BFLOAT16


@torch.inference_mode()
def speed_up(seconds: float = SECONDS) -> float:
    """Return how many times faster one core multiplies in bfloat16 than in float32.

    It is 0 if bfloat16 is so slow that the largest product cannot be tried within this many seconds.
    """
    begin = time.perf_counter()
    with one_thread():
        for size in SIZES:
            exact, short = _fastest(size, torch.float32), _fastest(size, torch.bfloat16)
            if size == SIZES[-1]:
                return exact / short
            if time.perf_counter() - begin + GROWTH * TRIAL_PRODUCTS * (exact + short) > seconds:
                break
    return 0.0


def _fastest(size: int, dtype: torch.dtype) -> float:
    """Return the seconds of the fastest of a few products of square matrices, as networks compute them here."""
    product = float32_product() if dtype == torch.float32 else torch.nn.functional.linear
    return fastest_product(product, torch.ones((size, size), dtype=dtype))
