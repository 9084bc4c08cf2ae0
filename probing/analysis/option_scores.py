"""Rows whose options were scored: the rows that share an answer space, and their scores as probabilities."""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
from scipy.special import softmax

from probing.analysis.breakdowns import BY_CULTURE, group_names
from probing.arrays import Floats

# Columns of rows that hold a value for each option.
PER_OPTION = ("scores", "exact", "tokens", "generic")
# Columns of condensed rows (`analysis.details`): the number of options, and whether all of them have their scores.
OPTIONS, ALL_EXACT = "number of options", "all options exact"
BLOCK = 2**18  # values of options that are computed at once: 2 MiB for each array
# The tags that name an answer space where a label is shared by several relations (methods 4).
VERSIONED = "culture_pair_language_relation"
FULL_RUN_NEEDED = (
    "Answer bias and confidence need the score of every option. This run was made with `decide`, which stops at an "
    "upper bound for options that cannot win: measure the model again without it."
)


def space_dimension(columns: Iterable[str]) -> str:
    """Return the dimension whose groups share an answer space: the relation, or its version where it has several."""
    return VERSIONED if set(BY_CULTURE[VERSIONED]) <= set(columns) else "relation"


def space_names(rows: pd.DataFrame) -> pd.Series:
    """Return for each row the name of the group that shares its answer space, as `breakdowns` names groups."""
    if space_dimension(rows.columns) == "relation":
        return rows["relation"].astype(str)
    return group_names(rows, BY_CULTURE[VERSIONED])


def by_space(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each answer space under its name, in stored order."""
    for name, part in rows.groupby(space_names(rows), sort=False):
        yield str(name), part


def all_exact(rows: pd.DataFrame) -> bool:
    """Tell whether every option has its score, and none only the upper bound that `decide` leaves."""
    # One array of all options: a row at a time takes four times as long.
    return bool((rows[ALL_EXACT] if ALL_EXACT in rows else np.concatenate([[True], *rows["exact"]])).all())


def exact_rows(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Tell of each row whether every option has its score."""
    return rows[ALL_EXACT] if ALL_EXACT in rows else rows["exact"].map(np.all).astype(bool)


def option_counts(rows: pd.DataFrame) -> "pd.Series[int]":
    """Return how many options each row has."""
    return rows[OPTIONS] if OPTIONS in rows else rows["scores"].map(len).astype(int)


def blocks(rows: pd.DataFrame, options: int) -> Iterator[pd.DataFrame]:
    """Yield the rows, which have so many options each, in blocks that need little memory for each array of options."""
    size = max(BLOCK // options, 1)
    return (rows.iloc[begin : begin + size] for begin in range(0, len(rows), size))


def shares_of(rows: pd.DataFrame) -> Floats:
    """Return the scores of rows with equally many options as probabilities, shape (rows, options).

    They are those of each option, given that one of the options in its row is right.
    """
    shares: Floats = softmax(np.stack(rows["scores"].to_list()).astype(float), axis=-1)
    return shares


def right_shares(rows: pd.DataFrame, options: int) -> Floats:
    """Return each row's right answers as a distribution, shape (rows, options): equal shares for several answers."""
    shares = np.zeros((len(rows), options))
    for item, answers in enumerate(rows["answers"]):
        right = np.asarray(answers, dtype=int)
        shares[item, right] = 1 / len(right)
    return shares


def option_labels(rows: pd.DataFrame) -> dict[int, str] | None:
    """Return the labels of those options of an answer space that are right or predicted in some row.

    None where one number stands for several labels, as then the items have options of their own.
    """
    names = {"answer": "answer_label", "prediction": "prediction_label"}
    pairs = [rows[[number, label]].set_axis(["option", "label"], axis=1) for number, label in names.items()]
    labels = pd.concat(pairs).drop_duplicates()
    if labels["option"].duplicated().any():
        return None
    return dict(zip(labels["option"].astype(int), labels["label"], strict=True))
