"""Cloze rows as tidy scores (methods 5.5): in-top-k and in-near-k, averaged over fact types.

A value is the plain mean over relations (fact types) of the mean over their sentences, within a group too. Its
interval joins the relations' Wilson intervals by the square-root rule for a sum of independent proportions (Zou and
Donner's MOVER): for one relation it is Wilson's own.
"""

import numpy as np
import pandas as pd

from probing.analysis.accuracy import COLUMNS
from probing.analysis.breakdown import OVERALL, members
from probing.analysis.intervals import wilson
from probing.errors import BadInput

KS = {"top": (1, 5, 10), "near": (1, 5, 15)}
MAJOR = 20  # sentences that make a fact type a major one
# Three tags at once, joined by spaces: what is left of each fact type without leaky sentences.
CROSSED = ("fact_type", "major", "leak")
CELL = "_".join(CROSSED)


def cloze_scores(rows: pd.DataFrame, dimensions: list[str], tokens: int = 15) -> pd.DataFrame:
    """`accuracy` (within the run's k) and in-top-k or in-near-k; for rankings also `not_one_token`.

    `tokens`: how many a generator wrote; in-near-k is given up to there. Sentences that could not be put to the model
    count nowhere, except in what makes a fact type a major one.
    """
    rows = rows.assign(major=majors(rows)) if "fact_type" in dimensions else rows
    asked = rows[rows["correct"].notna()]
    if asked.empty:
        raise BadInput("None of these sentences ends in its blank.", "Choose a masked model or other relations.")
    names = [OVERALL, *(["major"] if "major" in rows else []), *dimensions, "relation"]
    if set(CROSSED) <= set(rows):
        asked = asked.assign(**{CELL: asked[list(CROSSED)].agg(" ".join, axis=1)})
        names.append(CELL)
    found = metrics(asked, tokens)
    return pd.concat([macro(asked, found, name) for name in names], ignore_index=True)


def metrics(rows: pd.DataFrame, tokens: int) -> pd.DataFrame:
    """One column per metric: 1 for each row for which it holds, else 0."""
    method = rows["method"].iloc[0]
    rank = rows["rank"].astype("Int64")
    found = {"accuracy": rows["correct"]}
    found |= {f"in_{method}_{k}": (rank <= k).fillna(False) for k in KS[method] if method == "top" or k <= tokens}
    if method == "top":
        found["not_one_token"] = ~rows["one_token"].astype(bool)
    return pd.DataFrame(found).astype(float)


def majors(rows: pd.DataFrame) -> pd.Series:
    """Whether a row's fact type is a major one."""
    sentences = rows.groupby("relation")["index"].transform("nunique")
    return pd.Series(np.where(sentences >= MAJOR, "major", "minor"), rows.index)


def macro(rows: pd.DataFrame, values: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """The mean over relations of each metric's share of items, per group of a dimension."""
    table = members(rows, dimension)
    taken = values.iloc[table["row"]].mul(table["weight"].to_numpy(), axis=0).assign(weight=table["weight"].to_numpy())
    keys = [table["group"].to_numpy(), rows["relation"].to_numpy()[table["row"]]]
    sums = taken.groupby(keys, sort=False).sum()
    found = [
        (metric, dimension, str(group), *mean_share(part[metric] / part["weight"], part["weight"]))
        for group, part in sums.groupby(level=0, sort=False)
        for metric in values
    ]
    return pd.DataFrame(found, columns=COLUMNS)


def mean_share(shares: pd.Series, n: pd.Series) -> tuple[float, float, float, float]:
    """value, n, low, high of the plain mean of independent shares."""
    bounds = np.array([wilson(share, size) for share, size in zip(shares, n, strict=True)])
    below, above = shares.to_numpy() - bounds[:, 0], bounds[:, 1] - shares.to_numpy()
    value, weight = float(shares.mean()), 1 / len(shares)
    low, high = value - weight * np.sqrt((below**2).sum()), value + weight * np.sqrt((above**2).sum())
    return value, round(float(n.sum()), 9), max(0.0, float(low)), min(1.0, float(high))
