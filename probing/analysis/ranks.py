"""Ranks as ranges of places, from paired comparisons of all models on the items that they share.

Two models are compared by the difference of their figures on the items that both have answered (`verdicts`). What is
difficult for both cancels out, so that a paired difference is far more certain than two separate intervals show (Miller
2024, section 4.2). The verdicts on all pairs are corrected together (Holm 1979): with a probability of 95 % no model is
put ahead of another wrongly, and all ranges of places together hold the true places (Mogstad, Romano, Shaikh and
Wilhelm 2024, section 3).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from probing.analysis.breakdowns import fact_names
from probing.analysis.intervals import figure_interval
from probing.analysis.verdicts import SIGNIFICANT, paired, undecided
from probing.arrays import Bools, Floats, Ints

RANK_COLUMNS = [
    *("counted", "n", "value", "low", "high", "best", "worst", "tie_group"),
    *("undecided", "ahead_of", "level_with"),
]
COMMON_SHARE = 0.5  # of the items of the median ranked model that all ranked models must share


@dataclass(frozen=True)
class Standings:
    """How models stand to each other.

    `values`: the figure of each on the items of all, shape (models,). `better`: whether each row's model is certainly
    better than each column's. `undecided`: the number of pairs that cannot be told apart, at least 1.
    """

    values: Floats
    better: Bools
    undecided: int

    @property
    def level(self) -> Bools:
        """Tell whether each row's model cannot be told apart from each column's, which is another one."""
        level: Bools = ~(self.better | self.better.T) & ~np.eye(len(self.better), dtype=bool)
        return level

    @property
    def best(self) -> Ints:
        """The best place of each model, counted from 1."""
        places: Ints = 1 + self.better.sum(axis=0)
        return places

    @property
    def worst(self) -> Ints:
        """The worst place of each model."""
        places: Ints = len(self.better) - self.better.sum(axis=1)
        return places

    @property
    def tie_groups(self) -> Ints:
        """The number of each model's tie group, from 1 for the best, shape (models,).

        A group is its best model with all others, not in a group before, that cannot be told apart from it.
        """
        groups = np.zeros(len(self.values), dtype=np.int64)
        for leader in np.argsort(-self.values, kind="stable"):
            if not groups[leader]:
                groups[(groups == 0) & ~self.better[leader]] = groups.max() + 1
        return groups


def standings(figures: Floats, parts: Ints) -> Standings:
    """Compare all models with each other.

    `figures`: those of the items, shape (items, models), NaN where an item does not count for a model. `parts`: the
    number of the relation of each item where relations weigh equally, else 0.
    """
    common = ~np.isnan(figures).any(axis=1)
    pairs = paired(figures, parts)
    p = pairs.p
    number = undecided(p)
    better = (pairs.difference > 0) & (p * number < SIGNIFICANT)
    return Standings(_means(figures[common], parts[common]), better, number)


def _means(figures: Floats, parts: Ints) -> Floats:
    means: Floats = np.mean([figures[parts == part].mean(axis=0) for part in np.unique(parts)], axis=0)
    return means


def rank_table(items: pd.DataFrame, macro: bool = False) -> pd.DataFrame:
    """Rank models on their common items.

    `items`: a column per model and a row per item, indexed by relation and item, with missing values where an item does
    not count for a model. `macro`: whether relations weigh equally, and not items. Returns a row per model: `counted`
    (its own items), `n` (the common items), `value`, `low` and `high` on these, `best`, `worst` and `tie_group`,
    `undecided` (the pairs that cannot be told apart), and lists of models: those that it is certainly better than
    (`ahead_of`), and those that it cannot be told apart from (`level_with`). Models that share too few items have only
    `counted`; without any common item no model is ranked.
    """
    present = items.notna().to_numpy()
    table = pd.DataFrame({"counted": present.sum(axis=0)}, index=items.columns)
    ranked = shares_enough(present)
    common: Bools = np.logical_and.reduce(present[:, ranked], axis=1)
    if not ranked.any() or not common.any():
        return table.reindex(columns=RANK_COLUMNS)
    figures = items.to_numpy(float)[:, ranked]
    parts = relation_numbers(items.index.get_level_values(0), macro)
    places = standings(figures, parts)
    low, high = zip(*(figure_interval(own, _numbered(parts[common])) for own in figures[common].T), strict=True)
    names = items.columns[ranked]
    columns = {
        **{"n": int(common.sum()), "value": places.values, "low": np.clip(low, 0, 1), "high": np.clip(high, 0, 1)},
        **{"best": places.best, "worst": places.worst, "tie_group": places.tie_groups, "undecided": places.undecided},
        "ahead_of": [names[better].tolist() for better in places.better],
        "level_with": [names[level].tolist() for level in places.level],
    }
    return table.join(pd.DataFrame(columns, index=names))[RANK_COLUMNS]


def relation_numbers(relations: pd.Index, macro: bool) -> Ints:
    """Return the number of each item's relation where relations weigh equally, else the same number for all."""
    return _numbered(relations) if macro else np.zeros(len(relations), dtype=np.int64)


def _numbered(names: pd.Index | Ints) -> Ints:
    numbers: Ints = pd.factorize(names)[0].astype(np.int64)
    return numbers


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
