"""95 % intervals of shares and of their differences."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

Z = 1.959963984540054  # the 97.5 % point of the standard normal distribution
RESAMPLES = 10_000  # of every bootstrap and randomisation test


def wilson(proportion: float, n: float, quantile: float = Z) -> tuple[float, float]:
    """Return Wilson's score interval for a proportion of `n` items; `n` may be fractional (weighted items).

    `quantile`: how many standard errors the interval reaches to either side.
    """
    if n <= 0:
        return 0.0, 1.0
    spread = quantile * sqrt(proportion * (1 - proportion) / n + quantile**2 / (4 * n * n))
    centre = proportion + quantile**2 / (2 * n)
    scale = 1 + quantile**2 / n
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def newcombe(first: float, n_first: float, second: float, n_second: float) -> tuple[float, float]:
    """Return Newcombe's interval for the difference of two independent proportions, from each one's Wilson interval."""
    (low_1, high_1), (low_2, high_2) = wilson(first, n_first), wilson(second, n_second)
    difference = first - second
    return (
        difference - sqrt((first - low_1) ** 2 + (high_2 - second) ** 2),
        difference + sqrt((high_1 - first) ** 2 + (second - low_2) ** 2),
    )


def percentile_interval(resampled: NDArray[np.float64]) -> tuple[float, float]:
    """Return the percentile interval of a bootstrap, from the statistic of each resample."""
    low, high = np.quantile(resampled, [0.025, 0.975])
    return float(low), float(high)
