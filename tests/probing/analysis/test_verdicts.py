"""Verdicts on pairs: beside slow versions, one rule for interval and p-value, and Holm's correction of all pairs."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from probing.analysis.intervals import recovered, wilson
from probing.analysis.verdicts import (
    ALIKE,
    BETTER,
    SIGNIFICANT,
    WORSE,
    holm,
    p_of_interval,
    paired,
    undecided,
    verdict,
)
from probing.arrays import Floats, Ints


def one_part(n: int) -> Ints:
    return np.zeros(n, dtype=np.int64)


def shares(gained: int, lost: int, n: int) -> Floats:
    """Answers of two results, of which only the first is right `gained` times, and only the second `lost` times."""
    first = np.arange(n) < gained
    second = (np.arange(n) >= gained) & (np.arange(n) < gained + lost)
    return np.stack([first, second], axis=1).astype(float)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Floats, Ints]:
    """Figures of a few questions and results, in a few parts; questions do not always count."""
    n, results = draw(st.integers(2, 40)), draw(st.integers(2, 5))
    of_parts = draw(st.lists(st.integers(0, draw(st.integers(0, 3))), min_size=n, max_size=n))
    cells = draw(st.sampled_from([(0.0, 1.0), (0.0, 1.0, np.nan), (0.0, 1 / 3, 1.0), (0.0, 0.5, 1.0, np.nan)]))
    rows = st.lists(st.sampled_from(cells), min_size=results, max_size=results)
    figures = np.array(draw(st.lists(rows, min_size=n, max_size=n)))
    figures[0] = 1.0
    return figures, pd.factorize(np.array(of_parts))[0].astype(np.int64)


@given(tables())
def test_an_interval_is_without_0_exactly_where_p_is_below_5_percent(table: tuple[Floats, Ints]) -> None:
    pairs = paired(*table)
    low, high = pairs.bounds
    assert (((low > 0) | (high < 0)) == (pairs.p < SIGNIFICANT)).all()
    assert (low <= pairs.difference + 1e-9).all()
    assert (pairs.difference <= high + 1e-9).all()


@pytest.mark.parametrize("n", [5, 12, 40])
def test_it_is_so_for_all_shares_of_right_answers(n: int) -> None:
    for gained in range(n + 1):
        for lost in range(n + 1 - gained):
            pairs = paired(shares(gained, lost, n), one_part(n))
            low, high = (ends[0, 1] for ends in pairs.bounds)
            exact = binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
            assert pairs.p[0, 1] == pytest.approx(exact)
            assert (low > 0 or high < 0) == (exact < SIGNIFICANT), (gained, lost)
            assert -1 - 1e-9 <= low <= (gained - lost) / n <= high <= 1 + 1e-9


def slow_means(figures: Floats, parts: Ints, first: int, second: int) -> tuple[float, float]:
    """The difference of two results and its standard error, part by part."""
    change = figures[:, first] - figures[:, second]
    own = [part for name in np.unique(parts) if len(part := change[(parts == name) & ~np.isnan(change)])]
    mean = np.mean([part.mean() for part in own])
    spread = np.mean([(part**2).mean() for part in own]) - mean**2
    variance = 0.0
    for part in own:
        n, among_all = len(part), part.mean() - mean
        of_part = (n * part.var() + 4 * spread) / (n + 4) + 4 * n * among_all**2 / (n + 4) ** 2
        variance += of_part / n / len(own) ** 2
    variance += 4 * (sum(1 / len(part) for part in own) / len(own) ** 2) ** 2
    return float(mean), variance**0.5


@given(tables())
def test_means_and_their_errors_equal_those_of_a_slow_version(table: tuple[Floats, Ints]) -> None:
    figures, parts = table
    pairs = paired(figures, parts)
    for first in range(figures.shape[1]):
        for second in range(figures.shape[1]):
            difference, error = slow_means(figures, parts, first, second)
            assert pairs.difference[first, second] == pytest.approx(difference, abs=1e-9)
            if not np.isnan(pairs.error[first, second]):
                assert pairs.error[first, second] == pytest.approx(error, abs=1e-7)


@given(tables())
def test_a_pair_is_compared_in_the_same_way_alone_and_among_others(table: tuple[Floats, Ints]) -> None:
    figures, parts = table
    among, alone = paired(figures, parts), paired(figures[:, :2], parts)
    assert among.p[:2, :2] == pytest.approx(alone.p, abs=1e-9)
    assert np.array(among.bounds)[:, :2, :2] == pytest.approx(np.array(alone.bounds), abs=1e-9)


def test_a_part_of_seven_right_of_seven_is_not_taken_as_certain() -> None:
    figures = np.concatenate([np.tile([1.0, 0.0], (7, 1)), np.tile([[1.0, 0.0], [0.0, 1.0]], (20, 1))])
    parts = np.repeat([0, 1], [7, 40])
    assert paired(figures, parts).error[0, 1] > paired(figures[7:], parts[7:] * 0).error.size * 0 + 0.1


def test_a_few_questions_that_all_agree_prove_nothing() -> None:
    thirds = np.tile([2 / 3, 1 / 3], (3, 1))
    assert paired(np.tile([1.0, 0.0], (5, 1)), one_part(5)).p[0, 1] == 2 / 2**5
    assert paired(thirds, one_part(3)).p[0, 1] > SIGNIFICANT
    assert paired(np.tile([1.0, 0.0], (3, 1)), np.array([0, 0, 1])).p[0, 1] > SIGNIFICANT


def test_the_verdict_has_three_words() -> None:
    assert [verdict(0.1, 0.01), verdict(-0.1, 0.049), verdict(0.3, 0.05)] == [BETTER, WORSE, ALIKE]
    assert verdict(0.3, float("nan")) == ALIKE


@given(*[st.floats(0, 1)] * 2, *[st.integers(1, 500)] * 2)
def test_the_p_value_of_two_separate_intervals_belongs_to_that_of_the_difference(
    first: float, second: float, n_first: int, n_second: int
) -> None:
    low, high = recovered(first, wilson(first, n_first), second, wilson(second, n_second))
    p = p_of_interval(first - second, low, high)
    assert 0 <= p <= 1
    assert (p < SIGNIFICANT) == (low > 0 or high < 0)


def test_the_p_value_of_a_symmetric_interval_is_that_of_its_standard_error() -> None:
    assert p_of_interval(0.2, 0.2 - 1.96 * 0.1, 0.2 + 1.96 * 0.1) == pytest.approx(2 * norm.sf(2), rel=1e-3)
    assert (p_of_interval(0.0, 0.0, 0.0), p_of_interval(0.2, 0.2, 0.2)) == (1.0, 0.0)


@given(st.lists(st.floats(1e-9, 1), min_size=1, max_size=21))
def test_the_pairs_that_can_be_told_apart_are_those_of_holms_procedure(drawn: list[float]) -> None:
    results = next(number for number in range(2, 9) if number * (number - 1) / 2 >= len(drawn))
    above = np.triu_indices(results, 1)
    values = np.resize(drawn, len(above[0]))
    p = np.ones((results, results))
    p[above] = values
    number = undecided(np.minimum(p, p.T))
    assert (values * number < SIGNIFICANT).tolist() == (holm(pd.Series(values)) < SIGNIFICANT).to_list()
    assert number == max(1, int((values * number >= SIGNIFICANT).sum()))
