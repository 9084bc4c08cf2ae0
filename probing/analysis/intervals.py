"""95 % intervals of shares, of their means and of their differences; all of them have a width at 0 and at 1."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from probing.arrays import Floats

Z = 1.959963984540054  # the 97.5 % point of the standard normal distribution
RESAMPLES = 10_000  # of every bootstrap and randomisation test
# Number of pseudo-items that are added to each part of a mean, right as often as all parts together. Without them, a
# part in which no item or every item is right would seem certain.
MORE_ITEMS = 4


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


def mean_of_shares(shares: Floats, n: Floats) -> tuple[float, float]:
    """Return the interval of the plain mean of several parts' shares on other items of the same parts.

    `n`: the number of items of each part. It is Wilson's interval for as many independent items as have the same
    standard error; for a single part it is Wilson's own. NaN where a part has no items.
    """
    if not (n > 0).all() or np.isnan(shares).any():
        return float("nan"), float("nan")
    mean, parts = float(np.clip(shares.mean(), 0, 1)), len(shares)
    towards_mean = (shares * n + MORE_ITEMS * mean) / (n + MORE_ITEMS)
    error = sqrt(max(0.0, float((towards_mean * (1 - towards_mean) / n).sum()))) / parts
    return wilson(mean, independent_items(mean, error, parts**2 / float((1 / n).sum())))


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


def percentile_interval(resampled: NDArray[np.float64]) -> tuple[float, float]:
    """Return the percentile interval of a bootstrap, from the statistic of each resample."""
    low, high = np.quantile(resampled, [0.025, 0.975])
    return float(low), float(high)
