"""The verdict on two results: better, worse, or cannot be told apart, with the interval and the p-value behind it.

Two results are compared on the questions that both have answered; a question is a fact with all its wordings and
languages. Interval and p-value come from one rule, so that an interval without 0 has p < 0.05, and the other way round:

- Shares of right answers: McNemar's exact test on the questions on which the results differ, and the interval that
  belongs to it. It combines Wilson's interval of the share of these questions with that of Clopper and Pearson (1934),
  which inverts the test, of how they divide (the MOVER method for a product, after Donner and Zou 2012).
- All other means, over wordings or over relations that weigh equally: the difference, and its standard error if
  questions are drawn again within the relations (Miller 2024, sections 2.2 and 4.2).

Of several pairs, the verdict on each counts after Holm's (1979) correction for all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import bdtr, betaincinv, ndtr

from probing.analysis.intervals import Z, stratified_error
from probing.arrays import Bools, Floats, Ints

BETTER, WORSE, ALIKE = "better", "worse", "cannot be told apart"
SIGNIFICANT = 0.05
# Variance of a question's difference that is added to those of all: that of four more questions of which each result
# has two right that the other has wrong (after Agresti and Min 2005). Without them, a difference that is the same on
# all of a few questions would seem certain.
MORE_VARIANCE = 4
ROWS_AT_ONCE = 64  # of all pairs, so that the differences within each relation fit into memory


def verdict(difference: float, p: float) -> str:
    """Return whether the first of two results is better or worse than the second, given first minus second."""
    if not p < SIGNIFICANT:
        return ALIKE
    return BETTER if difference > 0 else WORSE


def p_of_interval(difference: float, low: float, high: float) -> float:
    """Return the p-value of a difference with this 95 % interval: below 0.05 where 0 is outside, else at least 0.05."""
    reach = difference - low if difference > 0 else high - difference
    return float(2 * ndtr(-Z * abs(difference) / reach)) if reach > 0 else float(difference == 0)


def holm(p: pd.Series) -> pd.Series:
    """Correct p-values for their number (Holm 1979).

    The smallest is multiplied by n, the next by n - 1 and so on; corrected values never decrease in that order.
    """
    ascending = p.sort_values()
    corrected = (ascending * np.arange(len(p), 0, -1)).cummax().clip(upper=1)
    return corrected.reindex(p.index)


def undecided(p: Floats) -> int:
    """Return how many of all pairs of results cannot be told apart after Holm's correction, and at least 1.

    `p`: of shape (results, results). Those pairs can be told apart whose p-value times this number is below 0.05:
    Holm's procedure ends with this factor.
    """
    ascending = np.sort(p[np.triu_indices(len(p), 1)])
    told_apart = ascending * np.arange(len(ascending), 0, -1) < SIGNIFICANT
    return max(1, len(ascending) - int(np.logical_and.accumulate(told_apart).sum()))


@dataclass(frozen=True)
class Pairs:
    """All pairs of results; every array has the shape (results, results).

    `n`: how many questions both have answered. `gained`: on how many of these only the row's result is right.
    `difference`: the row's figure minus the column's. `error`: its standard error; NaN where both figures are shares of
    right answers, for which the exact test is.
    """

    n: Floats
    gained: Floats
    difference: Floats
    error: Floats

    @property
    def p(self) -> Floats:
        """The two-sided p-values.

        Of shares, it is how often the questions that differ divide so unequally, or more so, if either side is as
        likely.
        """
        fewer, differing = np.minimum(self.gained, self.gained.T), self.gained + self.gained.T
        exact = np.minimum(1, 2 * bdtr(fewer, differing.astype(np.int64), 0.5))
        p: Floats = np.where(np.isnan(self.error), exact, 2 * ndtr(-np.abs(self.difference) / self.error))
        return p

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """The 95 % intervals of the differences."""
        exact = _lowest(self.gained, self.gained.T, self.n)
        low: Floats = np.where(np.isnan(self.error), exact, self.difference - Z * self.error)
        return low, -low.T


def _lowest(gained: Floats, lost: Floats, n: Floats) -> Floats:
    """Return the lower end of the interval of (gained - lost) / n.

    The difference is the product of the share of questions that differ and of the balance among these, from -1 to 1.
    The lower end is 0 where that of the balance is: there, by the exact test, p is 0.05.
    """
    differing = gained + lost
    share, balance = differing / n, np.divide(gained - lost, differing, out=np.zeros_like(n), where=differing > 0)
    least = np.where(gained > 0, 2 * betaincinv(np.maximum(gained, 1), lost + 1, 0.025) - 1, -1)
    scale, centre = 1 + Z**2 / n, share + Z**2 / (2 * n)
    half = Z * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    # What lies on the side of 0 of the difference: fewer differing questions, or more of them where the end is below 0.
    reach = np.where(least > 0, share - (centre - half) / scale, (centre + half) / scale - share)
    squared = (share * (balance - least)) ** 2 + reach**2 * np.abs(balance**2 - (balance - least) ** 2)
    low: Floats = share * balance - np.sqrt(squared)
    return low


def paired(figures: Floats, parts: Ints) -> Pairs:
    """Compare all results with each other.

    `figures`: of each question and result, shape (questions, results), NaN where a question does not count. `parts`:
    the number of each question's part. Parts weigh equally; a plain mean over questions has one part.
    """
    # Numbers of questions are exact in single precision, up to 2^24.
    answered, right, wrong = (holds.astype(np.float32) for holds in (~np.isnan(figures), figures == 1, figures == 0))
    n, gained = ((one.T @ other).astype(float) for one, other in ((answered, answered), (right, wrong)))
    is_share = _are_shares(answered - right - wrong, answered) if parts.max(initial=0) == 0 else np.zeros_like(n, bool)
    if is_share.all():
        return Pairs(n, gained, (gained - gained.T) / n, np.full_like(n, np.nan))
    difference, error = _differences(np.nan_to_num(figures), answered.astype(float), parts)
    return Pairs(n, gained, difference, np.where(is_share, np.nan, error))


def _are_shares(divided: NDArray[np.float32], answered: NDArray[np.float32]) -> Bools:
    """Tell for all pairs whether no question that both answered is `divided`, neither wholly right nor wholly wrong."""
    results = divided.shape[1]
    undivided = divided.T @ answered == 0 if divided.any() else np.ones((results, results), bool)
    are_shares: Bools = undivided & undivided.T
    return are_shares


def _differences(figures: Floats, counts: Floats, parts: Ints) -> tuple[Floats, Floats]:
    """Return the differences of all results and their standard errors, which are computed some rows at a time.

    `counts`: 1 where a question counts for a result, else 0.
    """
    order = np.argsort(parts, kind="stable")
    starts = np.flatnonzero(np.diff(parts[order]))  # the last places of all parts but one
    of_parts = list(zip(*(np.split(table[order], starts + 1) for table in (figures, figures**2, counts)), strict=True))
    results = figures.shape[1]
    difference, error = np.zeros((results, results)), np.zeros((results, results))
    for start in range(0, results, ROWS_AT_ONCE):
        rows, columns = slice(start, start + ROWS_AT_ONCE), slice(start, results)
        changes = [_changes(*(table[:, columns] for table in tables)) for tables in of_parts]
        mean_change, change_error = _mean_change(changes)
        difference[rows, columns], error[rows, columns] = mean_change, change_error
        difference[columns, rows], error[columns, rows] = -mean_change.T, change_error.T
    return difference, error


def _mean_change(changes: Sequence[tuple[Floats, Floats, Floats]]) -> tuple[Floats, Floats]:
    """Return the mean over parts of the changes in each, and its standard error."""
    n, means, spreads = (np.stack(of_parts) for of_parts in zip(*changes, strict=True))
    errors = stratified_error(n, means, spreads)
    shared = n > 0
    number = shared.sum(axis=0)
    one_question = np.divide(1, n, out=np.zeros_like(n), where=shared).sum(axis=0) / number**2
    return means.sum(axis=0) / number, np.sqrt(errors**2 + MORE_VARIANCE * one_question**2)


def _changes(figures: Floats, squares: Floats, counts: Floats) -> tuple[Floats, Floats, Floats]:
    """Return how many questions the first results share with all of them, and mean and variance of the changes."""
    first = slice(ROWS_AT_ONCE)
    if counts.all():  # as on most benchmarks: all products but one are sums
        sums, of_squares = figures.sum(axis=0), squares.sum(axis=0)
        n = np.full((len(sums[first]), len(sums)), float(len(figures)))
        change, square = sums[first, None] - sums, of_squares[first, None] + of_squares
    else:
        own = counts[:, first].T
        n = own @ counts
        change = figures[:, first].T @ counts - own @ figures
        square = squares[:, first].T @ counts + own @ squares
    divisor = np.maximum(n, 1)
    means = change / divisor
    return n, means, np.maximum((square - 2 * figures[:, first].T @ figures) / divisor - means**2, 0)
