"""Ties: items whose best score several options share, so that the first of them counts as the prediction."""

import numpy as np
import pandas as pd

from probing.analysis.accuracy import proportion
from probing.analysis.breakdown import OVERALL

TIES = "ties"
TIED = "best options tie"  # a column of condensed rows (`analysis.condensed`)
MOST_TIE = (
    "Of most items several options share the best score, so that their order decides and the accuracy says "
    "nothing: the tokenizer may not know the words, or the network may put out the same whatever it reads."
)


def with_ties(scores: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the scores with one more: `ties`, the share of items whose best score several options share.

    `n` counts the items; an item's templates share its weight.
    """
    return pd.concat([scores, proportion(rows, TIES, tied_rows(rows), OVERALL)], ignore_index=True)


def tied_rows(rows: pd.DataFrame) -> pd.Series:
    """Tell of each row whether several of its options share the best score."""
    return rows[TIED] if TIED in rows else tied(rows["scores"])


def tied(scores: pd.Series) -> pd.Series:
    """Tell of each list of option scores whether its maximum occurs more than once.

    It is exact also where `decide` left scores open, because every option that can tie with the best is scored to its
    end, and the bounds of all others are lower.
    """
    sizes = scores.map(len).to_numpy()
    values, starts = np.concatenate(scores.tolist()), np.cumsum(sizes) - sizes
    best = np.repeat(np.maximum.reduceat(values, starts), sizes)
    return pd.Series(np.add.reduceat(values == best, starts, dtype=np.int64) > 1, scores.index)


def tie_warnings(scores: pd.DataFrame) -> list[str]:
    """Return a warning if more than half of the items of a run tie."""
    shares = scores.loc[scores["metric"] == TIES, "value"]
    return [MOST_TIE] if (shares > 0.5).any() else []


def ties_in_words(share: float, items: float) -> str:
    """Say how many of the items have ties: with several templates, the number may be a fraction."""
    number = f"{share * items:,.1f}".removesuffix(".0")
    return (
        f"Ties: of {number} of {items:,.0f} items ({share:.2%}) several options share the best score, and the first of "
        "them counts as the prediction."
    )
