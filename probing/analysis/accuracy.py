"""Accuracy of stored rows as tidy scores.

A value is the mean over items of the mean over an item's templates, which is the mean over templates where every item
was asked with each. The interval is Wilson's for `n` items: it says how far the value could move with other items of
the same kind, not with other templates. What templates do is `accuracy_sem`.
"""

import numpy as np
import pandas as pd

from probing.analysis.breakdown import ALL, OVERALL, group_means
from probing.analysis.intervals import wilson

COLUMNS = ["metric", "dimension", "group", "value", "n", "low", "high"]


def accuracy_scores(rows: pd.DataFrame, dimensions: list[str]) -> pd.DataFrame:
    """`accuracy` and `chance` overall and in each dimension; overall also how well the answers rank."""
    tables = []
    for dimension in [OVERALL, "template", "relation", *dimensions]:
        tables += [proportion(rows, "accuracy", rows["correct"], dimension), chance(rows, dimension)]
    return pd.concat([*tables, *_ranking(rows), *_spread_over_templates(rows)], ignore_index=True)


def proportion(rows: pd.DataFrame, metric: str, values: pd.Series, dimension: str) -> pd.DataFrame:
    """The share of items for which `values` holds, with its interval."""
    table = group_means(rows, values, dimension)
    bounds = [wilson(value, n) for value, n in zip(table["value"], table["n"], strict=True)]
    low, high = zip(*bounds, strict=True)
    return table.assign(metric=metric, dimension=dimension, low=low, high=high)[COLUMNS]


def mean(rows: pd.DataFrame, metric: str, values: pd.Series, dimension: str) -> pd.DataFrame:
    """A mean without an interval."""
    table = group_means(rows, values, dimension)
    return table.assign(metric=metric, dimension=dimension, low=np.nan, high=np.nan)[COLUMNS]


def chance(rows: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """What guessing would get: right options / options, averaged as accuracy is."""
    return mean(rows, "chance", rows["answers"].map(len) / rows["scores"].map(len), dimension)


def _ranking(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Only where every rank is known: with `decide` the ranks of wrong items are not."""
    if rows["rank"].isna().any():
        return []
    ranks = rows["rank"].astype(int)
    return [
        proportion(rows, "precision_at_5", ranks <= 5, OVERALL),
        mean(rows, "mean_reciprocal_rank", 1 / ranks, OVERALL),
    ]


def _spread_over_templates(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Standard error of the mean over templates (sample standard deviation / sqrt(templates)), as BEAR publishes.

    Only where every item was asked with each template.
    """
    by_template = rows.groupby("template")["correct"].mean().to_numpy(dtype=float)
    n = len(rows.drop_duplicates(["relation", "index"]))
    if len(by_template) < 2 or len(rows) < n * len(by_template):
        return []
    error = by_template.std(ddof=1) / len(by_template) ** 0.5
    return [pd.DataFrame([["accuracy_sem", OVERALL, ALL, error, float(n), np.nan, np.nan]], columns=COLUMNS)]
