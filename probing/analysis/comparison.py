"""Results on the same items: paired differences with intervals and tests."""

from collections.abc import Mapping
from typing import Any

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


def common(results: Rows) -> dict[str, pd.DataFrame]:
    """The rows of each result that all of them have and were asked, in the first one's order."""
    if any("correct" not in rows for rows in results.values()):
        raise BadInput(
            "These results have no right answers to compare.", "Compare their scores: python -m probing show."
        )
    asked = {name: rows.dropna(subset=["correct"]).astype({"correct": bool}) for name, rows in results.items()}
    keys, *others = (rows[KEY] for rows in asked.values())
    for other in others:
        keys = keys.merge(other, on=KEY)
    if keys.empty:
        raise BadInput("The results have no item in common.", "Compare results on the same benchmark.")
    return {name: keys.merge(rows, on=KEY) for name, rows in asked.items()}


def compare(results: Rows, dimensions: list[str], seed: int = 0) -> pd.DataFrame:
    """Accuracy of each further result minus that of the first on their common rows, overall and per group.

    `second` is the further one's accuracy. `low`, `high`: 95 % percentile interval of a bootstrap over items. `gained`,
    `lost`: items on which it is better or worse; `p`: exact McNemar test on them (with several templates the sign test
    on items' means); `p_holm`: the same, corrected for all tests of the dimension.
    """
    (_, first), *others = common(results).items()
    rows = []
    for name, second in others:
        pairs, generator = first.assign(correct_second=second["correct"]), np.random.default_rng(seed)
        for dimension in [OVERALL, "relation", *dimensions]:
            for group, table in members(pairs, dimension).groupby("group", sort=False):
                figures = _paired(pairs, table, generator)
                rows.append({"result": name, "dimension": dimension, "group": group, **figures})
    found = pd.DataFrame(rows)
    found["p_holm"] = found.groupby("dimension")["p"].transform(holm)
    return found[COLUMNS]


def holm(p: pd.Series) -> pd.Series:
    """p-values corrected for their number (Holm 1979): the smallest times n, the next times n - 1, never decreasing."""
    ascending = p.sort_values()
    corrected = (ascending * np.arange(len(p), 0, -1)).cummax().clip(upper=1)
    return corrected.reindex(p.index)


def _paired(pairs: pd.DataFrame, table: pd.DataFrame, generator: np.random.Generator) -> dict[str, Any]:
    """One group's figures, from its items (each the weighted sum over its templates)."""
    taken = pairs.iloc[table["row"]]
    weighted = pd.DataFrame(
        {
            "weight": table["weight"].to_numpy(),
            "first": taken["correct"].to_numpy() * table["weight"].to_numpy(),
            "second": taken["correct_second"].to_numpy() * table["weight"].to_numpy(),
        }
    )
    items = weighted.groupby([taken["relation"].to_numpy(), taken["index"].to_numpy()]).sum()
    n = round(float(items["weight"].sum()), 9)
    difference = (items["second"] - items["first"]).to_numpy()
    gained, lost = int((difference > 1e-9).sum()), int((difference < -1e-9).sum())
    low, high = _bootstrap(difference, items["weight"].to_numpy(), generator)
    return {
        "n": n,
        "first": items["first"].sum() / n,
        "second": items["second"].sum() / n,
        "difference": difference.sum() / n,
        "low": low,
        "high": high,
        "gained": gained,
        "lost": lost,
        "p": binomtest(gained, gained + lost).pvalue if gained + lost else 1.0,
    }


def _bootstrap(
    difference: NDArray[np.float64], weight: NDArray[np.float64], generator: np.random.Generator
) -> tuple[float, float]:
    """Resample items; equal items are drawn together as counts, so the cost does not grow with their number."""
    kinds, counts = np.unique(np.round([difference, weight], 9), axis=1, return_counts=True)
    drawn = generator.multinomial(len(difference), counts / counts.sum(), size=RESAMPLES)
    low, high = np.quantile(drawn @ kinds[0] / (drawn @ kinds[1]), [0.025, 0.975])
    return float(low), float(high)
