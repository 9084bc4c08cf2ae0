"""Condensed rows: the facts about each row's options that scores are computed from, in place of the options' values.

Rows of a large run have several values for each of millions of options. Each row is therefore condensed while the rows
of its relation are in memory, and the scores are computed from the condensed rows of all relations.
"""

import pandas as pd

from probing.analysis.answer_spaces import ALL_EXACT, OPTIONS, PER_OPTION, all_exact, exact_rows, option_counts
from probing.analysis.bias import BIAS_METRICS, biases_of_rows
from probing.analysis.breakdown import hashable
from probing.analysis.confidence import CONFIDENCES, confidences
from probing.analysis.ties import TIED, tied_rows

# The columns that only condensed rows have.
FIGURES = frozenset({OPTIONS, ALL_EXACT, TIED, *CONFIDENCES, *BIAS_METRICS})
# Columns that no score is computed from.
UNSCORED = ("subject", "subject_id", "statement", "prediction_label", "best", "margin", "demonstrations")


def condensed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of a probe with options with the facts about these that every such probe needs."""
    facts: dict[str, pd.Series] = {OPTIONS: option_counts(rows), ALL_EXACT: exact_rows(rows), TIED: tied_rows(rows)}
    return _compact(rows.drop(columns=[*PER_OPTION, *UNSCORED], errors="ignore").assign(**facts))


def condensed_with_details(rows: pd.DataFrame) -> pd.DataFrame:
    """Return condensed rows that also have the figures of `details`; the rows must be all those of their relations."""
    if not len(rows) or not all_exact(rows):
        return condensed(rows)
    return pd.concat([condensed(rows), confidences(rows), biases_of_rows(rows)], axis=1)


def _compact(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the same rows in less memory: equal lists are one tuple, and whole numbers have 32 bits."""
    lists = {name: _shared(rows[name]) for name in rows.columns[rows.dtypes == "object"]}
    numbers = dict.fromkeys(rows.columns[rows.dtypes == "int64"], "int32")
    return rows.assign(**lists).astype(numbers)


def _shared(cells: pd.Series) -> pd.Series:
    """Return a column with tuples in place of lists; equal ones are one object."""
    distinct: dict[object, object] = {}
    shared = [distinct.setdefault(cell, cell) for cell in map(hashable, cells)]
    return pd.Series(shared, cells.index, dtype=object)
