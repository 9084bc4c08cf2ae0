"""From a folder on disk to a benchmark: one module and one line per format."""

from collections.abc import Callable
from pathlib import Path

from probing.benchmark import Benchmark
from probing.formats import bear

FORMATS: dict[str, Callable[[Path], Benchmark]] = {"bear": bear.read}
