"""Rows of items whose options are scored: what every probe with options has in them, and their main scores."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from probing.analysis.baselines import baseline_scores
from probing.analysis.details import detail_scores
from probing.analysis.ties import with_ties
from probing.arrays import Bools, Floats
from probing.benchmark import Item, Relation
from probing.errors import NonFiniteScores
from probing.language_model import LanguageModel
from probing.probes.columns import RowColumns, item_cells, tag_cells
from probing.probes.probe import Probe, Row, tag_columns
from probing.template import SUBJECT_SLOT, Prompt, prompt

OTHER_BLANK = "…"  # stands for a blank that is not scored


class ChoiceColumns(RowColumns):
    """Columns of a row of any probe with options, which are indices into the answer space."""

    answer: int
    answers: list[int]
    prediction: int
    correct: bool
    rank: int | None
    margin: float | None
    scores: list[float]
    exact: list[bool]
    answer_label: str
    prediction_label: str
    statement: str


def item_prompt(relation: Relation, item: Item, template: int) -> Prompt:
    """Return the prompt by which an item is asked."""
    return prompt(relation.template_of(item, template), item.subject, relation.verbatim)


def slotted(relation: Relation, item: Item, template: int) -> str:
    """Return an item's sentence with slots for its subject and its answer.

    A sentence of the item's own has slots where the subject's name stands.
    """
    if item.wording and item.subject:
        return item.wording.replace(item.subject, SUBJECT_SLOT)
    return relation.template_of(item, template)


def choice_row(relation: Relation, text: Prompt, item: Item, scores: Floats, exact: Bools) -> dict[str, Any]:
    """Return the columns of a row that depend on the item and its option scores."""
    options = relation.options_of(item)
    prediction, correct, rank = ranked(scores, item)
    right = np.isin(np.arange(len(scores)), item.answers)
    all_exact = bool(exact.all())
    return {
        **item_cells(item),
        "prediction": prediction,
        "correct": correct,
        "rank": rank if all_exact or correct else None,
        "margin": float(scores[right].max() - scores[~right].max()) if all_exact and not right.all() else None,
        "scores": scores.tolist(),
        "exact": exact.tolist(),
        "answer_label": options[item.answers[0]],
        "prediction_label": options[prediction],
        "statement": text.fill(options[prediction], OTHER_BLANK).text,
        **tag_cells(relation, item),
    }


def ranked(scores: Floats, item: Item) -> tuple[int, bool, int]:
    """Return the best option (the first of equals), whether it is right, and the rank of the best right option."""
    order = np.argsort(-scores, kind="stable")
    rank = int(np.argmax(np.isin(order, item.answers))) + 1
    return int(order[0]), rank == 1, rank


def choice_frame(rows: Sequence[Row]) -> pd.DataFrame:
    """Return rows with the columns of `choice_row` as a table whose types do not depend on what is missing."""
    return pd.DataFrame(rows).astype({"rank": "Int64", "margin": float})


def choice_scores(main: pd.DataFrame, rows: pd.DataFrame, probe: Probe) -> pd.DataFrame:
    """Return a probe's main scores, then those of the baselines, what the main figures hide, and ties."""
    tags = tag_columns(probe, rows.columns)
    tables = [main, baseline_scores(rows, tags), detail_scores(rows, tags)]
    return with_ties(pd.concat([table for table in tables if len(table)], ignore_index=True), rows)


def non_finite(model: LanguageModel, relation: Relation, item: Item, template: int) -> NonFiniteScores:
    """Return the error for an item whose scores are not finite."""
    return NonFiniteScores.of(model.card.id, f"on {relation.id}, item {item.index}, template {template}")
