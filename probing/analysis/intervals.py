"""95 % intervals of shares and means: on other questions, and on other relations like these.

Those on other questions are Wilson's for as many independent items as are as certain, so that they have a width at 0
and at 1, too. All wordings and languages of a fact are one cluster, whose mean is drawn again as a whole (Kish 1965,
section 6.3); where relations weigh equally, clusters are drawn within relations. `verdicts` compares two figures.

Those on other relations tell how far a mean over items could move on other relations of the same kind: their
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

from probing.analysis.breakdowns import fact_names, members
from probing.arrays import Floats, Ints

Z = 1.959963984540054  # the 97.5 % point of the standard normal distribution
TINY = 1e-9  # errors and differences of weights up to this size are rounding
# Number of questions that are added to each part of a mean, which vary as all parts together do. Without them, a part
# in which no answer or every answer is right would seem certain.
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


def mean_interval(n: Floats, means: Floats, spreads: Floats) -> tuple[float, float]:
    """Return the interval of the plain mean of one or several parts on other questions of the same parts.

    `n`, `means`, `spreads`: of each part its number of questions and the mean and variance of their figures, from 0 to
    1. It is Wilson's interval for as many independent items as have the same standard error: for right and wrong
    answers of a single part Wilson's own. NaN where a part has no questions.
    """
    if not (n > 0).all():
        return NO_INTERVAL
    mean = float(np.clip(means.mean(), 0, 1))
    error = float(stratified_error(n, means, spreads))
    return wilson(mean, independent_items(mean, error if error > TINY else 0.0, len(n) ** 2 / float((1 / n).sum())))


def interval_of_shares(n: Floats, shares: Floats) -> tuple[float, float]:
    """Return the same for parts whose shares of right answers alone are known, so that all count as one wording."""
    return mean_interval(n, shares, shares * (1 - shares))


def stratified_error(n: Floats, means: Floats, spreads: Floats) -> Floats:
    """Return the standard error of the plain mean of parts, whose questions are drawn again within each part.

    All arrays have the parts on their first axis; parts without questions do not count. Each part gets `MORE_ITEMS`
    questions that vary as those of all parts together do.
    """
    parts = (n > 0).sum(axis=0)
    mean = means.sum(axis=0) / parts
    spread = (spreads + means**2).sum(axis=0) / parts - mean**2
    enough = n + MORE_ITEMS
    variances = (n * spreads + MORE_ITEMS * spread) / enough + MORE_ITEMS * n * ((means - mean) / enough) ** 2
    squares = np.divide(variances, n, out=np.zeros_like(variances), where=n > 0).sum(axis=0)
    error: Floats = np.sqrt(np.maximum(squares, 0)) / parts
    return error


def figure_interval(figures: Floats, parts: Ints) -> tuple[float, float]:
    """Return the interval of the plain mean over parts, given each question's figure and the number of its part."""
    n = np.bincount(parts).astype(float)
    means = np.bincount(parts, figures) / n
    return mean_interval(n, means, np.bincount(parts, (figures - means[parts]) ** 2) / n)


def evened(figures: Floats, weights: Floats, parts: Ints) -> Floats:
    """Return figures that may be averaged without weights: those of questions that do not count equally in their part.

    The mean of a part stays the weighted one, and so does its standard error as a ratio of two sums.
    """
    total = np.bincount(parts, weights)
    means = np.bincount(parts, weights * figures) / total
    relative = weights / (total / np.bincount(parts))[parts]
    evened: Floats = np.where(np.abs(relative - 1) < TINY, figures, means[parts] + relative * (figures - means[parts]))
    return evened


def recovered(
    first: float, bounds_first: tuple[float, float], second: float, bounds_second: tuple[float, float]
) -> tuple[float, float]:
    """Return the interval of `first` - `second`, two independent estimates, from each one's own interval.

    It recovers the variances from the intervals, the MOVER method (Zou and Donner 2008); from Wilson's intervals it is
    Newcombe's.
    """
    (low_1, high_1), (low_2, high_2) = bounds_first, bounds_second
    difference = first - second
    return (
        difference - sqrt((first - low_1) ** 2 + (high_2 - second) ** 2),
        difference + sqrt((high_1 - first) ** 2 + (second - low_2) ** 2),
    )


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


def group_means(
    rows: pd.DataFrame,
    values: pd.Series,
    dimension: str,
    table: pd.DataFrame | None = None,
    *,
    macro: bool = False,
) -> pd.DataFrame:
    """Return `group`, `value`, `n` and both intervals of the means of values in each group of a dimension.

    `macro`: whether relations weigh equally, and not items. `low` and `high` cover other questions: those that ask for
    one fact, in several wordings or languages, count as one. `cluster_low` and `cluster_high` cover other relations
    like these; they are empty for groups of a single relation. `table`: the `members` of the groups, if they are known.
    """
    table = members(rows, dimension) if table is None else table
    groups, names = pd.factorize(table["group"])
    figures = [_figures_of_group(facts, macro) for facts in _facts_by_group(table, rows, values, groups)]
    columns = ["value", "n", "low", "high", "cluster_low", "cluster_high"]
    scores = pd.DataFrame(figures, columns=columns)
    scores.insert(0, "group", names.astype(str))
    return scores


# The facts of a group: the number of each one's relation, its weight in items, and the mean of its values.
_Facts = tuple[Ints, Floats, Floats]


def _facts_by_group(table: pd.DataFrame, rows: pd.DataFrame, values: pd.Series, groups: Ints) -> Iterator[_Facts]:
    """Yield the facts of each group, in the order of the groups' numbers."""
    member, weights = table["row"].to_numpy(), table["weight"].to_numpy()
    relations, labels = pd.factorize(rows["relation"])
    facts, names = pd.factorize(fact_names(rows))
    of_relation = groups * len(labels) + relations[member]
    keys, places = np.unique(of_relation * len(names) + facts[member], return_inverse=True)
    sums = np.bincount(places, weights)
    figures = np.bincount(places, weights * values.to_numpy(dtype=float)[member]) / sums
    of_fact = keys // len(names)
    starts = np.searchsorted(of_fact, np.arange(1, groups.max(initial=-1) + 1) * len(labels))
    yield from zip(*(np.split(column, starts) for column in (of_fact % len(labels), sums, figures)), strict=True)


def _figures_of_group(facts: _Facts, macro: bool) -> tuple[float, float, float, float, float, float]:
    """Return value, number of items, and the ends of both intervals."""
    labels, weights, figures = facts
    relations = np.unique(labels, return_inverse=True)[1]
    items = np.bincount(relations, weights).astype(float)
    shares = np.bincount(relations, weights * figures) / items
    relation_weights: Floats = np.ones(len(items)) if macro else items
    parts = relations if macro else np.zeros_like(relations)
    interval = figure_interval(evened(figures, weights, parts), parts)
    n = float(items.sum())
    value = float(relation_weights @ shares / relation_weights.sum())
    return value, round(n, 9), *interval, *cluster_interval(shares, relation_weights, n)


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
