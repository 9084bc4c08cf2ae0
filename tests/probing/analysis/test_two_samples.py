"""Two samples: tests against scipy's where floats suffice, logarithms where they do not, effect sizes by hand."""

from math import log, log10

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, ttest_ind

from probing.analysis.perplexity_metrics import cohens_d, difference_tests, log_p, log_p_less, superiority

samples = st.lists(st.integers(0, 20), min_size=3, max_size=12).map(lambda values: np.array(values, dtype=float))
varied = samples.filter(lambda values: values.std() > 0)


@given(varied, varied)
def test_p_values_are_scipys(first: np.ndarray, second: np.ndarray) -> None:
    p_values = difference_tests(first, second)
    expected = {
        "": ttest_ind(first, second).pvalue,
        "less": ttest_ind(first, second, alternative="less").pvalue,
        "welch": ttest_ind(first, second, equal_var=False).pvalue,
        "mann_whitney": mannwhitneyu(first, second, method="asymptotic").pvalue,
    }
    for name, value in expected.items():
        assert p_values[name].value == pytest.approx(value, rel=1e-9), name
        assert p_values[name].log10 == pytest.approx(log10(value), rel=1e-9, abs=1e-9), name


def test_the_logarithm_is_exact_where_the_p_value_becomes_zero() -> None:
    """Checked against 50-digit arithmetic: t = 60 with 1,998 degrees of freedom has log p = -1033.03785514856."""
    assert log_p(60, 1998) == pytest.approx(-1033.03785514856, abs=1e-9)
    assert log_p(-60, 1998) == log_p(60, 1998)
    assert log_p_less(-60, 1998) == pytest.approx(log_p(60, 1998) - log(2))
    assert log_p(200, 1998) == pytest.approx(-3046.4313637165, abs=1e-9)


def test_both_computations_of_the_logarithm_agree_where_they_meet() -> None:
    below, above = log_p(44.2, 1998), log_p(44.6, 1998)
    steps = [log_p(t, 1998) for t in np.linspace(44.2, 44.6, 41)]
    assert below > -690 > above
    assert np.diff(steps) == pytest.approx(np.full(40, (above - below) / 40), rel=0.01)


def test_an_underflowing_difference_keeps_its_logarithms() -> None:
    first, second = np.linspace(0, 1, 1000), np.linspace(5, 6, 1000)
    p_values = difference_tests(first, second)
    assert p_values[""].value == 0.0
    assert p_values[""].log10 < -1000
    assert p_values["mann_whitney"].log10 == pytest.approx(-326.9, abs=0.5)


def test_samples_that_do_not_vary_have_a_p_value_all_the_same() -> None:
    same, other = np.ones(5), np.full(5, 2.0)
    assert difference_tests(same, same)[""].value == 1.0
    assert difference_tests(same, same)["mann_whitney"].value == 1.0
    assert difference_tests(same, other)["welch"].log10 < -100
    assert cohens_d(same, other)[0] == 0.0


def test_cohens_d_by_hand() -> None:
    """Means 2 and 5, both variances 1: three standard deviations; its error is sqrt(6/9 + 9/12)."""
    d, low, high = cohens_d(np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]))
    assert d == pytest.approx(3.0)
    assert (low, high) == pytest.approx((3 - 1.959964 * 1.190238, 3 + 1.959964 * 1.190238), rel=1e-5)


def test_superiority_by_hand() -> None:
    """Of nine pairs six have the lower one first and one is a tie."""
    estimate, low, high = superiority(np.array([1.0, 3.0, 4.0]), np.array([2.0, 4.0, 5.0]))
    assert estimate == pytest.approx(6.5 / 9)
    assert 0 < low < estimate < high < 1


def test_the_ends_of_the_interval_are_196_errors_away() -> None:
    """Of Newcombe's method 5 at the lower end, with his formula written out."""
    first, second = np.arange(10.0), np.arange(10.0) + 3.5
    estimate, low, _ = superiority(first, second)
    m = n = 10
    spread = 1 + ((m + n) / 2 - 1) * ((1 - low) / (2 - low) + low / (1 + low))
    assert estimate - low == pytest.approx(1.959964 * (low * (1 - low) / (m * n) * spread) ** 0.5, rel=1e-5)


def test_complete_separation_has_an_interval_too() -> None:
    estimate, low, high = superiority(np.arange(20.0), np.arange(20.0) + 100)
    assert (estimate, high) == (1.0, 1.0)
    assert 0.8 < low < 0.95
    assert superiority(np.arange(20.0) + 100, np.arange(20.0)) == pytest.approx((0.0, 0.0, 1 - low))


def test_the_interval_covers_what_it_promises() -> None:
    """Of 400 samples of 30 and 30, about 95 % of the intervals hold the true 0.76."""
    generator = np.random.default_rng(0)
    truth = 0.7602499389065233  # of two normal distributions one deviation apart
    draws = generator.normal(size=(400, 60)) + np.repeat([0.0, 1.0], 30)
    bounds = [superiority(draw[:30], draw[30:])[1:] for draw in draws]
    assert 0.92 < np.mean([low < truth < high for low, high in bounds]) < 0.98
