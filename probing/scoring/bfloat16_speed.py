"""Whether this processor multiplies matrices faster in bfloat16 than in float32, found out within a fifth of a second.

Processors with instructions for bfloat16 are several times faster in it; others are 40 to 500 times slower. So the
trial begins with products that take microseconds, and stops before one that would not end in time.
"""

import time
from functools import cache

import torch

from probing.scoring.cpu_products import TRIAL_PRODUCTS, fastest_product, float32_product, one_thread

SECONDS = 0.2
# Rows of the products; the last one tells, as calls take a large share of the time of small ones. Each takes about
# `GROWTH` times as long as the one before it.
SIZES = (64, 128, 256, 512)
GROWTH = 8
# How many times faster the products must be; more than 1, because a network does more than multiply.
FASTER = 1.5


@cache
def bfloat16_is_faster() -> bool:
    """Return whether products in bfloat16 are clearly faster on this processor; measured once in a process."""
    return speed_up() >= FASTER


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
