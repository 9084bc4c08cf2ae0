"""Breakdowns: items, not rows, are counted, and several values share an item."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.analysis import breakdowns
from probing.analysis.accuracy import proportion
from probing.analysis.breakdowns import means_of, members

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
