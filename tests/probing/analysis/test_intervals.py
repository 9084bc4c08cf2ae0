"""Wilson's interval."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from probing.analysis.intervals import wilson


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_it_is_scipys_for_whole_items(counts: tuple[int, int]) -> None:
    right, n = counts
    expected = binomtest(right, n).proportion_ci(0.95, method="wilson")
    assert wilson(right / n, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(st.floats(0, 1), st.floats(0.1, 1e6))
def test_it_holds_the_value_and_stays_a_proportion(proportion: float, n: float) -> None:
    low, high = wilson(proportion, n)
    assert 0 <= low <= proportion + 1e-12
    assert proportion - 1e-12 <= high <= 1


def test_nothing_is_known_of_no_items() -> None:
    assert wilson(0.0, 0) == (0, 1)
