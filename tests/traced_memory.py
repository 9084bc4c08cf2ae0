"""Memory that is held at some point of a test, for limits on what each item takes; it is the same each time."""

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa


@contextmanager
def traced_memory() -> Iterator[Callable[[], int]]:
    """Yield a function that returns how many bytes the block holds at that time.

    They are those of Python objects, arrays of NumPy and buffers of Arrow.
    """
    gc.collect()
    before = pa.total_allocated_bytes()
    tracemalloc.start()

    def held() -> int:
        gc.collect()
        return tracemalloc.get_traced_memory()[0] + int(pa.total_allocated_bytes()) - before

    try:
        yield held
    finally:
        tracemalloc.stop()
