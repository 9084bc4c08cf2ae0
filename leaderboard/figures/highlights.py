"""Highlights of a run: the answers that its page shows one by one."""

import json
from collections.abc import Collection
from functools import lru_cache
from typing import Any, NamedTuple

import pandas as pd
from django.core.files.storage import storages

from leaderboard.figures import item_rows
from leaderboard.figures.item_rows import Row
from leaderboard.models import Run
from probing.analysis.breakdowns import BY_CULTURE
from probing.analysis.option_scores import VERSIONED
from probing.analysis.wording_sensitivity import FLIPS, OUTCOME_COLUMNS, wordings

FILE = "highlights.json"
SURPRISES = 5
ITEM = ["relation", "index"]
SHOWN = [*ITEM, "template", "subject", "answer_label", "prediction_label", "correct"]
SURPRISE_COLUMNS = [*SHOWN, "margin"]
COLUMNS = (*SHOWN, "margin", "prediction", "language", *OUTCOME_COLUMNS, *BY_CULTURE[VERSIONED])


class Highlights(NamedTuple):
    """What a run's page shows one by one.

    `sure`: wrong rows with the widest margin for their wording, one for each item; None where the rows have no margins.
    `wordings`: the rows of `probing.analysis.wording_sensitivity.wordings`, for a run whose items were asked in several
    wordings.
    """

    sure: list[Row] | None = None
    wordings: list[Row] | None = None

    @classmethod
    def parse(cls, text: str | bytes) -> "Highlights":
        """Read what `to_json` writes, or what it wrote when further lists of answers stood behind the first one."""
        sure, *_, by_relation = json.loads(text)
        return cls(sure, by_relation)

    def to_json(self) -> str:
        return json.dumps(self, default=_plain)


def _plain(value: Any) -> Any:
    """Return a number of numpy as one of Python."""
    return value.item()


def highlights_of(rows: pd.DataFrame, metrics: Collection[str]) -> Highlights:
    """Find the highlights among the rows of a run that has scores in these metrics."""
    sure = _surprises(rows) if set(SURPRISE_COLUMNS) <= set(rows.columns) else None
    return Highlights(sure, _records(wordings(rows)) if FLIPS in metrics else None)


def _surprises(rows: pd.DataFrame) -> list[Row]:
    """Return the wrong answers with the widest margins, as multiples of the usual margin of the same wording.

    A wording whose blank comes first gives a causal model margins many times as wide as others, and all surprises.
    """
    shown = rows[[name for name in (*SURPRISE_COLUMNS, "language") if name in rows.columns]]
    judged = shown.dropna(subset=["margin", "correct"]).astype({"correct": bool})
    usual = judged["margin"].abs().groupby([judged["relation"], judged["template"]]).transform("median")
    order = (judged["margin"] / usual.where(usual > 0)).sort_values(kind="stable").index
    ordered = judged.loc[order]
    return _records(ordered[~ordered["correct"]].drop_duplicates(ITEM).head(SURPRISES))


def _records(rows: pd.DataFrame) -> list[Row]:
    """Return rows by the names of their columns, with None for what is missing."""
    present = rows.astype(object).where(rows.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in present.to_dict("records")]


def highlights(run: Run) -> Highlights:
    """Return the highlights of a run; none where it has no stored rows."""
    return stored_highlights(run.pk, run.artefact) if run.artefact and run.state == Run.State.FINISHED else Highlights()


@lru_cache(maxsize=64)
def stored_highlights(pk: int, artefact: str) -> Highlights:
    """Read the highlights of a result, whose files never change, or compute those of an older one."""
    try:
        with storages["artefacts"].open(f"{artefact}/{FILE}") as file:
            return Highlights.parse(file.read())
    except FileNotFoundError:
        run = Run.objects.get(pk=pk)
        return highlights_of(item_rows.frame(run, COLUMNS), set(run.scores.values_list("metric", flat=True)))
