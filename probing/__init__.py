"""Knowledge probing of language models: a probe asks a model the items of a benchmark and returns a result."""

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    """`probing.run`, found on first use: it loads torch, which `import probing` must not."""
    if name == "run":
        return importlib.import_module("probing.runner").run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
