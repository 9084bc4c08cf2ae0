"""Accuracy of stored rows as tidy scores.

A value is the mean over items of the mean over an item's templates, which equals the mean over templates if every item
was asked with each of them. The first interval is Wilson's for `n` items: it covers a new sample of items of the same
relations, not other templates. The second one is clustered by relation, and covers other relations like these.
`accuracy_sem` measures how much templates matter.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from probing.analysis.answer_spaces import option_counts
from probing.analysis.breakdown import ALL, OVERALL, count_items, group_means
from probing.analysis.clustered import NO_INTERVAL, clustered_means
from probing.analysis.intervals import wilson

ITEM_COLUMNS = ["metric", "dimension", "group", "value", "n", "low", "high"]
# `low` and `high` hold for the relations that were asked, `cluster_low` and `cluster_high` for relations like these.
SCORE_COLUMNS = [*ITEM_COLUMNS, "cluster_low", "cluster_high"]

# The values of one score without a clustered interval, in the order of `ITEM_COLUMNS`, and of one with it.
ScoreRow = tuple[str, str, str, float, float, float, float]
ClusteredRow = tuple[str, str, str, float, float, float, float, float, float]


def tidy(scores: Iterable[ScoreRow | ClusteredRow]) -> pd.DataFrame:
    """Return scores as a table with all `SCORE_COLUMNS`; a clustered interval that a score lacks is empty."""
    return pd.DataFrame([(*score, *NO_INTERVAL)[: len(SCORE_COLUMNS)] for score in scores], columns=SCORE_COLUMNS)


def accuracy_scores(rows: pd.DataFrame, dimensions: list[str]) -> pd.DataFrame:
    """Return `accuracy` and `chance` overall and in each dimension, and overall also measures of the ranks."""
    tables = []
    for dimension in [OVERALL, "template", "relation", *dimensions]:
        tables += [proportion(rows, "accuracy", rows["correct"], dimension), chance(rows, dimension)]
    return pd.concat([*tables, *_rank_scores(rows), *_spread_over_templates(rows)], ignore_index=True)


def proportion(rows: pd.DataFrame, metric: str, values: pd.Series, dimension: str) -> pd.DataFrame:
    """Return the share of items for which `values` is true in each group of a dimension, with both intervals."""
    table = clustered_means(rows, values, dimension)
    bounds = [wilson(value, n) for value, n in zip(table["value"], table["n"], strict=True)]
    low, high = zip(*bounds, strict=True)
    return _scored(metric, dimension, table, low, high)


def mean(rows: pd.DataFrame, metric: str, values: pd.Series, dimension: str) -> pd.DataFrame:
    """Return the mean of `values` over the items of each group of a dimension, without an interval."""
    return _scored(metric, dimension, group_means(rows, values, dimension))


def chance(rows: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """Return the accuracy of guessing: right options / options, averaged in the same way as accuracy."""
    return mean(rows, "chance", rows["answers"].map(len) / option_counts(rows), dimension)


def _scored(
    metric: str, dimension: str, table: pd.DataFrame, low: Sequence[float] = (), high: Sequence[float] = ()
) -> pd.DataFrame:
    """Return a table of `group_means` or `clustered_means` as tidy scores; intervals that it lacks are empty."""
    empty = np.full(len(table), np.nan)
    scores = {
        "metric": metric,
        "dimension": dimension,
        "low": low or empty,
        "high": high or empty,
        "cluster_low": empty,
        "cluster_high": empty,
    }
    return pd.DataFrame(scores | dict(table.items()), columns=SCORE_COLUMNS)


def precision_at(rows: pd.DataFrame, k: int) -> pd.DataFrame:
    """Return the overall share of items with a right option among the k best, as `precision_at_<k>`.

    Every row must have a rank.
    """
    return proportion(rows, f"precision_at_{k}", rows["rank"].astype(int) <= k, OVERALL)


def _rank_scores(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Return precision at 5 and the mean reciprocal rank, or nothing if a rank is unknown.

    With `decide` the ranks of wrongly answered items are unknown.
    """
    if rows["rank"].isna().any():
        return []
    return [
        precision_at(rows, 5),
        mean(rows, "mean_reciprocal_rank", 1 / rows["rank"].astype(int), OVERALL),
    ]


def _spread_over_templates(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the standard error of the mean over templates, as BEAR publishes it.

    It is the sample standard deviation of the templates' accuracies / sqrt(templates), and only defined if every item
    was asked with each of several templates.
    """
    by_template = rows.groupby("template")["correct"].mean().to_numpy(dtype=float)
    n = count_items(rows)
    if len(by_template) < 2 or len(rows) < n * len(by_template):
        return []
    error = by_template.std(ddof=1) / len(by_template) ** 0.5
    return [tidy([("accuracy_sem", OVERALL, ALL, error, float(n), np.nan, np.nan)])]
