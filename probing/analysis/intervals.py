"""95 % intervals of shares, means and differences, for independent items and clustered by relation.

Those for independent items have a width at 0 and at 1, too. Items that ask for the same fact in several languages are
not independent: they count as fewer items, by the design effect of Kish (1965, section 5.4).

Those clustered by relation tell how far a mean over items could move on other relations of the same kind: their
standard error is that of the jackknife that leaves out one relation at a time. A mean p with this error is as certain
as the share of n' = p (1 - p) / error² independent items, so its interval is Wilson's for p and n', with a quantile of
Student's t in place of 1.96. docs/methods/statistics.md has the simulation by which this rule was chosen.

Replicates are results that differ in nothing but a seed, which stand in one row with their mean and spread. What was
trained or drawn with several seeds has them in its name: `google/multiberts-seed_3`, `pythia-70m-seed1`, or an entry of
a study that is called `starter-seed2`.
"""

import re
from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from probing.analysis.breakdowns import fact_names, may_share_facts, means_of, members
from probing.arrays import Floats

Z = 1.959963984540054  # the 97.5 % point of the standard normal distribution
RESAMPLES = 10_000  # of every bootstrap and randomisation test
# Number of pseudo-items that are added to each part of a mean, right as often as all parts together. Without them, a
# part in which no item or every item is right would seem certain.
MORE_ITEMS = 4
NO_INTERVAL = (float("nan"), float("nan"))
# Of the name of what was trained or drawn with a seed; and the columns of what several seeds have in one row.
SEED = re.compile(r"[-_., ]*(?<![a-z])seed[-_ ]?\d+", re.IGNORECASE)
REPLICATE_FIGURES = ["runs", "mean", "sd", "lowest", "highest"]


def wilson(proportion: float, n: float, quantile: float = Z) -> tuple[float, float]:
    """Return Wilson's score interval for a proportion of `n` items; `n` may be fractional (weighted items).

    `quantile`: how many standard errors the interval reaches to either side.
    """
    if n <= 0:
        return 0.0, 1.0
    spread = quantile * sqrt(proportion * (1 - proportion) / n + quantile**2 / (4 * n * n))
    centre = proportion + quantile**2 / (2 * n)
    scale = 1 + quantile**2 / n
    # Rounding errors must not keep the interval of 0 from beginning with 0, or that of 1 from ending with 1.
    return min(proportion, max(0.0, (centre - spread) / scale)), max(proportion, min(1.0, (centre + spread) / scale))


def independent_items(mean: float, error: float, n: float) -> float:
    """Return how many independent items have a share as certain as a mean of values from 0 to 1 with this error.

    `n`: what is returned where the values show no error.
    """
    return mean * (1 - mean) / error**2 if error > 0 else n


def mean_interval(mean: float, error: float, n: float) -> tuple[float, float]:
    """Return the interval of a mean of values from 0 to 1 with this standard error.

    It is Wilson's for as many independent items as are as certain; for `n` items where the values show no error.
    """
    return wilson(mean, independent_items(mean, error, n))


def mean_of_shares(shares: Floats, n: Floats, weights: Floats | None = None) -> tuple[float, float]:
    """Return the interval of the mean of several parts' shares on other items of the same parts.

    `n`: the number of items of each part. `weights`: those of the parts, by default equal ones. It is Wilson's interval
    for as many independent items as have the same standard error; for a single part it is Wilson's own. NaN where a
    part has no items.
    """
    if not (n > 0).all() or np.isnan(shares).any():
        return float("nan"), float("nan")
    parts = np.ones(len(shares)) if weights is None else weights
    parts = parts / parts.sum()
    mean = float(np.clip(parts @ shares, 0, 1))
    towards_mean = (shares * n + MORE_ITEMS * mean) / (n + MORE_ITEMS)
    error = sqrt(max(0.0, float((parts**2 * towards_mean * (1 - towards_mean) / n).sum())))
    return mean_interval(mean, error, 1 / float((parts**2 / n).sum()))


def newcombe(first: float, n_first: float, second: float, n_second: float) -> tuple[float, float]:
    """Return Newcombe's interval for the difference of two independent proportions, from each one's Wilson interval."""
    return recovered(first, wilson(first, n_first), second, wilson(second, n_second))


def recovered(
    first: float, bounds_first: tuple[float, float], second: float, bounds_second: tuple[float, float]
) -> tuple[float, float]:
    """Return the interval of `first` - `second`, two independent estimates, from each one's own interval.

    It recovers the variances from the intervals, the MOVER method (Zou and Donner 2008).
    """
    (low_1, high_1), (low_2, high_2) = bounds_first, bounds_second
    difference = first - second
    return (
        difference - sqrt((first - low_1) ** 2 + (high_2 - second) ** 2),
        difference + sqrt((high_1 - first) ** 2 + (second - low_2) ** 2),
    )


def percentile_interval(resampled: Floats) -> tuple[float, float]:
    """Return the percentile interval of a bootstrap, from the statistic of each resample."""
    low, high = np.quantile(resampled, [0.025, 0.975])
    return float(low), float(high)


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


def clustered_means(
    rows: pd.DataFrame, values: pd.Series, dimension: str, table: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return `means_of` with three more columns: `independent`, `cluster_low` and `cluster_high`.

    `independent`: how many independent items are as informative as those of the group. The ends of the clustered
    interval are empty for groups of a single relation. `table`: the `members` of the groups, if they are known already.
    """
    table = members(rows, dimension) if table is None else table
    means = independent_means(rows, values, dimension, table)
    bounds = {
        group: cluster_interval(shares, weights, float(weights.sum()))
        for group, shares, weights in _by_relation(table, rows, values)
    }
    low, high = zip(*(bounds[group] for group in means["group"]), strict=True)
    return means.assign(cluster_low=low, cluster_high=high)


def independent_means(
    rows: pd.DataFrame, values: pd.Series, dimension: str, table: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return `means_of` with a column `independent`: how many independent items are as informative as the group's.

    `table`: the `members` of the groups, if they are known already.
    """
    table = members(rows, dimension) if table is None else table
    means = means_of(table, values)
    effects = _design_effects(table, rows, values, means) if may_share_facts(rows) else 1.0
    return means.assign(independent=means["n"] / effects)


def _design_effects(table: pd.DataFrame, rows: pd.DataFrame, values: pd.Series, means: pd.DataFrame) -> Floats:
    """Return for each group by how much the variance of its mean grows because several items ask for one fact.

    It is the sum of squared deviations of facts over that of items, each from the mean of the group: 1 where the items
    of a fact are independent of each other, and their number where they are all right or all wrong together. Where no
    item deviates it is that number as well.
    """
    member, groups = table["row"].to_numpy(), pd.factorize(table["group"])[0]
    relations, labels = pd.factorize(rows["relation"])
    of_relation = groups * len(labels) + relations[member]
    weights = table["weight"].to_numpy()
    deviations = weights * (values.to_numpy(dtype=float)[member] - means["value"].to_numpy()[groups])

    def squares(names: pd.Series, *numbers: Floats) -> list[Floats]:
        """Return for each group the sum of the squares of what each name's numbers add up to."""
        codes, distinct = pd.factorize(names, use_na_sentinel=False)
        _, first, places = np.unique(
            of_relation * len(distinct) + codes[member], return_index=True, return_inverse=True
        )
        of_group = groups[first]
        return [np.bincount(of_group, np.bincount(places, each) ** 2, len(means)).astype(float) for each in numbers]

    facts, fact_deviations = squares(fact_names(rows), weights, deviations)
    items, item_deviations = squares(rows["index"], weights, deviations)
    most = facts / items  # the items of a fact, where all have equally many
    effects = np.divide(fact_deviations, item_deviations, out=most.copy(), where=item_deviations > 1e-12)
    clipped: Floats = np.clip(effects, 1, np.maximum(most, 1))
    return clipped


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


def without_seed(name: str) -> str:
    """Return a name, or settings in words, without the number of a seed."""
    return SEED.sub("", name)


def over_seeds(scores: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return a row for each two or more scores whose `names` differ in nothing but a seed.

    `names`: the columns that tell scores apart, beside `value`. The others are `REPLICATE_FIGURES`: the number of runs,
    their mean, the standard deviation of a sample (divided by runs − 1), and the ends.
    """
    plain = scores.astype({"value": float}).assign(**{name: scores[name].map(without_seed) for name in names})
    groups = plain.dropna(subset="value").groupby(list(names), sort=False)["value"]
    table = groups.agg(["size", "mean", "std", "min", "max"]).set_axis(REPLICATE_FIGURES, axis=1)
    return table[table["runs"] > 1].reset_index()
