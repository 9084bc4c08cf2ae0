"""Specificity of stored rows (methods 2.2, 2.3) as tidy scores: shares of pairs, by relation and their plain mean.

A share counts the pairs for which it is known: both answers must be single tokens of the model's vocabulary, except for
`specificity_all_pairs` and `specificity_whole_clause`, which know every pair. `n` is the number of pairs counted. The
interval of a relation is Wilson's; that of the mean is a bootstrap over pairs within each relation.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from probing.analysis.accuracy import COLUMNS
from probing.analysis.breakdown import ALL, OVERALL
from probing.analysis.intervals import wilson

RESAMPLES = 10_000
CHANCE = 0.5

Line = list[Any]


def specificity_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Every metric by relation and overall, where `overall` is the unweighted mean over relations."""
    lines = [line for metric, hits in shares(rows) for line in share_lines(metric, hits, rows["relation"])]
    return pd.DataFrame([*lines, *_chance(rows)], columns=COLUMNS)


def shares(rows: pd.DataFrame) -> Iterator[tuple[str, pd.Series]]:
    """Each metric's hits: for each row true, false, or missing where the pair does not count."""
    single = rows["specific"].notna()
    yield "specificity", rows["specific"]
    yield "naturalness", _greater(rows, "natural_log_prob")
    yield "relatedness", _greater(rows, "cosine").where(single)
    fine, coarse = (rows[f"{answer}_rank"].between(1, 10) for answer in ("fine", "coarse"))
    yield "acc_at_10_either", (fine | coarse).astype("boolean").where(single)
    yield "acc_at_10_fine", fine.astype("boolean").where(single)
    yield "specificity_all_pairs", rows["correct"].astype("boolean")
    if rows["fine_clause_score"].notna().any():
        yield "specificity_whole_clause", _greater(rows, "clause_score")


def _greater(rows: pd.DataFrame, value: str) -> pd.Series:
    """Whether the fine answer's value is strictly greater; missing where one of the two is."""
    fine, coarse = rows[f"fine_{value}"], rows[f"coarse_{value}"]
    return (fine > coarse).astype("boolean").where(fine.notna() & coarse.notna())


def share_lines(metric: str, hits: pd.Series, relation: pd.Series) -> Iterator[Line]:
    """One line per relation, then their mean; a relation without a pair that counts leaves the mean unknown."""
    table = hits.astype("Float64").groupby(relation, sort=False).agg(["mean", "count"])
    values, counts = table["mean"].to_numpy(float, na_value=np.nan), table["count"].to_numpy(int)
    for group, value, n in zip(table.index, values, counts, strict=True):
        bounds = wilson(value, n) if n else (np.nan, np.nan)
        yield [metric, "relation", str(group), value, float(n), *bounds]
    yield [metric, OVERALL, ALL, float(values.mean()), float(counts.sum()), *mean_interval(values, counts)]


def _chance(rows: pd.DataFrame) -> Iterator[Line]:
    """No preference: one half everywhere."""
    counts = rows.groupby("relation", sort=False)["specific"].count()
    yield from (["chance", "relation", str(group), CHANCE, float(n), np.nan, np.nan] for group, n in counts.items())
    yield ["chance", OVERALL, ALL, CHANCE, float(counts.sum()), np.nan, np.nan]


def mean_interval(shares: NDArray[np.float64], counts: NDArray[np.int64], seed: int = 0) -> tuple[float, float]:
    """95 % percentile interval of the shares' plain mean when each relation's pairs are drawn again.

    A resampled share of n pairs is a binomial count over n.
    """
    if not counts.all():
        return np.nan, np.nan
    drawn = np.random.default_rng(seed).binomial(counts, shares, size=(RESAMPLES, len(counts)))
    low, high = np.quantile((drawn / counts).mean(axis=1), [0.025, 0.975])
    return float(low), float(high)
