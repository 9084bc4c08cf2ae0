"""How much to compute at once: a budget of token positions, found while working."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol, Self, TypeVar

import torch
from transformers import PreTrainedModel

from probing.errors import OutOfMemory

START = 512
WORTHWHILE = 1.05  # a larger batch must be this much faster to be kept
CERTAIN = 3  # batches that must have been slower than that

# What a batch's widest layer may take, in bytes and as a share of a GPU's free memory.
CPU_BYTES = 2**29
GPU_SHARE = 0.25
# What a layer holds of a position, in hidden sizes: a feed-forward layer's states before and after its activation, and
# what attention needs.
INNER = 12


class Batch(Protocol):
    """Anything that can be cut in two: a list, an array."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> Self: ...


B = TypeVar("B", bound=Batch)
R = TypeVar("R")


@dataclass
class Budget:
    """Token positions per batch.

    Without a fixed number it starts small and doubles on real batches while that makes the work 5 % faster, so that
    calibration costs nothing; `ceiling` bounds the memory of a batch. Out of memory halves it, for good.
    """

    device: torch.device
    ceiling: int
    fixed: int | None = None
    notes: list[str] = field(default_factory=list)
    tokens: int = field(init=False)
    _best_rate: float = 0.0
    _slower: int = 0
    _settled: bool = False

    def __post_init__(self) -> None:
        self.tokens = self.fixed or min(START, self.ceiling)
        self._settled = self.fixed is not None

    def run(self, work: Callable[[B], R], batch: B, positions: int, cut: int | None = None) -> Iterator[R]:
        """Do the work on the batch; where memory runs out, halve the budget and do one half after the other.

        `cut`: the budget that the batch was made for, if not today's.
        """
        cut = cut or self.tokens
        started = self._now()
        try:
            result = work(batch)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            if len(batch) < 2:
                raise _too_large() from error
        else:
            if positions * (len(batch) + 1) > self.tokens * len(batch):  # another item would not have fitted
                self._learn(positions, started)
            yield result
            return
        self._halve(cut)
        middle = len(batch) // 2
        for half in (batch[:middle], batch[middle:]):
            yield from self.run(work, half, positions // 2, max(cut // 2, 1))

    def _now(self) -> float:
        """The time, once the device has done its work; of use while the budget is being found."""
        if self.device.type == "cuda" and not self._settled:
            torch.cuda.synchronize(self.device)
        return time.perf_counter()

    def _learn(self, positions: int, started: float) -> None:
        """Double the budget while that pays; a single slow batch may be chance."""
        if self._settled:
            return
        rate = positions / (self._now() - started)
        if positions > self.tokens:  # a single item: as it is with any smaller budget
            self._double()
        elif rate >= WORTHWHILE * self._best_rate:
            self._best_rate, self._slower = rate, 0
            self._double()
        else:
            self._slower += 1
            if self._slower == CERTAIN:
                self.tokens //= 2
                self._settled = True

    def _double(self) -> None:
        self._settled = self.tokens >= self.ceiling
        self.tokens = min(2 * self.tokens, self.ceiling)

    def _halve(self, cut: int) -> None:
        """The budget becomes half of the one that was too large, unless the other half of a batch has made it so.

        To be called when the error is gone, whose traceback holds what the batch has allocated.
        """
        half = max(cut // 2, 1)
        if half < self.tokens:
            self.tokens = half
            self.notes.append(f"out of memory: batches halved to {half} positions")
        self._settled = True
        if self.device.type == "cuda":
            torch.cuda.empty_cache()


def ceiling(network: PreTrainedModel) -> int:
    """The most positions whose logits and whose inner states (float32) each fit into a batch's share of memory."""
    config = network.config.get_text_config()
    widest: int = max(config.vocab_size, INNER * config.hidden_size)
    return max(_share(network.device) // (4 * widest), 1)


def nodes_kept(network: PreTrainedModel) -> int:
    """The most positions whose keys and values, of all layers, fit into as much; networks name them variously."""
    config = network.config.get_text_config()
    heads = getattr(config, "num_attention_heads", 1)
    size = getattr(config, "head_dim", None) or config.hidden_size // heads
    width = size * (getattr(config, "num_key_value_heads", None) or heads)
    bytes_: int = 2 * width * getattr(config, "num_hidden_layers", 1) * network.dtype.itemsize
    return max(_share(network.device) // bytes_, 1)


def _share(device: torch.device) -> int:
    """Of memory, in bytes."""
    return int(GPU_SHARE * torch.cuda.mem_get_info(device)[0]) if device.type == "cuda" else CPU_BYTES


@contextmanager
def telling_out_of_memory() -> Iterator[None]:
    """Where no batch can be halved: out of memory becomes an error that says what to do."""
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
    """CUDA has an exception of its own; the CPU's allocator has only words."""
    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)
