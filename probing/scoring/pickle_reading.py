"""A program that reads pickled weights and writes them as safetensors, in a process of its own.

`files.pickled_weights` starts it. Its arguments are the bytes of memory and the seconds of the processor that it may
take.
"""

import sys
from collections.abc import Mapping
from typing import Any

import torch
from safetensors.torch import save_file

from probing.files.limited_process import answer_orders


def converted(order: dict[str, Any]) -> list[str]:
    """Convert the file at `source` to one at `target`; return the names of the tensors that are written."""
    content = torch.load(order["source"], map_location="cpu", weights_only=True)
    tensors = distinct(content) if isinstance(content, Mapping) else {}
    if not tensors:
        raise ValueError("it holds no weights by their names")
    save_file(tensors, order["target"], metadata={"format": "pt"})
    return list(tensors)


def distinct(content: Mapping[Any, Any]) -> dict[str, torch.Tensor]:
    """Return a copy of each tensor under its first name, as safetensors refuses tensors that share memory."""
    tensors: dict[tuple[Any, ...], tuple[str, torch.Tensor]] = {}
    for name, tensor in content.items():
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
            raise ValueError(f"{str(name)[:80]!r} is no tensor")
        storage = (tensor.data_ptr() or name, tensor.dtype, tensor.shape, tensor.stride())
        tensors.setdefault(storage, (name, tensor))
    try:
        return {name: tensor.clone(memory_format=torch.contiguous_format) for name, tensor in tensors.values()}
    except RuntimeError as error:  # as a view of a few bytes that repeats them without an end
        raise MemoryError from error


if __name__ == "__main__":
    memory, processor_seconds = map(int, sys.argv[1:])
    answer_orders(converted, memory, processor_seconds)
