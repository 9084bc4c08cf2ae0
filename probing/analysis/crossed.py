"""Crossed dimensions: breakdowns by several tags at once, and the names of their groups.

A group is named by the values of its tags, joined by spaces: "arab-west en P37 Arab" is a group of
`culture_pair_language_relation_culture`. Only the last value may contain spaces itself ("South America", "not leaky").
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

import pandas as pd

CULTURE = "culture"
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
