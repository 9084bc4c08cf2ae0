"""Results without rows (`--keep none`): their scores are all that is stored, and what needs rows is refused."""

from collections.abc import Mapping
from typing import Any

from probing.errors import BadInput

ROWS_KEPT = "rows_kept"  # the key of run.json, which only results without rows have
NO_ROWS = "This result was measured without keeping its rows: there are scores, and nothing about single items."


def keeps_rows(record: Mapping[str, Any]) -> bool:
    """Tell from its record whether a result has its rows."""
    return bool(record.get(ROWS_KEPT, True))


def refuse_without_rows(record: Mapping[str, Any], purpose: str) -> None:
    """Raise `BadInput` for a result without rows; `purpose`: what they are needed for, such as "A comparison"."""
    if not keeps_rows(record):
        raise BadInput(
            f"{purpose} needs rows, and this result was measured without keeping them (--keep none).",
            "Measure it again without --keep none.",
        )
