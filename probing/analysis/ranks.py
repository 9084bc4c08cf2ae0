"""Ranks as ranges of places, from paired comparisons of all models on the items that they share.

Two models are compared by the difference of their figures on the same items. What is difficult for both cancels out, so
that a paired difference is far more certain than two separate intervals show (Miller 2024, section 4.2). All pairs are
compared at once: the critical value is the 95 % point of the largest studentised difference of any pair, from a
Gaussian bootstrap. With a probability of 95 % no model is therefore put ahead of another wrongly, and all ranges of
places together hold the true places (Mogstad, Romano, Shaikh and Wilhelm 2024, section 3). Items are drawn again within
their relations, as the relations of a benchmark are fixed.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri

from probing.analysis.breakdowns import fact_names
from probing.analysis.intervals import Z
from probing.arrays import Bools, Floats, Ints

LEVEL = 0.95
FAR = 0.005  # the share of the error that is spent on leaving out pairs that are far apart
DRAWS = 1000  # of the Gaussian bootstrap
RANK_COLUMNS = ["counted", "n", "value", "low", "high", "best", "worst", "tie_group"]
COMMON_SHARE = 0.5  # of the items of the median ranked model that all ranked models must share


@dataclass(frozen=True)
class Places:
    """The best and the worst place of each model, counted from 1; arrays of shape (models,)."""

    best: Ints
    worst: Ints


@dataclass(frozen=True)
class PairedComparison:
    """All models compared with each other on the same `items`.

    `values`: the figure of each model, shape (models,). `covariance`: of these figures, shape (models, models).
    `critical`: how many standard errors a difference must exceed to be certain.
    """

    items: int
    values: Floats
    covariance: Floats
    critical: float

    @property
    def differences(self) -> Floats:
        """The figure of each row's model minus that of each column's, shape (models, models)."""
        return np.subtract.outer(self.values, self.values)

    @property
    def margins(self) -> Floats:
        """The simultaneous 95 % margin of each difference, shape (models, models); 0 on the diagonal."""
        return self.critical * _errors(self.covariance)

    @property
    def better(self) -> Bools:
        """Tell whether each row's model is certainly better than each column's, shape (models, models)."""
        certain: Bools = self.differences > self.margins
        return certain

    @property
    def places(self) -> Places:
        """The places that the certain differences leave to each model."""
        better = self.better
        return Places(1 + better.sum(axis=0), len(better) - better.sum(axis=1))

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Each figure's own 95 % interval by the normal approximation, not beyond 0 and 1."""
        half = Z * np.sqrt(np.diag(self.covariance))
        return np.clip(self.values - half, 0, 1), np.clip(self.values + half, 0, 1)

    @property
    def tie_groups(self) -> Ints:
        """The number of each model's tie group, from 1 for the best, shape (models,).

        A group is its best model with all others, not in a group before, that cannot be told apart from it.
        """
        better, groups = self.better, np.zeros(len(self.values), dtype=np.int64)
        for leader in np.argsort(-self.values, kind="stable"):
            if not groups[leader]:
                groups[(groups == 0) & ~better[leader]] = groups.max() + 1
        return groups


def rank_table(items: pd.DataFrame, macro: bool = False) -> pd.DataFrame:
    """Rank models on their common items.

    `items`: a column per model and a row per item, indexed by relation and item, with missing values where an item does
    not count for a model. `macro`: whether relations weigh equally, and not items. Returns a row per model: `counted`
    (its own items), `n` (the common items), `value`, `low` and `high` on these, `best`, `worst` and `tie_group`. Models
    that share too few items have only `counted`; without any common item no model is ranked.
    """
    present = items.notna().to_numpy()
    table = pd.DataFrame({"counted": present.sum(axis=0)}, index=items.columns)
    ranked = shares_enough(present)
    common: Bools = np.logical_and.reduce(present[:, ranked], axis=1)
    if not ranked.any() or not common.any():
        return table.reindex(columns=RANK_COLUMNS)
    relations = items.index.get_level_values(0)[common]
    compared = compare_all(items.to_numpy(float)[common][:, ranked], relations, macro)
    low, high = compared.bounds
    places = compared.places
    figures = {"n": compared.items, "value": compared.values, "low": low, "high": high}
    ranks = {"best": places.best, "worst": places.worst, "tie_group": compared.tie_groups}
    of_ranked = pd.DataFrame({**figures, **ranks}, index=items.columns[ranked])
    return table.join(of_ranked)[RANK_COLUMNS]


def item_values(rows: pd.DataFrame, values: pd.Series) -> pd.Series:
    """Return each item's mean over its templates, indexed by relation and item; rows without a value do not count.

    Items that ask for the same fact in several languages are one, indexed by the id of its subject.
    """
    present = values.notna()
    keys = [rows.loc[present, "relation"].astype(str), fact_names(rows.loc[present])]
    return values[present].astype(float).groupby(keys, sort=True).mean()


def shares_enough(present: Bools) -> Bools:
    """Return which models are ranked together, shape (models,), given which items count for which model.

    `present` has the shape (items, models). The items that count for all ranked models must be at least `COMMON_SHARE`
    of the items of the median ranked model. As long as they are not, the models with the fewest items are left out,
    those with equal numbers together.
    """
    counts = present.sum(axis=0)
    for fewest in np.unique(counts[counts > 0]):
        ranked: Bools = counts >= fewest
        if present[:, ranked].all(axis=1).sum() >= COMMON_SHARE * np.median(counts[ranked]):
            return ranked
    return np.zeros(len(counts), dtype=bool)


def compare_all(values: Floats, relations: pd.Index, macro: bool = False, seed: int = 0) -> PairedComparison:
    """Compare all models on the same items.

    `values`: the items' figures, shape (items, models), without missing values. `relations`: the relation of each item.
    `macro`: whether relations weigh equally, and not items.
    """
    codes = pd.factorize(relations)[0]
    ordered = values[np.argsort(codes, kind="stable")]
    sizes = np.bincount(codes)
    weights = np.full(len(sizes), 1 / len(sizes)) if macro else sizes / len(values)
    means = np.add.reduceat(ordered, np.cumsum(sizes) - sizes) / sizes[:, None]
    figures = weights @ means
    covariance = _covariance(ordered, means, sizes, weights / sizes)
    return PairedComparison(len(values), figures, covariance, critical_value(figures, covariance, seed))


def _covariance(values: Floats, means: Floats, sizes: Ints, weights: Floats) -> Floats:
    """Return the covariance of the models' figures when items are drawn again within their relations.

    `values` stand relation by relation; `means`, `sizes` and `weights` (of one item) are those of the relations. An
    item that is alone in its relation deviates from the mean of all items, which overstates its variance. Twice the
    variance of one item is added to that of each model. For a pair of models, this amounts to two items more on which
    only the first is right, and two on which only the second is (after Agresti and Min 2005): without them, a
    difference that is the same on all of a few items would seem certain.
    """
    deviations = values.astype(np.float32)
    centres = np.where(sizes[:, None] == 1, values.mean(axis=0), means).astype(np.float32)
    scales = (weights * np.sqrt(sizes / np.maximum(sizes - 1, 1))).astype(np.float32)
    for relation, end in enumerate(np.cumsum(sizes)):
        part = deviations[end - sizes[relation] : end]
        part -= centres[relation]
        part *= scales[relation]
    one_item = (sizes * np.square(weights)).sum()
    covariance: Floats = (deviations.T @ deviations).astype(float) + np.diag(np.full(values.shape[1], 2 * one_item**2))
    return covariance


def _errors(covariance: Floats) -> Floats:
    """Return the standard error of the difference of each two models, shape (models, models)."""
    variances = np.diag(covariance)
    errors: Floats = np.sqrt(np.maximum(np.add.outer(variances, variances) - 2 * covariance, 0))
    np.fill_diagonal(errors, 0)
    return errors


def critical_value(values: Floats, covariance: Floats, seed: int = 0) -> float:
    """Return how many standard errors a difference of any two models must exceed to be certain; 0 for a single model.

    It is a point of the distribution of the largest studentised difference between models that are equal, whose figures
    are drawn from the normal distribution with this covariance. Pairs that are far apart hardly raise it: where two
    figures are further apart than `FAR` of the time allows for models that are equal, the excess is taken off their
    difference, and the level is raised by the share that this may cost (Romano, Shaikh and Wolf 2014).
    """
    models = len(covariance)
    if models < 2:
        return 0.0
    relative = covariance / covariance.max()
    normal = np.random.default_rng(seed).standard_normal((models, DRAWS), dtype=np.float32)
    figures = np.linalg.cholesky(relative).astype(np.float32) @ normal
    precision = 1 / (_errors(relative) + np.eye(models))
    apart = np.abs(np.subtract.outer(values, values)) * precision / np.sqrt(covariance.max())
    excess = np.maximum(apart + ndtri(FAR / (models * (models - 1))), 0).astype(np.float32)
    precision = precision.astype(np.float32)
    largest, differences = np.zeros(DRAWS, dtype=np.float32), np.empty_like(figures)
    for model in range(1, models):
        others = differences[:model]
        np.subtract(figures[:model], figures[model], out=others)
        others *= precision[:model, model, None]
        np.abs(others, out=others)
        others -= excess[:model, model, None]
        np.maximum(largest, others.max(axis=0), out=largest)
    return float(np.quantile(largest, LEVEL + FAR))
