"""Scores relative to the first point of a training, and the items learned and forgotten between two points."""

import numpy as np
import pandas as pd
import pytest

from probing.analysis.intervals import wilson
from probing.analysis.paired_tests import Correctness, compare
from probing.analysis.steps import changes, gauge, relative_to_first
from probing.errors import BadInput


def scores(*points: tuple[str, float, float, float], group: str = "all") -> pd.DataFrame:
    table = pd.DataFrame(points, columns=["revision", "value", "low", "high"])
    return table.assign(metric="accuracy", dimension="overall", group=group, n=10.0)


def rows(correct: list[bool], templates: int = 1) -> pd.DataFrame:
    items = len(correct) // templates
    keys = [(f"P{i % 2}", t, i) for i in range(items) for t in range(templates)]
    table = pd.DataFrame(keys, columns=["relation", "template", "index"])
    domains = [["A", "B"] if key[0] == "P0" else ["B"] for key in keys]
    return table.assign(correct=correct, subject=[f"subject {key[2]}" for key in keys], domain=domains)


def test_values_and_bounds_are_divided_by_the_first_value() -> None:
    """Table 2 of LM-PUB-QUIZ: 40.5 % before and 72.37 % of it after the first experience."""
    table = relative_to_first(scores(("step0", 0.405, 0.4, 0.41), ("step1", 0.2931, 0.243, 0.324)))
    assert table["percent"].tolist() == pytest.approx([100, 72.37], abs=0.01)
    assert table[["percent_low", "percent_high"]].iloc[1].tolist() == pytest.approx([60, 80])
    assert table[["percent_low", "percent_high"]].iloc[0].isna().all()


@pytest.mark.parametrize("first", [scores(("step0", 0.0, 0, 0.1)), scores(("step0", 0.5, 0, 1), group="Arts")])
def test_nothing_is_relative_to_a_first_value_that_is_zero_or_missing(first: pd.DataFrame) -> None:
    table = relative_to_first(pd.concat([first, scores(("step1", 0.5, 0.4, 0.6))]))
    assert np.isnan(table["percent"].iloc[1])


def test_no_scores_have_no_relative_ones() -> None:
    assert "percent" in relative_to_first(scores())


def test_an_item_is_learned_forgotten_kept_or_unknown() -> None:
    between = changes(rows([True] * 5 + [False] * 5), rows([True] * 3 + [False] * 4 + [True] * 3))
    assert between.counts() == {"learned": 3, "forgotten": 2, "kept": 3, "unknown": 2}
    assert between.items["change"].tolist() == ["kept"] * 3 + ["forgotten"] * 2 + ["unknown"] * 2 + ["learned"] * 3
    learned = between.shares.iloc[0]
    assert (learned["change"], learned["items"], learned["n"], learned["share"]) == ("learned", 3, 10, 0.3)
    assert (learned["low"], learned["high"]) == pytest.approx(wilson(0.3, 10))
    assert between.percent == pytest.approx(120)
    assert between.percent_low < 100 < between.percent_high


def test_the_items_learned_and_forgotten_are_those_that_a_comparison_counts() -> None:
    generator = np.random.default_rng(0)
    before, after = (rows(list(generator.random(90) < 0.5), templates=3) for _ in range(2))
    compared = compare({"first": before, "second": after}, []).iloc[0]
    counts = changes(before, after).counts()
    assert (counts["learned"], counts["forgotten"]) == (compared["gained"], compared["lost"])


def test_templates_of_an_item_count_as_one_item() -> None:
    between = changes(rows([True, False] * 4, templates=2), rows([True, True] * 4, templates=2))
    assert between.counts()["learned"] == 4
    assert between.percent == pytest.approx(200)


def test_only_items_that_both_have_answered_count() -> None:
    before = rows([True] * 10)
    assert changes(before, before.iloc[4:]).counts() == {"learned": 0, "forgotten": 0, "kept": 6, "unknown": 0}
    with pytest.raises(BadInput, match="no item in common"):
        changes(before, before.assign(relation="P9"))


def test_a_breakdown_shares_an_item_among_its_groups() -> None:
    shares = changes(rows([False] * 4), rows([True] * 4), ["domain"]).shares
    learned = shares[(shares["dimension"] == "domain") & (shares["change"] == "learned")].set_index("group")
    assert learned["items"].to_dict() == {"A": 1.0, "B": 3.0}
    assert (learned["share"] == 1).all()
    assert set(shares["dimension"]) == {"overall", "relation", "domain"}


def test_the_percentage_of_a_macro_average_weighs_relations_equally() -> None:
    before = rows([True] * 6).drop(index=[2, 4])  # one item of P0, three of P1
    after = before.assign(correct=[False, True, True, True])
    assert changes(before, after).percent == pytest.approx(75)
    assert changes(before, after, correctness=Correctness(macro=True)).percent == pytest.approx(50)


def test_items_that_did_not_change_do_not_make_the_percentage_certain() -> None:
    same = rows([True, False] * 10)
    between = changes(same, same)
    assert between.percent == 100
    assert between.percent_low < 90 < 110 < between.percent_high


def test_a_first_figure_of_zero_leaves_no_percentage() -> None:
    between = changes(rows([False] * 4), rows([True] * 4))
    assert np.isnan([between.percent, between.percent_low, between.percent_high]).all()


def test_the_interval_of_the_percentage_is_that_of_the_share_kept_where_nothing_is_learned() -> None:
    """60 of 80 known items are kept: the share of 80 has the error sqrt(0.75 * 0.25 / 80)."""
    between = changes(rows([True] * 80 + [False] * 20), rows([True] * 60 + [False] * 40))
    error = 100 * (0.75 * 0.25 / 80) ** 0.5
    assert between.percent == pytest.approx(75)
    assert between.percent_low == pytest.approx(75 - 1.96 * error, abs=1.3)
    assert between.percent_high == pytest.approx(75 + 1.96 * error, abs=1.3)


def test_the_noise_of_a_curve_is_what_a_straight_line_leaves_of_its_end() -> None:
    assert gauge([0.1, 0.5, 0.3, 0.4, 0.5], last=3)["noise"] == pytest.approx(0, abs=1e-12)
    figures = gauge([0.1, 0.9, 0.3, 0.5, 0.3], last=3)
    noise = np.sqrt(2 * (0.2 / 3) ** 2 + (0.4 / 3) ** 2)  # around their mean, as the line is level
    assert figures["noise"] == pytest.approx(noise)
    assert figures["signal_to_noise"] == pytest.approx((1.1 / 3 - 0.1) / noise)
    assert figures["smallest_difference"] == pytest.approx(1.96 * np.sqrt(2) * noise)


def test_the_smallest_difference_is_exceeded_by_chance_in_a_twentieth_of_pairs() -> None:
    """The noise is known exactly with so many checkpoints; pairs of further ones differ by chance alone."""
    generator = np.random.default_rng(0)
    smallest = gauge([0.0, *generator.normal(0.5, 0.01, 2000)], last=2000)["smallest_difference"]
    differences = np.abs(np.diff(generator.normal(0.5, 0.01, (20_000, 2))))
    assert (differences > smallest).mean() == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize(("values", "last"), [([0.1] * 5, 5), ([], 3), ([0.1] * 9, 2)])
def test_too_few_measurements_have_no_noise(values: list[float], last: int) -> None:
    with pytest.raises(BadInput, match="last"):
        gauge(values, last)
