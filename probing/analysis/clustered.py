"""Intervals clustered by relation: how far a mean over items could move on other relations of the same kind.

The standard error is that of the jackknife that leaves out one relation at a time. A mean p with this error is as
certain as the share of n' = p (1 - p) / error² independent items, so its interval is Wilson's for p and n', with a
quantile of Student's t in place of 1.96. docs/methods.md has the simulation by which this rule was chosen.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from probing.analysis.breakdown import means_of, members
from probing.analysis.intervals import independent_items, wilson
from probing.arrays import Floats

NO_INTERVAL = (float("nan"), float("nan"))


def cluster_interval(shares: Floats, weights: Floats, n: float) -> tuple[float, float]:
    """Return the clustered 95 % interval of the weighted mean of relations' shares; NaN for fewer than two relations.

    `shares`, `weights`: one value for each relation, where a share is a mean of values from 0 to 1. The weights are
    equal for a macro-average, and numbers of items for a mean over items. `n`: the number of items of all relations;
    the interval is at least as wide as that of n independent items.
    """
    shares, weights = shares[weights > 0], weights[weights > 0]
    if len(shares) < 2 or np.isnan(shares).any():
        return NO_INTERVAL
    parts = weights / weights.sum()
    mean = float(np.clip(parts @ shares, 0, 1))
    deviations = shares - mean
    error = jackknife_error(deviations, parts)
    items = min(independent_items(mean, error, n), n)
    return wilson(mean, items, float(stdtrit(degrees_of_freedom(deviations, parts), 0.975)))


def jackknife_error(deviations: Floats, parts: Floats) -> float:
    """Return the standard error of a weighted mean by the jackknife that leaves out one relation at a time.

    `deviations`: the shares minus their mean; `parts`: the weights, which add up to 1. Without relation g the mean
    differs by part_g · deviation_g / (1 - part_g).
    """
    differences = parts * deviations / (1 - parts)
    return float(np.sqrt((differences @ differences) * (len(parts) - 1) / len(parts)))


def degrees_of_freedom(deviations: Floats, parts: Floats) -> float:
    """Return the degrees of freedom of the jackknife's variance, at least 1.

    For k relations of equal weight whose shares look normal they are k - 1. Unequal weights count as 1 / Σ part²
    relations. A variance that rests on a few outlying relations is less certain: an excess kurtosis κ above zero adds
    κ / (2 k) to the reciprocal (Satterthwaite).
    """
    relations = 1 / float(parts @ parts)
    variance = float(parts @ deviations**2)
    excess = float(parts @ deviations**4) / variance**2 - 3 if variance > 0 else 0.0
    return max(1.0, 1 / (1 / (relations - 1) + max(0.0, excess) / (2 * relations)))


def clustered_means(rows: pd.DataFrame, values: pd.Series, dimension: str) -> pd.DataFrame:
    """Return `group_means` with `cluster_low` and `cluster_high`, which are empty for groups of a single relation."""
    table = members(rows, dimension)
    means = means_of(table, values)
    bounds = {
        group: cluster_interval(shares, weights, float(weights.sum()))
        for group, shares, weights in _by_relation(table, rows, values)
    }
    low, high = zip(*(bounds[group] for group in means["group"]), strict=True)
    return means.assign(cluster_low=low, cluster_high=high)


def _by_relation(table: pd.DataFrame, rows: pd.DataFrame, values: pd.Series) -> Iterator[tuple[str, Floats, Floats]]:
    """Yield for each group its name, and the share and the weight (items) of each of its relations.

    `table`: the `members` of the groups.
    """
    groups, names = pd.factorize(table["group"])
    relations, labels = pd.factorize(rows["relation"])
    weights = table["weight"].to_numpy()
    pairs, places = np.unique(groups * len(labels) + relations[table["row"]], return_inverse=True)
    sums = np.bincount(places, weights)
    shares = np.bincount(places, weights * values.to_numpy(dtype=float)[table["row"]]) / sums
    starts = np.searchsorted(pairs, np.arange(1, len(names)) * len(labels))
    yield from zip(map(str, names), np.split(shares, starts), np.split(sums, starts), strict=True)
