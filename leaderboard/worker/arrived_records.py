"""Checks of the record that comes with rows: its fields and their types, and whether it names the run's model."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import compress
from typing import Any

from leaderboard.models import Run, RunPart
from probing.errors import ProbingError
from probing.kinds import KINDS
from probing.results.skipped_items import left_out

RECORD_LIMIT = 10**6  # bytes of JSON
NUMBERS = ("statements", "positions", "padding", "items_done")
RECORD_FIELDS: Mapping[str, type] = {
    **{"model": dict, "benchmark": dict, "benchmark_notes": list, "probe": str, "settings": dict},
    **{"settings_digest": str, "seed": int, "language": str, "packages": dict, "device": str, "dtype": str},
    **{"batch": dict, "items_skipped": list, "peak_memory": dict, "start": str, "end": str, "timing": dict},
    **dict.fromkeys(NUMBERS, int),
}
LONGEST_REASON = 200  # why items were not asked
PACKAGES_STATED = ("python", "torch", "transformers", "tokenizers", "safetensors")


class RowsRefused(ProbingError):
    """The rows or the record of a part are not what a measurement of it gives."""

    code = "rows-refused"

    @classmethod
    def because(cls, reason: str) -> "RowsRefused":
        return cls(f"The rows of this part were refused: {reason}.", "Update the worker, or report it.")


def checked_record(parts: Sequence[RunPart], text: str) -> dict[str, Any]:
    """Return the known fields of the record; raise `RowsRefused` unless it is the record of these parts of a run."""
    try:
        values = json.loads(text) if len(text) <= RECORD_LIMIT else None
    except (ValueError, RecursionError) as error:
        raise RowsRefused.because("their record is not JSON") from error
    if not isinstance(values, dict):
        raise RowsRefused.because("their record is not a JSON object of less than a megabyte")
    for name, kind in RECORD_FIELDS.items():
        if not isinstance(values.get(name), kind):
            raise RowsRefused.because(f"the field {name!r} of their record is missing or malformed")
    if not _well_formed(values):
        raise RowsRefused.because("their record is malformed")
    differing = compress(*zip(*_identities(values, parts), strict=True))
    if name := next(differing, ""):
        raise RowsRefused.because(f"their record names another {name}")
    return {name: values[name] for name in RECORD_FIELDS}


def _well_formed(record: Mapping[str, Any]) -> bool:
    """Tell whether the parts of a record have the types that joining and showing it need."""
    try:
        times = [datetime.fromisoformat(record[name]) for name in ("start", "end")]
        numbers = [*record["peak_memory"].values(), *(record[name] for name in NUMBERS)]
        seconds = [record["timing"][name] for name in ("load_seconds", "score_seconds")]
        texts = [*record["batch"]["notes"], *(record["packages"][name] for name in PACKAGES_STATED)]
        return (
            all(time.tzinfo for time in times)
            and all(isinstance(number, int) and number >= 0 for number in numbers)
            and all(isinstance(number, int | float) and 0 <= number < float("inf") for number in seconds)
            and all(isinstance(text, str) for text in texts)
            and all(map(_is_skipped, record["items_skipped"]))
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return False


def _is_skipped(entry: Mapping[str, Any]) -> bool:
    """Tell whether an entry about items that were not asked is well formed; `indices` only of those too long."""
    indices, template = entry.get("indices", []), entry.get("template", 0)
    return (
        all(isinstance(entry[name], str) for name in ("relation", "why"))
        and len(entry["why"]) <= LONGEST_REASON
        and all(type(number) is int and number >= 0 for number in [entry["items"], template, *indices])
        and ("indices" not in entry or len(set(indices)) == len(indices) == entry["items"])
    )


def _identities(record: Mapping[str, Any], parts: Sequence[RunPart]) -> list[tuple[str, bool]]:
    """Return what a record may differ in from the run that the parts belong to, and whether it does."""
    run: Run = parts[0].run
    items = sum(part.items - len(left_out(record, part.covered)) for part in parts)
    card, kind = record["model"], run.model.kind
    return [
        ("model", card.get("id") != run.model.hub_id or card.get("commit") != run.model.commit),
        ("adapter", bool(run.model.adapter_commit) and card.get("adapter") != run.model.adapter_identity),
        ("quantisation", not run.model.weights_file and (card.get("quantisation") or "") != run.model.quantisation),
        ("kind of model", card.get("kind") not in ([kind] if kind else KINDS)),
        ("benchmark", record["benchmark"].get("digest") != run.benchmark.digest),
        ("digest of settings", record["settings_digest"] != run.settings_digest),
        ("number of items", record["items_done"] != items),
    ]
