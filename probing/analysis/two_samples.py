"""Is the first of two samples lower than the second? Tests with the logarithms of their p-values, and effect sizes.

The p-value of a good model on a thousand sentences can be smaller than the smallest float (about 1e-308), so each
comes with its base-10 logarithm, computed without it.
"""

import warnings
from dataclasses import dataclass
from math import log, log1p, sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln, hyp2f1
from scipy.stats import mannwhitneyu, norm, t, tiecorrect, ttest_ind

from probing.analysis.intervals import Z
from probing.arrays import Floats

# Where the usual way of computing a p-value gives up (natural logarithm).
SMALLEST = -690.0
LARGEST = 1e150  # its square is still a float
TINY = 1e-12


@dataclass(frozen=True)
class Test:
    """`value`: the p-value, 0.0 where no float is small enough; `log10`: its logarithm."""

    value: float
    log10: float


def tests(first: Floats, second: Floats) -> dict[str, Test]:
    """By name: Student's t (two-sided, as in the paper's section 5.5), the same one-sided, Welch, Mann-Whitney.

    One-sided means: the first is lower. Student's t takes the variances to be equal, Welch's does not. Mann-Whitney
    is two-sided, by the normal approximation with corrections for ties and continuity.
    """
    student, welch = _statistic(first, second, equal_var=True), _statistic(first, second, equal_var=False)
    return {
        "": _test(log_p(*student)),
        "less": _test(log_p_less(*student)),
        "welch": _test(log_p(*welch)),
        "mann_whitney": _test(_log_p_mann_whitney(first, second)),
    }


def _statistic(first: Floats, second: Floats, *, equal_var: bool) -> tuple[float, float]:
    """Student's or Welch's t with its degrees of freedom; samples that do not vary at all have a large or no t."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # scipy's word for samples that do not vary
        found = ttest_ind(first, second, equal_var=equal_var)
    statistic = float(np.clip(np.nan_to_num(found.statistic), -LARGEST, LARGEST))
    return statistic, float(np.nan_to_num(found.df, nan=1.0))


def _test(log_value: float) -> Test:
    return Test(float(np.exp(log_value)), log_value / log(10))


def log_p(statistic: float, df: float) -> float:
    """Natural logarithm of the two-sided p-value of Student's t.

    Where it would underflow: p is the regularised incomplete beta function I_x(df/2, 1/2) at x = df / (df + t²), whose
    logarithm has a closed form with a hypergeometric factor near 1 (DLMF 8.17.8).
    """
    usual = log(2) + float(t.logsf(abs(statistic), df)) if t.sf(abs(statistic), df) > 0 else -np.inf
    if usual > SMALLEST:
        return min(usual, 0.0)
    a, ratio = df / 2, statistic**2 / df
    x = 1 / (1 + ratio)
    log_x, log_rest = -log1p(ratio), log(ratio) - log1p(ratio)
    return float(a * log_x + log_rest / 2 - log(a) - betaln(a, 0.5) + log(hyp2f1(a + 0.5, 1, a + 1, x)))


def log_p_less(statistic: float, df: float) -> float:
    """The same one-sided: small where the statistic is far below zero."""
    if statistic < 0:
        return log_p(statistic, df) - log(2)
    return float(t.logcdf(statistic, df))


def _log_p_mann_whitney(first: Floats, second: Floats) -> float:
    m, n = len(first), len(second)
    ties = tiecorrect(_ranks(np.concatenate([first, second])))
    deviation = sqrt(ties * m * n * (m + n + 1) / 12)
    distance = abs(float(mannwhitneyu(first, second).statistic) - m * n / 2) - 0.5
    if deviation == 0 or distance <= 0:
        return 0.0
    return min(log(2) + float(norm.logsf(distance / deviation)), 0.0)


def _ranks(values: Floats) -> Floats:
    """Average ranks, from 1."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks: Floats = (ends - (counts - 1) / 2)[inverse]
    return ranks


def cohens_d(first: Floats, second: Floats) -> tuple[float, float, float]:
    """How many pooled standard deviations the first lies below the second, with the usual 95 % interval.

    Standard error: sqrt((m + n) / mn + d² / 2(m + n)).
    """
    m, n = len(first), len(second)
    pooled = sqrt(((m - 1) * first.var(ddof=1) + (n - 1) * second.var(ddof=1)) / (m + n - 2))
    d = float((second.mean() - first.mean()) / pooled) if pooled else 0.0
    half = Z * sqrt((m + n) / (m * n) + d**2 / (2 * (m + n)))
    return d, d - half, d + half


def superiority(first: Floats, second: Floats) -> tuple[float, float, float]:
    """The probability that one of the first is lower than one of the second, ties counting half, with its interval.

    The interval is the score-like one of Newcombe (2006, method 5), the counterpart of Wilson's for a proportion: those
    values from which the found one is at most 1.96 standard errors away, the errors being those at that value.
    """
    m, n = len(first), len(second)
    found = 1 - float(mannwhitneyu(first, second).statistic) / (m * n)

    def error(theta: float) -> float:
        half = (m + n) / 2 - 1
        spread = 1 + half * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return Z * sqrt(max(theta * (1 - theta), 0.0) * spread / (m * n))

    # At 0 and 1 there is no error at all, which is a solution too, but not the one that is meant.
    low = brentq(lambda theta: found - theta - error(theta), 0, min(found, 1 - TINY)) if found > 0 else 0.0
    high = brentq(lambda theta: theta - found - error(theta), max(found, TINY), 1) if found < 1 else 1.0
    return found, float(low), float(high)
