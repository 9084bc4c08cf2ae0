"""A finished run at the place where its result is to be written: the same run is not made again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from probing.errors import BadInput
from probing.files.folders import refuse_occupied
from probing.plan import Plan
from probing.results.compared import BENCHMARK, MODEL, SETTINGS, differences
from probing.results.result import RECORD, Result
from probing.results.rows import keeps_rows
from probing.results.token_scores import TOKENS_FILE

NEXT_STEP = "Choose another place or remove it first."
# What makes a run another one; the same weights may lie in another folder, and be measured by newer software.
IDENTITY = (MODEL, BENCHMARK, SETTINGS)


def refuse_other_run(folder: Path, plan: Plan, *, with_tokens: bool, with_rows: bool = True) -> None:
    """Raise `BadInput` where something else is at that place, as far as this can be told without the model.

    `with_tokens`, `with_rows`: whether the result must have the scores of single tokens, and rows.
    """
    if not (folder / RECORD).is_file():
        refuse_occupied(folder)
        return
    stored, settings = Result.load(folder).record, plan.settings
    dtype = {"dtype": stored["settings"].get("dtype", settings.dtype)}  # that of a model in memory is not known yet
    expected = {
        "benchmark": {"slug": plan.benchmark.slug, "version": plan.benchmark.version},
        "settings": settings.to_json() | dtype,
    }
    _refuse_differences(folder, stored, expected)
    if with_rows and not keeps_rows(stored):
        raise BadInput(f"{folder} exists already, without its rows.", NEXT_STEP)
    if with_tokens and not (folder / TOKENS_FILE).is_file():
        raise BadInput(f"{folder} exists already, without the scores of single tokens.", NEXT_STEP)


def finished_run(folder: Path, record: Mapping[str, Any]) -> Result | None:
    """Return the result in the folder if it is that of the run that this record begins, or None without a result.

    Raises `BadInput` if it is that of another run, or if it cannot be told.
    """
    if not (folder / RECORD).is_file():
        return None
    result = Result.load(folder)
    card = record["model"]
    _refuse_differences(folder, result.record, record)
    if not (card["commit"] or card["files"]):
        raise BadInput(
            f"{folder} exists already, and {card['id']} does not say whether its weights are still the same.",
            NEXT_STEP,
        )
    return result


def _refuse_differences(folder: Path, stored: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    others = [str(difference) for difference in differences(stored, expected, IDENTITY)]
    if others:
        raise BadInput(f"{folder} exists already and holds another run ({'; '.join(others)}).", NEXT_STEP)
