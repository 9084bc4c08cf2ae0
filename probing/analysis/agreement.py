"""Agreement of judges who sort the same things into categories: percent, Cohen's kappa and Fleiss' kappa.

Kappa is the agreement beyond that which chance would give: 1 for judges who always agree, 0 for judges who agree as
often as chance would have it.
"""

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from probing.arrays import Floats

# One list for each judge, with the category of every thing in the same order.
Judgements = Sequence[Sequence[Hashable]]


def observed_agreement(judgements: Judgements) -> float:
    """Return the share of pairs of judges who agree, as a mean over things; for two judges the share that is equal."""
    counts = _counts(judgements)
    judges = counts.sum(axis=1)
    return float(((counts * (counts - 1)).sum(axis=1) / (judges * (judges - 1))).mean())


def cohens_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Return Cohen's kappa of two judges (Cohen 1960), who may prefer different categories.

    It is not a number where both put everything into the same category, as chance would then always agree.
    """
    table = pd.crosstab(np.asarray(first, dtype=object), np.asarray(second, dtype=object), normalize=True)
    shares = [table.sum(axis=axis) for axis in (1, 0)]
    return _beyond_chance(observed_agreement([first, second]), float(shares[0].mul(shares[1], fill_value=0).sum()))


def fleiss_kappa(judgements: Judgements) -> float:
    """Return Fleiss' kappa of any number of judges (Fleiss 1971), all of whom have judged everything.

    It is not a number where everything is in the same category.
    """
    counts = _counts(judgements)
    shares = counts.sum(axis=0) / counts.sum()
    return _beyond_chance(observed_agreement(judgements), float((shares**2).sum()))


def kappa(judgements: Judgements) -> float:
    """Return Cohen's kappa for two judges and Fleiss' kappa for more."""
    return cohens_kappa(*judgements) if len(judgements) == 2 else fleiss_kappa(judgements)


def _counts(judgements: Judgements) -> Floats:
    """Return how many judges chose each category, with a row for each thing and a column for each category."""
    table = pd.DataFrame(judgements).T
    return np.stack([(table == category).sum(axis=1) for category in pd.unique(table.to_numpy().ravel())], axis=1) * 1.0


def _beyond_chance(observed: float, expected: float) -> float:
    return (observed - expected) / (1 - expected) if expected < 1 else float("nan")
