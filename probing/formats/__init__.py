"""From a folder on disk to a benchmark: one module and one line per format."""

from collections.abc import Callable
from pathlib import Path

from probing.benchmark import Benchmark
from probing.formats import bear, dlama, geography, knowledge_graph, lama, stest

FORMATS: dict[str, Callable[[Path], Benchmark]] = {
    "bear": bear.read,
    "dlama": dlama.read,
    "geography": geography.read,
    "knowledge_graph": knowledge_graph.read,
    "lama": lama.read,
    "stest": stest.read,
}

# The files by any of which a folder of the format is known.
MARKS = {
    "geography": geography.FILES,
    "knowledge_graph": (knowledge_graph.TEMPLATES,),
}


def format_of(folder: Path) -> str:
    """The format whose mark the folder has, else BEAR's; only DLAMA's may be an archive."""
    if dlama.fits(folder):
        return "dlama"
    if stest.fits(folder):
        return "stest"
    if lama.fits(folder):
        return "lama"
    return next((name for name, marks in MARKS.items() if any((folder / mark).is_file() for mark in marks)), "bear")
