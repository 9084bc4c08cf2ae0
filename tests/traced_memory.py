"""Memory of Python objects and NumPy arrays, for tests of what grows with the number of items.

It is the same each time. The buffers of Arrow, which hold the texts of tables, are not counted.
"""

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any, NamedTuple


class Traced(NamedTuple):
    """Bytes that a call has taken: those of what it returned, and the most at any time."""

    held: int
    peak: int


def traced(make: Callable[..., Any], *arguments: Any) -> Traced:
    """Call a function and return the memory that this took."""
    gc.collect()
    tracemalloc.start()
    try:
        made = make(*arguments)
        gc.collect()
        memory = Traced(*tracemalloc.get_traced_memory())
        del made
        return memory
    finally:
        tracemalloc.stop()
