"""Knowledge probing of language models: a probe asks a model the items of a benchmark and returns a result."""

import importlib
from typing import Any

# Imported on first use, because these modules load torch, which `import probing` must not do.
LAZY = {
    "run": "probing.runner",
    "load": "probing.scoring.load",
    "unified": "probing.scoring.vocabulary",
    "Corrector": "probing.scoring.correction",
    "Judge": "probing.scoring.acceptability",
}


def __getattr__(name: str) -> Any:
    """Import a public name, such as `run`, on first use."""
    if name in LAZY:
        return getattr(importlib.import_module(LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
