"""How large a model usually is that knows as much: sizes are read off a line of scores over the logarithm of the size.

Each model is compared with the other ones, which the line is fitted to (linear calibration with Fieller's interval;
Draper and Smith, Applied Regression Analysis, section 3.2). docs/methods/statistics.md has a worked example.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log10, pow, sqrt
from statistics import median
from typing import NamedTuple, Self

import numpy as np
from scipy.special import stdtrit

from probing.errors import BadInput

FEWEST = 8  # models to which a line is fitted
CONFIDENCE = 0.95
MOST_DIGITS = 100  # of a size, so that it remains a finite number


class SizeEquivalent(NamedTuple):
    """The size at which the line reaches a score, and the sizes for which a score like it is predicted, in parameters.

    Sizes far from those of the models of the line say only that none of these knows as much or as little.
    """

    size: float
    low: float
    high: float


@dataclass(frozen=True)
class SizeCurve:
    """A straight line of scores over log10 of the size, fitted by least squares.

    `slope`: what ten times the size adds to a score. `deviation`: the standard deviation of scores around the line.
    `mean_size` (log10), `mean_score` and `spread` (the sum of squares of log10 sizes) are those of the `models` models.
    """

    models: int
    slope: float
    deviation: float
    mean_size: float
    mean_score: float
    spread: float

    @classmethod
    def fit(cls, sizes: Sequence[float], scores: Sequence[float]) -> Self:
        """Fit the line; raise `BadInput` for fewer than eight models, or for models of a single size."""
        if len(sizes) < FEWEST:
            raise BadInput(
                f"{len(sizes)} models have a size and a score; a line needs {FEWEST}.", "Measure models of other sizes."
            )
        x, y = np.log10(np.asarray(sizes, dtype=float)), np.asarray(scores, dtype=float)
        spread = float(((x - x.mean()) ** 2).sum())
        if not spread:
            raise BadInput("All models have the same size.", "Measure models of other sizes.")
        slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread
        residuals = y - y.mean() - slope * (x - x.mean())
        deviation = sqrt(float((residuals**2).sum()) / (len(x) - 2))
        return cls(len(x), slope, deviation, float(x.mean()), float(y.mean()), spread)

    def equivalent(self, score: float) -> SizeEquivalent | None:
        """Return the sizes that go with the score of another model; None where scores do not clearly rise with size.

        The interval holds every size for which the 95 % prediction interval of a score holds this one.
        """
        error = stdtrit(self.models - 2, (1 + CONFIDENCE) / 2) * self.deviation
        certain = self.slope**2 - error**2 / self.spread
        if self.slope <= 0 or certain <= 0:
            return None
        above = score - self.mean_score
        middle = above * self.slope / certain
        half = error * sqrt((1 + 1 / self.models) * certain + above**2 / self.spread) / certain
        return SizeEquivalent(
            _parameters(self.mean_size + above / self.slope),
            _parameters(self.mean_size + middle - half),
            _parameters(self.mean_size + middle + half),
        )


def _parameters(logarithm: float) -> float:
    return pow(10, np.clip(logarithm, -MOST_DIGITS, MOST_DIGITS))


def size_equivalents(sizes: Sequence[float], scores: Sequence[float]) -> list[SizeEquivalent | None]:
    """Return for each model the sizes that go with its score by the line of all others.

    None stands where scores do not clearly rise with the size. Raises `BadInput` for fewer than nine models.
    """
    others = [
        SizeCurve.fit([*sizes[:place], *sizes[place + 1 :]], [*scores[:place], *scores[place + 1 :]])
        for place in range(len(sizes))
    ]
    return [curve.equivalent(score) for curve, score in zip(others, scores, strict=True)]


def unbeaten(sizes: Sequence[float], scores: Sequence[float]) -> list[int]:
    """Return the places of the models that score higher than all others of the same or a smaller size, smallest first.

    Of models with equal scores only the smallest one counts.
    """
    best: list[int] = []
    for place in sorted(range(len(sizes)), key=lambda place: (sizes[place], -scores[place])):
        if not best or scores[place] > scores[best[-1]]:
            best.append(place)
    return best


def usual_error(sizes: Sequence[float], equivalents: Sequence[SizeEquivalent | None]) -> float | None:
    """Return by which factor the sizes of models differ from those that go with their scores, as a median.

    None stands where most models have no size that goes with their score.
    """
    pairs = zip(sizes, equivalents, strict=True)
    errors = [abs(log10(equivalent.size / size)) if equivalent else inf for size, equivalent in pairs]
    usual = median(errors) if errors else inf
    return pow(10, usual) if usual < inf else None
