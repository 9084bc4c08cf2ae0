"""Breakdowns: items, not rows, are counted, and several values share an item."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.analysis import breakdowns
from probing.analysis.accuracy import proportion
from probing.analysis.breakdowns import CELL, CROSSED, join_group, means_of, members, split_group, with_crossed

items = st.lists(st.tuples(st.lists(st.sampled_from("ABCD"), unique=True, min_size=1), st.integers(1, 3)), min_size=1)


def table(*rows: tuple[str, int, int, object, bool]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["relation", "template", "index", "domain", "correct"])


@given(items)
def test_the_weights_of_all_groups_add_up_to_the_items(several: list[tuple[list[str], int]]) -> None:
    rows = [("P1", t, i, domains, True) for i, (domains, templates) in enumerate(several) for t in range(templates)]
    for dimension in ("overall", "domain", "relation"):
        assert members(table(*rows), dimension)["weight"].sum() == pytest.approx(len(several))


def test_the_members_of_groups_are_found_once_for_a_mean_with_both_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table(("P1", 0, 0, ["A", "B"], True), ("P2", 0, 0, ["B"], True))
    calls: list[int] = []
    weights = breakdowns.item_weights
    monkeypatch.setattr(breakdowns, "item_weights", lambda rows: (calls.append(len(rows)), weights(rows))[1])
    proportion(rows, "accuracy", rows["correct"], "domain")
    assert calls == [len(rows)]


def test_a_relation_with_two_domains_weighs_half_in_each() -> None:
    rows = table(("P1", 0, 0, ["A", "B"], True), ("P1", 0, 1, ["A", "B"], False), ("P2", 0, 0, ["B"], True))
    means = means_of(members(rows, "domain"), rows["correct"]).set_index("group")
    assert means["n"].to_dict() == {"A": 1.0, "B": 2.0}
    assert means["value"].to_dict() == {"A": 0.5, "B": 0.75}


def test_an_item_counts_once_whatever_the_number_of_templates_but_along_templates_each_row() -> None:
    rows = table(("P1", 0, 0, "A", True), ("P1", 1, 0, "A", False), ("P1", 0, 1, "A", True))
    means = means_of(members(rows, "overall"), rows["correct"])
    assert means.to_dict("records") == [{"group": "all", "value": 0.75, "n": 2.0}]
    rows = table(("P1", 0, 0, "A", True), ("P1", 2, 0, "A", False))
    assert means_of(members(rows, "template"), rows["correct"])["group"].to_list() == ["0", "2"]
    assert means_of(members(rows, "template"), rows["correct"])["n"].to_list() == [1, 1]


@pytest.mark.parametrize("absent", [None, float("nan"), (), pd.NA])
def test_an_item_without_the_tag_is_in_no_group(absent: object) -> None:
    rows = table(("P1", 0, 0, "A", True), ("P2", 0, 0, absent, True))
    assert means_of(members(rows, "domain"), rows["correct"])["n"].to_list() == [1]


def test_tags_may_be_texts_lists_tuples_or_arrays() -> None:
    rows = table(*[("P1", 0, i, tag, True) for i, tag in enumerate(["A", ["A"], ("A",), np.array(["A", "A"])])])
    assert means_of(members(rows, "domain"), rows["correct"]).to_dict("records") == [
        {"group": "A", "value": 1.0, "n": 4.0}
    ]


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
