"""The machine: its number of cores, its kind of processor, and how fast it multiplies matrices."""

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch

from probing.scoring.products import float32_product

Product = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
SQUARES = (512, 1024, 2048, 4096)
MEASURED_SECONDS = 0.3  # how long the product of each shape is repeated
CPUINFO = Path("/proc/cpuinfo")


def describe() -> dict[str, Any]:
    cores = len(os.sched_getaffinity(0))
    return {"cores": cores, "processor": _processor(), "torch_threads": torch.get_num_threads()}


def _processor() -> str:
    lines = CPUINFO.read_text().splitlines() if CPUINFO.exists() else []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def square_rate(product: Product | None = None) -> float:
    """Return the best rate of products of square matrices, in GFLOP/s.

    `product`: the function that multiplies; by default the one by which networks are computed.
    """
    return max(2e-9 * size**3 / _product_seconds(size, product or float32_product()) for size in SQUARES)


def _product_seconds(size: int, product: Product) -> float:
    """Return the median time of one product with transposed weights, as linear layers have them."""
    left, weights = torch.rand(size, size), torch.rand(size, size)
    times: list[float] = []
    while sum(times) < MEASURED_SECONDS or len(times) < 3:
        begin = time.perf_counter()
        product(left, weights)
        times.append(time.perf_counter() - begin)
    return median(times)
