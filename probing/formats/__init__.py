"""From a folder on disk to a benchmark: one module and one line per format."""

from collections.abc import Callable
from pathlib import Path

from probing.benchmark import Benchmark
from probing.formats import bear, stest

FORMATS: dict[str, Callable[[Path], Benchmark]] = {"bear": bear.read, "stest": stest.read}

# A file by which a folder of the format is known.
MARKS = {"stest": stest.RELATIONS}


def format_of(folder: Path) -> str:
    """The format whose mark the folder has, else BEAR's."""
    return next((name for name, mark in MARKS.items() if (folder / mark).is_file()), "bear")
