"""The smallest difference of two models that a benchmark can tell apart, from how much the answers to items differ.

Two models are compared on the same items, so what counts is the standard error of their paired difference. A true
difference of 1.96 + 0.84 = 2.8 such errors is found by a test at the 5 % level in 80 % of all cases (Miller 2024,
section 5). docs/methods/statistics.md has a worked example.
"""

from collections.abc import Iterable, Mapping
from itertools import combinations
from statistics import median
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from probing.analysis.intervals import Z, degrees_of_freedom, jackknife_error
from probing.analysis.paired_tests import CORRECT, Correctness
from probing.analysis.ranks import item_values
from probing.arrays import Floats

POWER = 0.8
ERRORS = Z + float(ndtri(POWER))  # how many standard errors a difference must have to be found that often
ASSUMED_VARIANCE = 0.5  # of the difference of two answers that are independent and each right in half of the cases


class SmallestDifference(NamedTuple):
    """The smallest difference of two shares that is found in 80 % of all cases by a paired test at the 5 % level.

    `same_relations`: on the relations that were asked. `like_relations`: on other relations like these, NaN where there
    is only one relation or nothing was measured. `pairs`: the number of pairs of runs whose median it is; 0 for an
    assumption.
    """

    same_relations: float
    like_relations: float
    pairs: int


def smallest_difference(
    results: Mapping[str, pd.DataFrame], correctness: Correctness = CORRECT
) -> SmallestDifference | None:
    """Return the median of the smallest differences over all pairs of results; None if no two share two items.

    `results`: the rows of each, with the columns `relation`, `index` and the one that tells which answers are right.
    """
    items = [item_values(rows, rows[correctness.column]) for rows in results.values()]
    pairs = [(second - first).dropna() for first, second in combinations(items, 2)]
    return median_difference(of_pair(changes, correctness.macro) for changes in pairs if len(changes) > 1)


def of_pair(changes: pd.Series, macro: bool) -> SmallestDifference:
    """Return the smallest difference of two results whose items differ by `changes`, indexed by relation and item.

    `macro`: whether relations weigh equally, and not items.
    """
    by_relation = changes.groupby(level="relation").agg(["mean", "var", "size"])
    means, sizes = by_relation["mean"].to_numpy(), by_relation["size"].to_numpy(dtype=float)
    parts = np.full(len(sizes), 1 / len(sizes)) if macro else sizes / sizes.sum()
    if macro:
        variances = by_relation["var"].fillna(changes.var()).to_numpy()
        error = float(np.sqrt((variances / sizes).sum())) / len(sizes)
    else:
        error = float(changes.std()) / len(changes) ** 0.5
    return SmallestDifference(ERRORS * error, _like_relations(means, parts), 1)


def _like_relations(means: Floats, parts: Floats) -> float:
    """Return the smallest difference on other relations, from the difference in each relation and its weight."""
    if len(means) < 2:
        return float("nan")
    deviations = means - parts @ means
    degrees = degrees_of_freedom(deviations, parts)
    quantiles = stdtrit(degrees, 0.975) + stdtrit(degrees, POWER)
    return float(quantiles) * jackknife_error(deviations, parts)


def median_difference(differences: Iterable[SmallestDifference]) -> SmallestDifference | None:
    """Return the median of each figure over pairs of results; None without any pair."""
    pairs = list(differences)
    if not pairs:
        return None
    return SmallestDifference(
        median(pair.same_relations for pair in pairs),
        float(np.median([pair.like_relations for pair in pairs])),
        sum(pair.pairs for pair in pairs),
    )


def assumed_difference(items: int) -> SmallestDifference:
    """Return the smallest difference where nothing was measured: for two models with independent answers.

    Each is right on half of the items. Models that know and err on the same items differ less, so that benchmarks tell
    smaller differences apart.
    """
    return SmallestDifference(ERRORS * float(np.sqrt(ASSUMED_VARIANCE / items)), float("nan"), 0)


def sentence(difference: SmallestDifference) -> str:
    """Return the figures in words, and none where they are 0: results that agree on all items have no variance."""
    if difference.same_relations == 0:
        return "Results that agree on every item do not tell how small a difference can be told apart."
    figures = f"{difference.same_relations:.3f} on these relations"
    if not np.isnan(difference.like_relations):
        figures += f", {difference.like_relations:.3f} on other relations like these"
    return f"Smallest difference that can be told apart (80 % power, 5 % level, paired): {figures}."
