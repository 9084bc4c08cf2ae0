"""Intervals of shares, means and relations beside slow versions of them, and results of several seeds in one row."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.optimize import brentq
from scipy.stats import binomtest, sem, t

from probing.analysis.accuracy import proportion
from probing.analysis.intervals import (
    cluster_interval,
    degrees_of_freedom,
    evened,
    figure_interval,
    group_means,
    jackknife_error,
    mean_interval,
    over_seeds,
    wilson,
    without_seed,
)
from probing.arrays import Floats


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_it_is_scipys_for_whole_items(counts: tuple[int, int]) -> None:
    right, n = counts
    expected = binomtest(right, n).proportion_ci(0.95, method="wilson")
    assert wilson(right / n, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(st.floats(0, 1), st.floats(0.1, 1e6))
def test_it_holds_the_value_and_stays_a_proportion(proportion: float, n: float) -> None:
    low, high = wilson(proportion, n)
    assert 0 <= low <= proportion <= high <= 1


def test_the_interval_of_none_begins_at_0_and_that_of_all_ends_at_1() -> None:
    assert [(wilson(0.0, n)[0], wilson(1.0, n)[1]) for n in range(1, 30)] == [(0.0, 1.0)] * 29
    assert wilson(0.0, 0) == (0, 1), "nothing is known of no items"


parts = st.lists(st.tuples(st.integers(1, 300), st.floats(0, 1)), min_size=1, max_size=30)


def binary(drawn: list[tuple[int, float]]) -> tuple[Floats, Floats, Floats]:
    """Numbers, shares and variances of right answers of several parts."""
    n = np.array([size for size, _ in drawn], float)
    shares = np.array([round(size * share) / size for size, share in drawn])
    return n, shares, shares * (1 - shares)


@given(parts)
def test_a_mean_of_shares_lies_within_an_interval_that_has_a_width(drawn: list[tuple[int, float]]) -> None:
    n, shares, spreads = binary(drawn)
    low, high = mean_interval(n, shares, spreads)
    assert 0 <= low <= shares.mean() + 1e-9
    assert shares.mean() - 1e-9 <= high <= 1
    assert high - low > 1 / (2 + n.sum())


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_share_of_right_answers_of_a_single_part_has_wilsons_interval(counts: tuple[int, int]) -> None:
    right, n = counts
    answers = (np.arange(n) < right).astype(float)
    assert figure_interval(answers, np.zeros(n, dtype=np.int64)) == pytest.approx(wilson(right / n, n))


def test_parts_that_are_wholly_right_or_wholly_wrong_count_as_their_items_if_they_are_equal() -> None:
    for share in (0.0, 1.0):
        assert mean_interval(*binary([(8, share)] * 3)) == pytest.approx(wilson(share, 24))
    low, high = mean_interval(*binary([(8, 0.0), (8, 1.0)]))
    assert low < 0.4 < 0.6 < high, "their mean is not certain"
    assert np.isnan(mean_interval(np.array([10.0, 0.0]), np.array([0.5, 0.0]), np.zeros(2))).all(), "an empty part"


def test_the_worked_examples_of_the_methods() -> None:
    assert mean_interval(*binary([(60, 0.5), (20, 0.9)])) == pytest.approx((0.595, 0.787), abs=5e-4)
    assert mean_interval(*binary([(8, 0.0), (8, 0.0), (30, 0.0)])) == pytest.approx((0, 0.108), abs=5e-4)
    answers = np.repeat([1.0, 0.5, 0.0], [20, 60, 20])
    assert figure_interval(answers, np.zeros(100, dtype=np.int64)) == pytest.approx((0.438, 0.562), abs=5e-4)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.1, 3)), min_size=2, max_size=20))
def test_evened_figures_have_the_weighted_mean_and_its_error(drawn: list[tuple[float, float]]) -> None:
    figures, weights = (np.array(column) for column in zip(*drawn, strict=True))
    even = evened(figures, weights, np.zeros(len(figures), dtype=np.int64))
    mean = np.average(figures, weights=weights)
    assert even.mean() == pytest.approx(mean)
    squares = (weights**2 * (figures - mean) ** 2).sum() / weights.sum() ** 2
    assert even.var() / len(even) == pytest.approx(squares, abs=1e-12)


def test_all_wordings_and_languages_of_a_fact_are_one_question() -> None:
    facts = pd.DataFrame([(fact, language, t) for fact in range(40) for language in ("en", "ar") for t in (0, 1)])
    rows = facts.set_axis(["fact", "language", "template"], axis=1).assign(
        relation="P1", subject_id=lambda t: t["fact"].map("Q{}".format)
    )
    rows["index"] = 2 * rows["fact"] + (rows["language"] == "ar")
    (row,) = group_means(rows, rows["fact"] < 10, "overall").to_dict("records")
    assert (row["value"], row["n"]) == (0.25, 80)
    assert (row["low"], row["high"]) == pytest.approx(wilson(0.25, 40))
    (row,) = group_means(rows, (rows["fact"] + rows["template"]) % 2 == 0, "overall").to_dict("records")
    assert row["high"] - row["low"] < 0.05 or row["value"] == 0.5


weights = st.integers(2, 30).flatmap(lambda k: arrays.arrays(float, k, elements=st.floats(1, 500)))


@st.composite
def relations(draw: st.DrawFn) -> tuple[Floats, Floats]:
    """Shares of right items of several relations, with the relations' weights."""
    relation_weights = draw(weights)
    rounded = st.integers(0, 100).map(lambda percent: percent / 100)
    return draw(arrays.arrays(float, len(relation_weights), elements=rounded)), relation_weights


@given(relations())
def test_the_error_is_that_of_leaving_out_one_relation_after_the_other(pair: tuple[Floats, Floats]) -> None:
    shares, weights = pair
    mean = np.average(shares, weights=weights)
    k = len(shares)
    left_out = [np.average(np.delete(shares, g), weights=np.delete(weights, g)) for g in range(k)]
    expected = np.sqrt((k - 1) / k * sum((other - mean) ** 2 for other in left_out))
    assert jackknife_error(shares - mean, weights / weights.sum()) == pytest.approx(expected, abs=1e-12)


@given(relations())
def test_equal_weights_have_the_standard_error_of_a_mean(pair: tuple[Floats, Floats]) -> None:
    shares, _ = pair
    equal = np.full(len(shares), 1 / len(shares))
    assert jackknife_error(shares - shares.mean(), equal) == pytest.approx(sem(shares), abs=1e-12)


@given(relations())
def test_the_bounds_are_the_means_that_are_a_quantile_of_their_own_error_away(pair: tuple[Floats, Floats]) -> None:
    shares, weights = pair
    parts, n = weights / weights.sum(), 1e9
    mean = float(parts @ shares)
    error = jackknife_error(shares - mean, parts)
    low, high = cluster_interval(shares, weights, n)
    assert 0 <= low <= mean + 1e-9
    assert mean - 1e-9 <= high <= 1
    if not 1e-3 < error < 0.2 or not 0.01 < mean < 0.99:
        return
    quantile = t.ppf(0.975, degrees_of_freedom(shares - mean, parts))
    independent = mean * (1 - mean) / error**2

    def excess(bound: float) -> float:
        return abs(mean - bound) - quantile * np.sqrt(bound * (1 - bound) / independent)

    assert (low, high) == pytest.approx((brentq(excess, 0, mean), brentq(excess, mean, 1)), abs=1e-6)


def test_unlike_relations_cost_degrees_of_freedom() -> None:
    shares = np.array([0.2, 0.4, 0.4, 0.6])
    assert degrees_of_freedom(shares - 0.4, np.full(4, 0.25)) == pytest.approx(3)
    shares = np.array([0.0] * 19 + [1.0])
    assert degrees_of_freedom(shares - 0.05, np.full(20, 0.05)) < 5
    parts = np.array([0.7, 0.1, 0.1, 0.1])
    assert degrees_of_freedom(np.array([0.1, -0.1, 0.1, -0.1]), parts) == 1


def test_the_worked_example_of_the_methods() -> None:
    shares, items = np.array([0.2, 0.4, 0.4, 0.6]), np.full(4, 100.0)
    assert cluster_interval(shares, items, 400) == pytest.approx((0.1914, 0.6526), abs=5e-5)


@given(st.floats(0, 1), st.integers(2, 50), st.integers(1, 1000))
def test_relations_without_any_difference_count_as_their_items(share: float, k: int, size: int) -> None:
    low, high = cluster_interval(np.full(k, share), np.full(k, float(size)), k * size)
    assert (low, high) == pytest.approx(wilson(share, k * size, t.ppf(0.975, k - 1)), abs=1e-6)


def test_a_single_relation_tells_nothing_of_others_and_one_without_items_leaves_it_unknown() -> None:
    assert np.isnan(cluster_interval(np.array([0.5]), np.array([10.0]), 10)).all()
    assert np.isnan(cluster_interval(np.array([0.5, 0.9]), np.array([10.0, 0.0]), 10)).all()
    assert np.isnan(cluster_interval(np.array([0.5, np.nan]), np.ones(2), 10)).all()


ROWS = pd.DataFrame(
    [
        (relation, template, index, domains, (index + template) % size == 0)
        for relation, size, domains in (("P1", 2, ["A", "B"]), ("P2", 3, ["A"]), ("P3", 4, ["B"]), ("P4", 5, ["C"]))
        for template in (0, 1)
        for index in range(10 * size)
    ],
    columns=["relation", "template", "index", "domain", "correct"],
)


def bounds(dimension: str, group: str) -> tuple[float, float]:
    table = proportion(ROWS, "accuracy", ROWS["correct"], dimension).set_index("group")
    return table["cluster_low"][group], table["cluster_high"][group]


def test_shares_are_clustered_by_relation_and_one_of_two_domains_weighs_half_in_each() -> None:
    expected = cluster_interval(np.array([1 / 2, 1 / 3, 1 / 4, 1 / 5]), np.array([20.0, 30.0, 40.0, 50.0]), 140)
    assert bounds("overall", "all") == pytest.approx(expected)
    assert bounds("template", "1") == pytest.approx(expected)
    expected = cluster_interval(np.array([1 / 2, 1 / 3]), np.array([10.0, 30.0]), 40)
    assert bounds("domain", "A") == pytest.approx(expected)
    assert np.isnan(bounds("domain", "C")).all()
    assert np.isnan(bounds("relation", "P1")).all()


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("google/multiberts-seed_3", "google/multiberts"),
        ("EleutherAI/pythia-70m-seed1", "EleutherAI/pythia-70m"),
        ("org/seed2/model", "org//model"),
        ("sample 20, seed 1", "sample 20"),
        ("seed 1", ""),
        ("org/seedling-7b", "org/seedling-7b"),
        ("org/flaxseed7", "org/flaxseed7"),
    ],
)
def test_a_name_loses_its_seed_and_nothing_else(name: str, plain: str) -> None:
    assert without_seed(name) == plain


def test_no_scores_are_no_replicates() -> None:
    assert over_seeds(pd.DataFrame(columns=["model", "value"]), ["model"]).empty


def test_the_worked_example_of_the_documentation() -> None:
    rows = [("a-seed0", 0.40), ("a-seed1", 0.42), ("a-seed2", 0.47), ("b-seed0", 0.1), ("c", None)]
    table = over_seeds(pd.DataFrame(rows, columns=["model", "value"]), ["model"])
    (row,) = table.to_dict("records")
    assert (row["model"], row["runs"], row["lowest"], row["highest"]) == ("a", 3, 0.40, 0.47)
    assert (row["mean"], row["sd"]) == (pytest.approx(0.43), pytest.approx(0.0361, abs=1e-4))
