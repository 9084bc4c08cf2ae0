"""Tests of whether the first of two samples is lower than the second, and effect sizes.

The p-value of a good model on a thousand sentences can be smaller than the smallest float (about 1e-308), so each
comes with its base-10 logarithm, which is computed without it.
"""

import warnings
from dataclasses import dataclass
from math import log, log1p, sqrt

import numpy as np
import scipy
from scipy.special import betaln, hyp2f1, log_ndtr

from probing.analysis.intervals import Z
from probing.arrays import Floats

SMALLEST_LOG_P = -690.0  # natural logarithm of the p-values that scipy still computes without underflow
LARGEST_STATISTIC = 1e150  # its square is still a float
TINY = 1e-12


@dataclass(frozen=True)
class PValue:
    """A p-value. `value` is 0.0 where no float is small enough; `log10` is its base-10 logarithm."""

    value: float
    log10: float


def difference_tests(first: Floats, second: Floats) -> dict[str, PValue]:
    """Return the p-values of four tests for a difference of two samples.

    By name: "" is Student's t-test (two-sided, as in the paper's section 5.5), which takes the variances to be equal;
    "less" is its one-sided form, for the first being lower; "welch" is Welch's t-test, which does not; "mann_whitney"
    is two-sided, by the normal approximation with corrections for ties and continuity.
    """
    student, welch = _statistic(first, second, equal_var=True), _statistic(first, second, equal_var=False)
    return {
        "": _p_value(log_p(*student)),
        "less": _p_value(log_p_less(*student)),
        "welch": _p_value(log_p(*welch)),
        "mann_whitney": _p_value(_log_p_mann_whitney(first, second)),
    }


def _statistic(first: Floats, second: Floats, *, equal_var: bool) -> tuple[float, float]:
    """Return Student's or Welch's t with its degrees of freedom.

    For samples that do not vary at all, t is `LARGEST_STATISTIC` or 0.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # scipy warns of samples that do not vary
        test = scipy.stats.ttest_ind(first, second, equal_var=equal_var)
    statistic = float(np.clip(np.nan_to_num(test.statistic), -LARGEST_STATISTIC, LARGEST_STATISTIC))
    return statistic, float(np.nan_to_num(test.df, nan=1.0))


def _p_value(log_value: float) -> PValue:
    return PValue(float(np.exp(log_value)), log_value / log(10))


def log_p(statistic: float, df: float) -> float:
    """Return the natural logarithm of the two-sided p-value of Student's t.

    Where p would underflow, it is computed otherwise: p is the regularised incomplete beta function I_x(df/2, 1/2) at
    x = df / (df + t²), whose logarithm has a closed form with a hypergeometric factor near 1 (DLMF 8.17.8).
    """
    t = scipy.stats.t
    direct = log(2) + float(t.logsf(abs(statistic), df)) if t.sf(abs(statistic), df) > 0 else -np.inf
    if direct > SMALLEST_LOG_P:
        return min(direct, 0.0)
    a, ratio = df / 2, statistic**2 / df
    x = 1 / (1 + ratio)
    log_x, log_rest = -log1p(ratio), log(ratio) - log1p(ratio)
    return float(a * log_x + log_rest / 2 - log(a) - betaln(a, 0.5) + log(hyp2f1(a + 0.5, 1, a + 1, x)))


def log_p_less(statistic: float, df: float) -> float:
    """Return the natural logarithm of the one-sided p-value, which is small where t is far below zero."""
    if statistic < 0:
        return log_p(statistic, df) - log(2)
    return float(scipy.stats.t.logcdf(statistic, df))


def _log_p_mann_whitney(first: Floats, second: Floats) -> float:
    m, n = len(first), len(second)
    ties = scipy.stats.tiecorrect(scipy.stats.rankdata(np.concatenate([first, second])))
    deviation = sqrt(ties * m * n * (m + n + 1) / 12)
    distance = abs(float(scipy.stats.mannwhitneyu(first, second).statistic) - m * n / 2) - 0.5
    if deviation == 0 or distance <= 0:
        return 0.0
    return min(log(2) + float(log_ndtr(-distance / deviation)), 0.0)


def cohens_d(first: Floats, second: Floats) -> tuple[float, float, float]:
    """Return how many pooled standard deviations the first lies below the second, with its 95 % interval.

    The standard error is sqrt((m + n) / mn + d² / 2(m + n)).
    """
    m, n = len(first), len(second)
    pooled = sqrt(((m - 1) * first.var(ddof=1) + (n - 1) * second.var(ddof=1)) / (m + n - 2))
    d = float((second.mean() - first.mean()) / pooled) if pooled else 0.0
    half = Z * sqrt((m + n) / (m * n) + d**2 / (2 * (m + n)))
    return d, d - half, d + half


def superiority(first: Floats, second: Floats) -> tuple[float, float, float]:
    """Return the probability that one of the first is lower than one of the second, with its 95 % interval.

    Ties count half. The interval is the score-like one of Newcombe (2006, method 5), the counterpart of Wilson's for a
    proportion: the values from which the estimate is at most 1.96 standard errors away, each with its own error.
    """
    m, n, ascending = len(first), len(second), np.sort(second)
    twice_below = ascending.searchsorted(first, "left") + ascending.searchsorted(first, "right")
    estimate = 1 - float(twice_below.sum()) / (2 * m * n)

    def error(theta: float) -> float:
        half = (m + n) / 2 - 1
        spread = 1 + half * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return Z * sqrt(max(theta * (1 - theta), 0.0) * spread / (m * n))

    # At 0 and 1 the error is 0, which solves the equation as well, but is not a bound of the interval.
    root = scipy.optimize.brentq
    low = root(lambda theta: estimate - theta - error(theta), 0, min(estimate, 1 - TINY)) if estimate > 0 else 0.0
    high = root(lambda theta: theta - estimate - error(theta), max(estimate, TINY), 1) if estimate < 1 else 1.0
    return estimate, float(low), float(high)
