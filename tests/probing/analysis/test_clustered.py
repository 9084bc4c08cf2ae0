"""Intervals clustered by relation, beside slow versions of them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.optimize import brentq
from scipy.stats import sem, t

from probing.analysis.accuracy import proportion
from probing.analysis.intervals import cluster_interval, degrees_of_freedom, jackknife_error, wilson
from probing.arrays import Floats

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
