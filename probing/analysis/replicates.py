"""Replicates: results that differ in nothing but a seed, which stand in one row with their mean and spread.

What was trained or drawn with several seeds has them in its name: `google/multiberts-seed_3`, `pythia-70m-seed1`, or
an entry of a study that is called `starter-seed2`.
"""

import re
from collections.abc import Sequence

import pandas as pd

SEED = re.compile(r"[-_., ]*(?<![a-z])seed[-_ ]?\d+", re.IGNORECASE)
FIGURES = ["runs", "mean", "sd", "lowest", "highest"]


def without_seed(name: str) -> str:
    """Return a name, or settings in words, without the number of a seed."""
    return SEED.sub("", name)


def over_seeds(scores: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return a row for each two or more scores whose `names` differ in nothing but a seed.

    `names`: the columns that tell scores apart, beside `value`. The further columns are `FIGURES`: the number of runs,
    their mean, the standard deviation of a sample (divided by runs − 1), and the ends.
    """
    plain = scores.astype({"value": float}).assign(**{name: scores[name].map(without_seed) for name in names})
    groups = plain.dropna(subset="value").groupby(list(names), sort=False)["value"]
    table = groups.agg(["size", "mean", "std", "min", "max"]).set_axis(FIGURES, axis=1)
    return table[table["runs"] > 1].reset_index()
