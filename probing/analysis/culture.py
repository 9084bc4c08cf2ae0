"""Ranked rows as tidy scores: how well each culture is known, the gap between two, where wrong predictions come from.

Methods 4.4 and 4.5. A gap is the first culture's P@1 minus that of the West (or of the second in the alphabet); its
interval is Newcombe's for two independent proportions, its p-value that of the two-sided z-test with pooled variance.
"""

from collections.abc import Mapping, Sequence
from math import erfc, sqrt

import numpy as np
import pandas as pd

from probing.analysis.accuracy import COLUMNS, chance, proportion
from probing.analysis.breakdown import OVERALL, group_means
from probing.analysis.intervals import Z, newcombe

WEST = "West"
CULTURE = "culture"

# Dimensions that are several tags at once; a group is their values, joined by a space.
CROSSED = {
    "relation_culture": ("relation", CULTURE),
    "culture_pair_culture": ("culture_pair", CULTURE),
    "culture_pair_language": ("culture_pair", "language"),
    "culture_pair_language_culture": ("culture_pair", "language", CULTURE),
    "culture_pair_language_relation": ("culture_pair", "language", "relation"),
    "culture_pair_language_relation_culture": ("culture_pair", "language", "relation", CULTURE),
}
WITH_GAP = ("culture_pair", "culture_pair_language", "culture_pair_language_relation")
WITH_ORIGIN = (OVERALL, CULTURE, "culture_pair_culture", "culture_pair_language_culture")
# Where a wrong prediction is a valid object: only in the item's own culture, only in the other, in both, in neither.
ORIGINS = ("wrong_own_culture", "wrong_other_culture", "wrong_both_cultures", "wrong_no_culture")


# Metric -> the column that says which rows are right.
RANKED = {"p_at_1": "correct", "p_at_1_statement": "correct_statement"}
ANSWERED = {
    "accuracy_substring": "correct",
    "accuracy_substring_normalised": "correct_normalised",
    "accuracy_exact": "correct_exact",
}


def ranking_scores(rows: pd.DataFrame, dimensions: Sequence[str]) -> pd.DataFrame:
    """P@1, P@5, mean reciprocal rank and chance everywhere; gaps and origins where there are two cultures."""
    tables = [table for dimension in (OVERALL, "relation", *dimensions) for table in _ranked(rows, dimension)]
    if has_cultures(rows):
        rows = crossed(rows)
        tables += _by_culture(rows, RANKED)
        tables += [table for name in WITH_ORIGIN for table in _origins(rows, name)]
    return pd.concat([table for table in tables if len(table)], ignore_index=True)


def answering_scores(rows: pd.DataFrame, dimensions: Sequence[str]) -> pd.DataFrame:
    """The three ways to find an answer in what a model wrote, everywhere; gaps by the first of them."""
    tables = [table for dimension in (OVERALL, "relation", *dimensions) for table in _right(rows, ANSWERED, dimension)]
    if has_cultures(rows):
        tables += _by_culture(crossed(rows), ANSWERED)
    return pd.concat([table for table in tables if len(table)], ignore_index=True)


def has_cultures(rows: pd.DataFrame) -> bool:
    return {"culture_pair", "language", CULTURE} <= set(rows.columns)


def crossed(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with a column for each of `CROSSED`."""
    return rows.assign(**{name: rows[list(tags)].agg(" ".join, axis=1) for name, tags in CROSSED.items()})


def _by_culture(rows: pd.DataFrame, metrics: Mapping[str, str]) -> list[pd.DataFrame]:
    shares = [table for name in CROSSED for table in _right(rows, metrics, name)]
    return [*shares, *(gaps(rows, name) for name in WITH_GAP)]


def _right(rows: pd.DataFrame, metrics: Mapping[str, str], dimension: str) -> list[pd.DataFrame]:
    known = {metric: column for metric, column in metrics.items() if column in rows}
    return [proportion(rows, metric, rows[column], dimension) for metric, column in known.items()]


def _ranked(rows: pd.DataFrame, dimension: str) -> list[pd.DataFrame]:
    """P@5 and mean reciprocal rank only where every rank is known: deciding leaves those of wrong items open."""
    found = [*_right(rows, RANKED, dimension), chance(rows, dimension)]
    if not rows["rank"].isna().any():
        ranks = rows["rank"].astype(int)
        found += [proportion(rows, "p_at_5", ranks <= 5, dimension), _mean_reciprocal_rank(rows, 1 / ranks, dimension)]
    return found


def _mean_reciprocal_rank(rows: pd.DataFrame, values: pd.Series, dimension: str) -> pd.DataFrame:
    """With the normal interval of a mean; there is none for a single item."""
    table = group_means(rows, values, dimension)
    squares = group_means(rows, values**2, dimension)["value"]
    n = table["n"].where(table["n"] > 1)
    error = Z * np.sqrt((squares - table["value"] ** 2).clip(lower=0) / (n - 1))
    low, high = (table["value"] - error).clip(lower=0), (table["value"] + error).clip(upper=1)
    return table.assign(metric="mean_reciprocal_rank", dimension=dimension, low=low, high=high)[COLUMNS]


def gaps(rows: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """`culture_gap` and `culture_gap_p` of each group that has two cultures; `n` counts the items of both."""
    found = []
    for group, part in rows.groupby(dimension, sort=False):
        sides = group_means(part, part["correct"], CULTURE).set_index("group")
        if len(sides) == 2:
            first, second = sorted(sides.index, key=west_last)
            found += _gap(dimension, str(group), sides.loc[first], sides.loc[second])
    return pd.DataFrame(found, columns=COLUMNS)


def west_last(culture: str) -> tuple[bool, str]:
    """Orders the two cultures of a pair."""
    return culture == WEST, culture


def _gap(dimension: str, group: str, first: pd.Series, second: pd.Series) -> list[tuple[str | float, ...]]:
    sides = first["value"], first["n"], second["value"], second["n"]
    n = first["n"] + second["n"]
    low, high = newcombe(*sides)
    return [
        ("culture_gap", dimension, group, first["value"] - second["value"], n, low, high),
        ("culture_gap_p", dimension, group, z_test(*sides), n, np.nan, np.nan),
    ]


def z_test(first: float, n_first: float, second: float, n_second: float) -> float:
    """Two-sided p-value for the difference of two independent proportions."""
    pooled = (first * n_first + second * n_second) / (n_first + n_second)
    error = sqrt(pooled * (1 - pooled) * (1 / n_first + 1 / n_second))
    return erfc(abs(first - second) / error / sqrt(2)) if error else 1.0


def _origins(rows: pd.DataFrame, dimension: str) -> list[pd.DataFrame]:
    """For wrong predictions the shares of `ORIGINS`; `n` counts the wrong items."""
    wrong = rows[~rows["correct"].astype(bool)]
    if wrong.empty:
        return []
    places = list(zip(wrong[CULTURE], map(set, wrong["prediction_cultures"]), strict=True))
    own = pd.Series([culture in found for culture, found in places], wrong.index)
    other = pd.Series([bool(found - {culture}) for culture, found in places], wrong.index)
    kinds = (own & ~other, other & ~own, own & other, ~own & ~other)
    return [proportion(wrong, metric, kind, dimension) for metric, kind in zip(ORIGINS, kinds, strict=True)]


def common_predictions(rows: pd.DataFrame, most: int = 3) -> pd.DataFrame:
    """The `most` common right and wrong predictions of each relation and culture, in each pair and language.

    `share` is of all predictions of that relation and culture (the paper's Table 3); equals are in order of label.
    `prediction_cultures`: in which the predicted candidate is a valid object.
    """
    keys = ["culture_pair", "language", "relation", CULTURE]
    same = rows.groupby([*keys, "correct", "prediction_label"], sort=True)["prediction_cultures"]
    counts = same.agg(items="size", prediction_cultures="first").reset_index()
    counts["share"] = counts["items"] / counts.groupby(keys)["items"].transform("sum")
    ordered = counts.sort_values("items", ascending=False, kind="stable")
    kept = ordered.groupby([*keys, "correct"], sort=False).head(most)
    return kept.sort_values([*keys, "correct"], ascending=[True] * 4 + [False], kind="stable").reset_index(drop=True)
