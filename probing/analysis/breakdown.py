"""Breakdowns: a group-by over a tag. Items are counted, not rows, and share their weight over several values."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

OVERALL = "overall"
ALL = "all"


def item_weights(rows: pd.DataFrame) -> pd.Series:
    """1 for each item, shared equally by its rows (one per template)."""
    return 1 / rows.groupby(["relation", "index"])["template"].transform("size")


def members(rows: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """Which row counts how much in which group: columns `row` (position), `group`, `weight`.

    A tag with d values gives 1/d of the item to each (methods 1.3), one without values nothing. Along `template`
    each row is an item of its own.
    """
    positions = np.arange(len(rows))
    if dimension == OVERALL:
        return pd.DataFrame({"row": positions, "group": ALL, "weight": item_weights(rows).to_numpy()})
    if dimension == "template":
        return pd.DataFrame({"row": positions, "group": rows["template"].astype(str).to_numpy(), "weight": 1.0})
    values = [_values(value) for value in rows[dimension]]
    counts = np.array([len(several) for several in values])
    repeated = np.repeat(positions, counts)
    weights = item_weights(rows).to_numpy()[repeated] / counts[repeated]
    return pd.DataFrame({"row": repeated, "group": [one for several in values for one in several], "weight": weights})


def group_means(rows: pd.DataFrame, values: pd.Series, dimension: str) -> pd.DataFrame:
    """The weighted mean of a column per group: columns `group`, `value`, `n` (items, possibly fractional)."""
    table = members(rows, dimension)
    table["part"] = table["weight"] * values.to_numpy(dtype=float)[table["row"]]
    sums = table.groupby("group", sort=False)[["weight", "part"]].sum()
    means = {"group": sums.index.astype(str), "value": sums["part"] / sums["weight"], "n": sums["weight"].round(9)}
    return pd.DataFrame(means).reset_index(drop=True)


def _values(tag: object) -> list[str]:
    """A tag's values: of a text, of a list (an array when read from Parquet), or none where the tag is absent."""
    if isinstance(tag, str):
        return [tag]
    if isinstance(tag, Iterable):
        return list(dict.fromkeys(str(value) for value in tag))
    return []
