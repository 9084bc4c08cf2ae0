"""Two results on the same items: paired differences with intervals and tests."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binomtest

from probing.analysis.breakdown import OVERALL, members
from probing.errors import BadInput

KEY = ["relation", "template", "index"]
RESAMPLES = 10_000
COLUMNS = ["dimension", "group", "n", "first", "second", "difference", "low", "high", "gained", "lost", "p"]


def compare(first: pd.DataFrame, second: pd.DataFrame, dimensions: list[str], seed: int = 0) -> pd.DataFrame:
    """Accuracy of `second` minus `first` on the rows that both have and were asked, overall and per group.

    `low`, `high`: 95 % percentile interval of a bootstrap over items. `gained`, `lost`: items on which the second is
    better or worse; `p`: exact McNemar test on them (with several templates the sign test on items' means).
    """
    if "correct" not in first:
        raise BadInput(
            "These results have no right answers to compare.", "Compare their scores: python -m probing show."
        )
    pairs = first.merge(second[[*KEY, "correct"]], on=KEY, suffixes=("", "_second"))
    pairs = pairs.dropna(subset=["correct", "correct_second"]).reset_index(drop=True)
    pairs = pairs.astype({"correct": bool, "correct_second": bool})
    if pairs.empty:
        raise BadInput("The two results have no item in common.", "Compare results on the same benchmark.")
    generator = np.random.default_rng(seed)
    rows = []
    for dimension in [OVERALL, "relation", *dimensions]:
        for group, table in members(pairs, dimension).groupby("group", sort=False):
            rows.append({"dimension": dimension, "group": group, **_paired(pairs, table, generator)})
    return pd.DataFrame(rows, columns=COLUMNS)


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
