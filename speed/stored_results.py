"""What the commands of this package have measured, a file for each; the documents' tables are written from them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[1]
RESULTS = CHECKOUT / "speed" / "results"


def store(name: str, results: Mapping[str, Any]) -> None:
    """Replace the results of this name."""
    _file(name).write_text(f"{json.dumps(results, indent=1)}\n", encoding="utf-8")


def stored(name: str) -> dict[str, Any]:
    """Return the results of this name, empty where there are none."""
    file = _file(name)
    results: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return results


def _file(name: str) -> Path:
    return RESULTS / f"{name}.json"
