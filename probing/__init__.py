"""Knowledge probing of language models: a probe asks a model the items of a benchmark and returns a result.

`run` probes a model. `load` and `wrap` make a model that can be probed several times, from files or from a network in
memory. `open_benchmark` reads a benchmark, and `Result.load` what a run has written. `monitor` watches a training.
"""

import importlib
from typing import Any

# Imported on first use, because most of these modules load torch, which `import probing` must not do.
LAZY = {
    "run": "probing.runner",
    "load": "probing.scoring.load",
    "wrap": "probing.scoring.in_memory",
    "open_benchmark": "probing.catalog",
    "Benchmark": "probing.benchmark",
    "Result": "probing.results.result",
    "unified": "probing.scoring.vocabulary",
    "Corrector": "probing.scoring.correction",
    "Judge": "probing.scoring.acceptability",
    "monitor": "probing.monitor",
}

__all__ = list(LAZY)


def __getattr__(name: str) -> Any:
    """Import a public name, such as `run`, on first use."""
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(LAZY[name])
    return module if LAZY[name] == f"{__name__}.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *LAZY})
