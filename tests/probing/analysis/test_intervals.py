"""Intervals of shares and of means of shares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from probing.analysis.intervals import mean_of_shares, wilson


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


@given(parts)
def test_a_mean_of_shares_lies_within_an_interval_that_has_a_width(drawn: list[tuple[int, float]]) -> None:
    n = np.array([size for size, _ in drawn], float)
    shares = np.array([round(size * share) / size for size, share in drawn])
    low, high = mean_of_shares(shares, n)
    assert 0 <= low <= shares.mean() + 1e-9
    assert shares.mean() - 1e-9 <= high <= 1
    assert high - low > 1 / (2 + n.sum())


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_mean_of_a_single_share_has_wilsons_interval(counts: tuple[int, int]) -> None:
    right, n = counts
    assert mean_of_shares(np.array([right / n]), np.array([float(n)])) == pytest.approx(wilson(right / n, n))


def test_parts_that_are_wholly_right_or_wholly_wrong_count_as_their_items_if_they_are_equal() -> None:
    for share in (0.0, 1.0):
        assert mean_of_shares(np.full(3, share), np.full(3, 8.0)) == pytest.approx(wilson(share, 24))
    low, high = mean_of_shares(np.array([0.0, 1.0]), np.array([8.0, 8.0]))
    assert low < 0.4 < 0.6 < high, "their mean is not certain"
    assert np.isnan(mean_of_shares(np.array([0.5, np.nan]), np.array([10.0, 0.0]))).all(), "a part without items"


def test_the_worked_examples_of_the_methods() -> None:
    assert mean_of_shares(np.array([0.5, 0.9]), np.array([60.0, 20.0])) == pytest.approx((0.595, 0.787), abs=5e-4)
    assert mean_of_shares(np.zeros(3), np.array([8.0, 8.0, 30.0])) == pytest.approx((0, 0.108), abs=5e-4)
