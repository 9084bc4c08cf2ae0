"""Crossed dimensions: names of groups, and reading them again."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.analysis.breakdowns import CELL, CROSSED, join_group, split_group, with_crossed

words = st.text("abcXYZ-_0", min_size=1)
texts = st.lists(words, min_size=1, max_size=3).map(" ".join)
groups = st.sampled_from(sorted(CROSSED)).flatmap(
    lambda name: st.tuples(st.just(name), *([words] * (len(CROSSED[name]) - 1)), texts)
)


@given(groups)
def test_a_group_is_split_into_the_values_that_were_joined(group: tuple[str, ...]) -> None:
    dimension, *values = group
    assert split_group(dimension, join_group(values)) == tuple(values)


@pytest.mark.parametrize(
    ("dimension", "group", "values"),
    [
        ("culture_pair_language", "arab-west en", ("arab-west", "en")),
        ("relation_culture", "P37 South America", ("P37", "South America")),
        ("culture_pair_language_relation_culture", "arab-west en P37 West", ("arab-west", "en", "P37", "West")),
        (CELL, "river_countries major not leaky", ("river_countries", "major", "not leaky")),
    ],
)
def test_only_the_last_value_may_contain_spaces(dimension: str, group: str, values: tuple[str, ...]) -> None:
    assert split_group(dimension, group) == values
    assert join_group(values) == group


def test_a_group_of_a_single_tag_is_its_only_value() -> None:
    assert split_group("culture", "South America") == ("South America",)


def test_rows_get_their_group_in_each_crossed_dimension() -> None:
    rows = pd.DataFrame({"relation": ["P1", "P2"], "culture": ["Arab", "South America"], "correct": [True, False]})
    crossed = with_crossed(rows, ["relation_culture"])
    assert crossed["relation_culture"].to_list() == ["P1 Arab", "P2 South America"]
    assert list(crossed.columns) == [*rows.columns, "relation_culture"]
