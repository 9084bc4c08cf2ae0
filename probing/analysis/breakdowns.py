"""Breakdowns of rows by tags: which items belong to a group, and what is computed of each.

Items are counted, not rows: an item's templates share its weight of 1, and so do the values of a tag that has several.

Crossed dimensions break down by several tags at once. A group of theirs is named by the values of its tags, joined by
spaces: "arab-west en P37 Arab" is a group of `culture_pair_language_relation_culture`. Only the last value may contain
spaces itself ("South America", "not leaky").
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

import numpy as np
import pandas as pd

OVERALL = "overall"
ALL = "all"
CULTURE = "culture"
ENGLISH = "en"
# Each dimension with its tags, in the order in which the name of a group has their values.
BY_CULTURE: Mapping[str, tuple[str, ...]] = {
    "relation_culture": ("relation", CULTURE),
    "culture_pair_culture": ("culture_pair", CULTURE),
    "culture_pair_language": ("culture_pair", "language"),
    "culture_pair_language_culture": ("culture_pair", "language", CULTURE),
    "culture_pair_language_relation": ("culture_pair", "language", "relation"),
    "culture_pair_language_relation_culture": ("culture_pair", "language", "relation", CULTURE),
}
# Of predicates that are asked in several languages about no cultures, as mLAMA's.
BY_LANGUAGE: Mapping[str, tuple[str, ...]] = {"language_relation": ("language", "relation")}
# Shows what is left of each fact type without its leaky sentences.
CELL = "fact_type_major_leak"
CROSSED: Mapping[str, tuple[str, ...]] = {**BY_CULTURE, **BY_LANGUAGE, CELL: ("fact_type", "major", "leak")}


def count_items(rows: pd.DataFrame) -> int:
    return len(rows[["relation", "index"]].drop_duplicates())


def item_weights(rows: pd.DataFrame) -> pd.Series:
    """Return each row's share of its item's weight of 1: an item has one row for each template."""
    relations, names = pd.factorize(rows["relation"])
    indices, _ = pd.factorize(rows["index"])
    # An index and a relation become one number: numpy finds distinct numbers far faster than distinct pairs.
    _, items, counts = np.unique(indices * len(names) + relations, return_inverse=True, return_counts=True)
    return pd.Series(1 / counts[items], rows.index)


def members(rows: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """Return which rows belong to which group, and how much: columns `row` (position), `group`, `weight`.

    A tag with d values gives 1/d of the item to each of them (methods 1.3); a row without the tag belongs to no group.
    In the dimension `template` every row counts as an item. Groups come in the order in which they occur, or that of an
    ordered column.
    """
    positions = np.arange(len(rows))
    if dimension == OVERALL:
        return pd.DataFrame({"row": positions, "group": ALL, "weight": item_weights(rows).to_numpy()})
    if dimension == "template":
        return pd.DataFrame({"row": positions, "group": rows["template"].astype(str).to_numpy(), "weight": 1.0})
    column = rows[dimension]
    codes, tags = pd.factorize((column.map(hashable) if column.dtype == object else column).array)
    values_of_tags = [*map(_tag_values, tags), []]  # the last are those of rows without the tag, whose code is -1
    counts = np.array([*map(len, values_of_tags)])[codes]
    repeated = np.repeat(positions, counts)
    weights = item_weights(rows).to_numpy()[repeated] / counts[repeated]
    groups = [value for code in codes.tolist() for value in values_of_tags[code]]
    table = pd.DataFrame({"row": repeated, "group": groups, "weight": weights})
    if not (isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered):
        return table
    order = column.cat.codes.to_numpy()[repeated]
    return table.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)


def means_of(table: pd.DataFrame, *values: pd.Series) -> pd.DataFrame:
    """Return the weighted means of values in each group, those of each of the values after the other.

    `table`: the `members` of the groups. Columns: `group`, `value`, `n` (items, may be fractional).
    """
    codes, groups = pd.factorize(table["group"])
    rows, weights = table["row"].to_numpy(), table["weight"].to_numpy()
    sums = np.bincount(codes, weights, len(groups))
    parts = [np.bincount(codes, weights * each.to_numpy(dtype=float)[rows], len(groups)) for each in values]
    means, n = np.concatenate([part / sums for part in parts]), np.tile(sums.round(9), len(values))
    return pd.DataFrame({"group": np.tile(groups.astype(str), len(values)), "value": means, "n": n})


def may_share_facts(rows: pd.DataFrame) -> bool:
    """Tell whether several items may ask for one fact: they have languages, and subjects that are the same in each."""
    return {"language", "subject_id"} <= set(rows.columns)


def fact_names(rows: pd.DataFrame) -> pd.Series:
    """Return for each row what names its fact among those of its relation: the number of its item, or its subject's id.

    The same fact in several languages, or in several pairs of cultures, is several items with the same subject.
    """
    if not may_share_facts(rows):
        return rows["index"]
    known = rows["subject_id"].astype(object).fillna("") != ""
    return rows["subject_id"].astype(str).where(known, rows["index"].astype(str))


def main_part(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that the one figure of a run is about, as pairs of cultures and languages are never pooled.

    They are those of the first pair, and of English, or else of the first language; all rows where no tag names these.
    """
    if {"culture_pair", "language", CULTURE} <= set(rows.columns):
        pairs = rows["culture_pair"].astype(str)
        rows = rows[pairs == pairs.min()]
    if "language" not in rows:
        return rows
    languages = rows["language"].astype(str)
    return rows[languages == min(languages, key=lambda language: (language != ENGLISH, language))]


def hashable(cell: object) -> object:
    """Return a cell as it is, but a list (an array when read from Parquet) as a tuple."""
    return tuple(cell) if isinstance(cell, Iterable) and not isinstance(cell, str) else cell


def _tag_values(tag: object) -> list[str]:
    if isinstance(tag, str):
        return [tag]
    if isinstance(tag, Iterable):
        return list(dict.fromkeys(str(value) for value in tag))
    return []


def join_group(values: Iterable[str]) -> str:
    """Return the name of the group with these values, which stand in the order of the dimension's tags."""
    return " ".join(values)


def split_group(dimension: str, group: str) -> tuple[str, ...]:
    """Return the values in the name of a group; the name of a dimension that is a single tag is its value."""
    return tuple(group.split(" ", len(CROSSED.get(dimension, (dimension,))) - 1))


def with_crossed(rows: pd.DataFrame, dimensions: Iterable[str]) -> pd.DataFrame:
    """Return the rows with a further column for each of the crossed dimensions, which holds the row's group."""
    return rows.assign(**{name: group_names(rows, CROSSED[name]).astype("category") for name in dimensions})


def group_names(rows: pd.DataFrame, tags: Sequence[str]) -> pd.Series:
    """Return the name of each row's group, as `join_group` joins the values of its tags."""
    first, *others = (rows[tag].astype(str) for tag in tags)
    return reduce(lambda names, values: names + " " + values, others, first)
