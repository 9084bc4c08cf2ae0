"""Size of batches: a budget of token positions, calibrated on the real work and halved when memory runs out."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol, Self, TypeVar

import torch
from transformers import PreTrainedConfig, PreTrainedModel

from probing.errors import OutOfMemory

INITIAL_TOKENS = 512
MIN_SPEEDUP = 1.05  # a larger batch is kept only if it is this much faster

# Memory that the widest layer of a batch may take: in bytes on a CPU, as a share of the free memory on a GPU.
CPU_BYTES = 2**29
GPU_SHARE = 0.25
# Numbers that a layer holds per position, in hidden sizes: the states of a feed-forward layer before and after its
# activation, and those that attention needs.
INNER_STATES = 12


class Batch(Protocol):
    """Anything that can be cut in two, such as a list or an array."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> Self: ...


BatchT = TypeVar("BatchT", bound=Batch)
ResultT = TypeVar("ResultT")


# Batches of each of two sizes that are timed before one is chosen: the first number is enough where every batch of the
# larger size is faster than all of the smaller one; where the times overlap, the fastest batches of both sizes are
# compared after the second. Other programs slow down single batches, and often several in a row, on a CPU but hardly on
# a GPU.
CPU_TRIAL = (4, 24)
GPU_TRIAL = (1, 3)


@dataclass
class Budget:
    """Token positions per batch.

    Unless `fixed` is given, the budget starts small and doubles on real batches while that makes the work at least 5 %
    faster, so that nothing is computed for calibration only. Batches of the size that is best so far and of the next
    larger one take turns, and their fastest ones are compared, because another program can make a batch slower but
    never faster. `ceiling` bounds the memory that a batch takes. When memory runs out, the budget is halved for good.
    """

    device: torch.device
    ceiling: int
    fixed: int | None = None
    notes: list[str] = field(default_factory=list)
    tokens: int = field(init=False)
    _best: int = field(init=False)
    _rates: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    _settled: bool = False

    def __post_init__(self) -> None:
        self.tokens = self._best = self.fixed or min(INITIAL_TOKENS, self.ceiling)
        self._settled = self.fixed is not None or self._best == self.ceiling

    def run(
        self, work: Callable[[BatchT], ResultT], batch: BatchT, positions: int, made_for: int | None = None
    ) -> Iterator[ResultT]:
        """Do the work on the batch; when memory runs out, halve the budget and do each half of the batch.

        `positions`: token positions of the batch; `made_for`: the budget that the batch was made for, by default the
        present one.
        """
        made_for = made_for or self.tokens
        full = positions * (len(batch) + 1) > self.tokens * len(batch)  # one more would not fit
        started = self._now() if full else 0.0
        try:
            result = work(batch)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            if len(batch) < 2:
                raise _too_large() from error
        else:
            if full:
                self._calibrate(positions, started)
            yield result
            return
        self._halve(made_for)
        middle = len(batch) // 2
        for half in (batch[:middle], batch[middle:]):
            yield from self.run(work, half, positions // 2, max(made_for // 2, 1))

    def _now(self) -> float:
        """Return the time; while the budget is being calibrated, wait for the device to finish first."""
        if self.device.type == "cuda" and not self._settled:
            torch.cuda.synchronize(self.device)
        return time.perf_counter()

    def _calibrate(self, positions: int, started: float) -> None:
        """Note the speed of a full batch, and keep the larger of two sizes, the smaller one, or try both again."""
        if self._settled:
            return
        if positions > self.tokens:  # a single item larger than the budget: a smaller budget gives the same batch
            self._prefer(self._next)
            return
        self._rates[self.tokens].append(positions / (self._now() - started))
        smaller, larger = self._rates[self._best], self._rates[self._next]
        fewest, most = GPU_TRIAL if self.device.type == "cuda" else CPU_TRIAL
        timed = min(len(smaller), len(larger))
        if timed >= fewest and min(larger) >= MIN_SPEEDUP * max(smaller):
            self._prefer(self._next)
        elif timed >= most:
            self._prefer(self._next if max(larger) >= MIN_SPEEDUP * max(smaller) else self._best)
        else:
            self.tokens = self._best if len(smaller) <= len(larger) else self._next

    @property
    def _next(self) -> int:
        return min(2 * self._best, self.ceiling)

    def _prefer(self, tokens: int) -> None:
        """Go on from the better of two sizes: try the next larger one, or settle where there is none to be tried."""
        self._settled = tokens in (self._best, self.ceiling)
        self._best = tokens
        self.tokens = tokens if self._settled else self._next

    def _halve(self, made_for: int) -> None:
        """Set the budget to half of the one that was too large, unless it is as small already.

        Must be called after the exception is handled: its traceback keeps alive what the batch has allocated.
        """
        half = max(made_for // 2, 1)
        if half < self.tokens:
            self.tokens = half
            self.notes.append(f"out of memory: batches halved to {half} positions")
        self._settled = True
        if self.device.type == "cuda":
            torch.cuda.empty_cache()


def ceiling(network: PreTrainedModel) -> int:
    """Return the most positions whose logits and whose inner states (float32) each fit into a batch's memory."""
    config = network.config.get_text_config()
    width: int = getattr(config, "hidden_size", None) or getattr(config, "d_model", None) or 0
    widest: int = max(config.vocab_size, INNER_STATES * width)
    return max(batch_bytes(network.device) // (4 * widest), 1)


def most_cached_nodes(network: PreTrainedModel) -> int:
    """Return the most positions whose keys and values, over all layers, fit into the same share of memory.

    The names of the sizes in a config differ between architectures.
    """
    bytes_: int = sum(_cached_numbers(layer) for layer in layer_configs(network)) * network.dtype.itemsize
    return max(batch_bytes(network.device) // bytes_, 1)


def layer_configs(network: PreTrainedModel) -> Sequence[PreTrainedConfig]:
    """Return the config of each layer; some networks (Gemma 4) have other sizes in some layers than in others."""
    config = network.config.get_text_config()
    if getattr(config, "is_heterogeneous", False):
        return list(config.per_layer_config)
    return [config] * (getattr(config, "num_hidden_layers", None) or 1)


def _cached_numbers(layer: PreTrainedConfig) -> int:
    """Return how many numbers the keys and values of a position take in a layer."""
    heads = getattr(layer, "num_attention_heads", 1)
    size = getattr(layer, "head_dim", None) or layer.hidden_size // heads
    numbers: int = 2 * size * (getattr(layer, "num_key_value_heads", None) or heads)
    return numbers


def batch_bytes(device: torch.device) -> int:
    return int(GPU_SHARE * torch.cuda.mem_get_info(device)[0]) if device.type == "cuda" else CPU_BYTES


@contextmanager
def out_of_memory_explained() -> Iterator[None]:
    """Turn out of memory into an error with a next step, where no batch can be halved."""
    try:
        yield
    except RuntimeError as error:
        if is_out_of_memory(error):
            raise _too_large() from error
        raise


def _too_large() -> OutOfMemory:
    return OutOfMemory(
        "The model does not fit on the device beside even the smallest batch.",
        "Use a larger device, a smaller dtype (--dtype bfloat16) or a smaller model.",
    )


def is_out_of_memory(error: Exception) -> bool:
    """Tell whether memory ran out: CUDA raises an exception of its own, the CPU's allocator only has a message."""
    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)
