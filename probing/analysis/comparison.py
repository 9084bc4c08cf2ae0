"""Results on the same items: paired differences with intervals and tests."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binomtest

from probing.analysis.breakdown import OVERALL, members
from probing.errors import BadInput

KEY = ["relation", "template", "index"]
RESAMPLES = 10_000
COLUMNS = [
    *("result", "dimension", "group", "n", "first", "second", "difference", "low", "high"),
    *("gained", "lost", "p", "p_holm"),
]

Rows = Mapping[str, pd.DataFrame]


class Correctness(NamedTuple):
    """What a probe's figures count: the column that is true, false or, where a row does not count, missing.

    `macro`: whether relations weigh equally in them, or by their items.
    """

    column: str = "correct"
    macro: bool = False


CORRECT = Correctness()
NO_CORRECTNESS = Correctness("")


def common(results: Rows, column: str = "correct") -> dict[str, pd.DataFrame]:
    """The rows of each result that count in all of them, in the first one's order."""
    if any(column not in rows for rows in results.values()):
        raise BadInput(
            "These results have no right answers to compare.", "Compare their scores: python -m probing show."
        )
    asked = {name: rows.dropna(subset=[column]).astype({column: bool}) for name, rows in results.items()}
    keys, *others = (rows[KEY] for rows in asked.values())
    for other in others:
        keys = keys.merge(other, on=KEY)
    if keys.empty:
        raise BadInput(
            "The results have no item in common.",
            "Compare results on the same relations; those of specificity must share answers that are single tokens.",
        )
    return {name: keys.merge(rows, on=KEY) for name, rows in asked.items()}


def compare(results: Rows, dimensions: list[str], right: Correctness = CORRECT, seed: int = 0) -> pd.DataFrame:
    """The share that is right in each further result minus that in the first on common rows, overall and per group.

    `second` is the further one's share. `low`, `high`: 95 % percentile interval of a bootstrap over items, within
    relations where these weigh equally. `gained`, `lost`: items on which it is better or worse; `p`: exact McNemar test
    on them (with several templates the sign test on items' means), but for a macro-average over relations a test that
    swaps the two results on items at random; `p_holm`: the same, corrected for all tests of the dimension.
    """
    (_, first), *others = common(results, right.column).items()
    rows = []
    for name, second in others:
        pairs = first.assign(first=first[right.column], second=second[right.column])
        generator = np.random.default_rng(seed)
        for dimension in [OVERALL, "relation", *dimensions]:
            for group, table in members(pairs, dimension).groupby("group", sort=False):
                figures = _paired(_items(pairs, table), right.macro, generator)
                rows.append({"result": name, "dimension": dimension, "group": group, **figures})
    found = pd.DataFrame(rows)
    found["p_holm"] = found.groupby("dimension")["p"].transform(holm)
    return found[COLUMNS]


def holm(p: pd.Series) -> pd.Series:
    """p-values corrected for their number (Holm 1979): the smallest times n, the next times n - 1, never decreasing."""
    ascending = p.sort_values()
    corrected = (ascending * np.arange(len(p), 0, -1)).cummax().clip(upper=1)
    return corrected.reindex(p.index)


def _items(pairs: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """A group's items, each the weighted sum over its templates: `weight`, `first`, `second`, by relation and index."""
    taken = pairs.iloc[table["row"]].reset_index(drop=True)
    weight = table["weight"].reset_index(drop=True)
    weighted = taken[["first", "second"]].mul(weight, axis=0).assign(weight=weight)
    return weighted.groupby([taken["relation"], taken["index"]], sort=False).sum()


def _paired(items: pd.DataFrame, macro: bool, generator: np.random.Generator) -> dict[str, Any]:
    """One group's figures: means over its items, or the plain means of its relations' means."""
    strata = items.groupby(items.index.get_level_values("relation") if macro else np.zeros(len(items)), sort=False)
    sums, change = strata.sum(), items["second"] - items["first"]
    first, second = ((sums[side] / sums["weight"]).mean() for side in ("first", "second"))
    gained, lost = int((change > 1e-9).sum()), int((change < -1e-9).sum())
    parts = [(change.iloc[part], items["weight"].iloc[part]) for part in strata.indices.values()]
    low, high = np.quantile(np.mean([_resampled(*part, generator) for part in parts], axis=0), [0.025, 0.975])
    shares = np.concatenate([part / weight.sum() / len(parts) for part, weight in parts])
    return {
        "n": round(float(items["weight"].sum()), 9),
        "first": float(first),
        "second": float(second),
        "difference": float(second - first),
        "low": float(low),
        "high": float(high),
        "gained": gained,
        "lost": lost,
        "p": _swapped(shares, generator) if macro and len(parts) > 1 else _mcnemar(gained, lost),
    }


def _mcnemar(gained: int, lost: int) -> float:
    return float(binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0


def _resampled(change: pd.Series, weight: pd.Series, generator: np.random.Generator) -> NDArray[np.float64]:
    """Mean changes of items that are drawn again, shape (resamples,).

    Equal items are drawn together as counts, so the cost does not grow with their number.
    """
    kinds, counts = np.unique(np.round([change, weight], 9), axis=1, return_counts=True)
    drawn = generator.multinomial(len(change), counts / counts.sum(), size=RESAMPLES)
    means: NDArray[np.float64] = drawn @ kinds[0] / (drawn @ kinds[1])
    return means


def _swapped(changes: NDArray[np.float64], generator: np.random.Generator) -> float:
    """How often a sum of changes as large as this comes about where each had the same chance either way."""
    sizes, counts = np.unique(np.round(np.abs(changes[changes != 0]), 12), return_counts=True)
    gained = generator.binomial(counts, 0.5, size=(RESAMPLES, len(counts)))
    sums = (2 * gained - counts) @ sizes
    return float((1 + (np.abs(sums) >= abs(changes.sum()) - 1e-9).sum()) / (1 + RESAMPLES))
