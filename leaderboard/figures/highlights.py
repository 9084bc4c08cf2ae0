"""The highlights of a run: the wrong answers of which its model was surest, which its page shows one by one."""

import json
from functools import lru_cache
from typing import Any

import pandas as pd
from django.core.files.storage import storages

from leaderboard.figures import item_rows
from leaderboard.figures.item_rows import Row
from leaderboard.models import Run

FILE = "highlights.json"
MOST = 5
ITEM = ["relation", "index"]
COLUMNS = [*ITEM, "template", "subject", "answer_label", "prediction_label", "correct", "margin"]


def surest_errors(rows: pd.DataFrame) -> list[Row]:
    """Return the wrong answers with the widest margins, as multiples of the usual margin of the same wording.

    There is one of each item at most, and none where the rows have no margins. A wording whose blank comes first gives
    a causal model margins many times as wide as others, and would have all of them.
    """
    if not set(COLUMNS) <= set(rows.columns):
        return []
    shown = rows[[name for name in (*COLUMNS, "language") if name in rows.columns]]
    judged = shown.dropna(subset=["margin", "correct"]).astype({"correct": bool})
    usual = judged["margin"].abs().groupby([judged["relation"], judged["template"]]).transform("median")
    order = (judged["margin"] / usual.where(usual > 0)).sort_values(kind="stable").index
    ordered = judged.loc[order]
    return _records(ordered[~ordered["correct"]].drop_duplicates(ITEM).head(MOST))


def _records(rows: pd.DataFrame) -> list[Row]:
    """Return rows by the names of their columns, with None for what is missing."""
    present = rows.astype(object).where(rows.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in present.to_dict("records")]


def to_json(errors: list[Row]) -> str:
    """Write errors as the first of a list, behind which there were other highlights once."""
    return json.dumps([errors], default=_plain)


def _plain(value: Any) -> Any:
    """Return a number of numpy as one of Python."""
    return value.item()


def highlights(run: Run) -> list[Row]:
    """Return the surest errors of a run; none where it has no stored rows."""
    return stored_highlights(run.pk, run.artefact) if run.artefact and run.state == Run.State.FINISHED else []


@lru_cache(maxsize=64)
def stored_highlights(pk: int, artefact: str) -> list[Row]:
    """Read the highlights of a result, whose files never change, or compute those of an older one."""
    try:
        with storages["artefacts"].open(f"{artefact}/{FILE}") as file:
            errors: list[Row] = json.loads(file.read())[0] or []
            return errors
    except FileNotFoundError:
        return surest_errors(item_rows.frame(Run.objects.get(pk=pk), [*COLUMNS, "language"]))
