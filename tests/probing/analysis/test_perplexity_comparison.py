"""Perplexity results on the sentences that they share, against slow versions and scipy."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, norm, spearmanr

from probing.analysis import perplexity_metrics
from probing.analysis.paired_tests import DIFFERENCE_COLUMNS, SIDE_BOUNDS, holm
from probing.analysis.perplexity_metrics import (
    compare_perplexities,
    placements,
    rank_summary,
    sentence_ranks,
    superiority,
)
from probing.errors import BadInput

TRUTHS = st.lists(st.booleans(), min_size=6, max_size=14).filter(lambda true: 2 < sum(true) < len(true) - 2)


def result(true: list[bool], perplexities: list[float], relation: str = "P1") -> pd.DataFrame:
    return pd.DataFrame(
        {
            "relation": relation,
            "template": 0,
            "index": range(len(true)),
            "statement": [f"sentence {number}" for number in range(len(true))],
            "true": true,
            "perplexity": np.array(perplexities, dtype=float),
        }
    )


def overall(first: pd.DataFrame, second: pd.DataFrame) -> pd.Series:
    return compare_perplexities({"first": first, "second": second}, []).iloc[0]


def auc(true: np.ndarray, values: np.ndarray) -> float:
    """The share of pairs in which the true sentence is less perplexing, one pair at a time."""
    pairs = product(values[true], values[~true])
    return float(np.mean([0.5 if one == other else float(one < other) for one, other in pairs]))


@st.composite
def two_results(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    true = draw(TRUTHS)
    values = st.lists(st.integers(1, 9), min_size=len(true), max_size=len(true))
    return np.array(true), *(np.array(draw(values), dtype=float) for _ in range(2))


@given(two_results())
def test_the_difference_is_that_of_the_two_superiorities(case: tuple[np.ndarray, ...]) -> None:
    true, one, other = case
    row = overall(result(list(true), list(one)), result(list(true), list(other)))
    assert row["first"] == pytest.approx(auc(true, one))
    assert row["second"] == pytest.approx(auc(true, other))
    assert row["difference"] == pytest.approx(auc(true, other) - auc(true, one))
    statistic = mannwhitneyu(other[true], other[~true]).statistic
    assert row["second"] == pytest.approx(1 - statistic / (true.sum() * (~true).sum()))


@given(two_results())
def test_the_mean_placement_of_either_kind_is_the_superiority(case: tuple[np.ndarray, ...]) -> None:
    true, values, _ = case
    placed = placements(true, values)
    assert placed[true].mean() == pytest.approx(auc(true, values))
    assert placed[~true].mean() == pytest.approx(auc(true, values))


@settings(max_examples=30)
@given(two_results())
def test_the_standard_error_is_that_of_a_jackknife_over_sentences(case: tuple[np.ndarray, ...]) -> None:
    """Each sentence is left out in turn; the two kinds are samples of their own."""
    true, one, other = case
    row = overall(result(list(true), list(one)), result(list(true), list(other)))
    variances = []
    for kind in (true, ~true):
        left = []
        for place in np.flatnonzero(kind):
            kept = np.arange(len(true)) != place
            left.append(auc(true[kept], other[kept]) - auc(true[kept], one[kept]))
        count = int(kind.sum())
        variances.append((count - 1) / count * ((np.array(left) - np.mean(left)) ** 2).sum())
    error = np.sqrt(sum(variances))
    clipped = row["low"] == -1 or row["high"] == 1
    half = (row["high"] - row["low"]) / 2
    if error < 1e-9:
        assert half == pytest.approx(0, abs=1e-6)
    elif not clipped:
        assert half >= 1.96 * error * (1 - 1e-9)


def test_with_many_sentences_the_interval_is_the_normal_one() -> None:
    generator = np.random.default_rng(4)
    true = np.arange(3000) < 1500
    one, other = (generator.normal(size=3000) - shift * true for shift in (0.5, 0.7))
    row = overall(result(list(true), list(one)), result(list(true), list(other)))
    resampled = []
    for _ in range(400):
        drawn = np.concatenate([generator.choice(np.flatnonzero(kind), 1500) for kind in (true, ~true)])
        resampled.append(
            superiority(other[drawn][:1500], other[drawn][1500:])[0]
            - superiority(one[drawn][:1500], one[drawn][1500:])[0]
        )
    assert (row["high"] - row["low"]) / 2 == pytest.approx(1.96 * np.std(resampled), rel=0.1)
    assert row["p"] < 0.05


def test_intervals_cover_the_real_difference_as_often_as_they_say() -> None:
    """Two models that share half of what they know; samples of 40 and 25 sentences.

    Two sentences of different kinds differ by a normal variable with standard deviation 2, so that a shift of d gives a
    superiority of Φ(d / 2).
    """
    generator = np.random.default_rng(7)
    true = np.arange(65) < 40
    covered = []
    for _ in range(1000):
        common = generator.normal(size=65)
        one, other = (common + generator.normal(size=65) - shift * true for shift in (1.0, 2.0))
        row = perplexity_metrics._paired(true, one, other)  # as `compare_perplexities` calls it, but without tables
        covered.append(row["low"] <= norm.cdf(2 / 2) - norm.cdf(1 / 2) <= row["high"])
    assert 0.93 <= np.mean(covered) <= 0.975


def test_equal_orders_of_sentences_do_not_differ_whatever_their_perplexities() -> None:
    true, values = [True, False] * 10, list(range(1, 21))
    row = overall(result(true, values), result(true, [value**3 + 100 for value in values]))
    assert row[["difference", "low", "high", "p", "gained", "lost"]].to_list() == [0, 0, 0, 1, 0, 0]


def test_gains_and_losses_are_sentences_placed_better_or_worse_and_few_of_them_prove_little() -> None:
    first, second = result([True, True, False, False], [1, 5, 3, 9]), result([True, True, False, False], [1, 2, 3, 9])
    row = overall(first, second)
    assert (row["first"], row["second"], row["gained"], row["lost"]) == (0.75, 1.0, 2, 0)
    assert row["n"] == 4
    true = [True, True, False, False]
    row = overall(result(true, [3, 4, 1, 2]), result(true, [1, 2, 3, 4]))
    assert row["difference"] == 1
    assert row["p"] == 2 / 2**4


def test_each_superiority_has_its_own_interval() -> None:
    true, one, other = [True] * 4 + [False] * 4, [1, 2, 3, 7, 4, 5, 6, 8], [1, 2, 3, 4, 5, 6, 7, 8]
    row = overall(result(true, one), result(true, other))
    intervals = [superiority(np.array(values[:4]), np.array(values[4:]))[1:] for values in (one, other)]
    assert row[SIDE_BOUNDS].to_list() == pytest.approx([*intervals[0], *intervals[1]])


def test_only_shared_sentences_count_and_groups_need_two_of_either_kind() -> None:
    true, values = [True, False] * 4, list(range(8))
    first = pd.concat([result(true, values, "P1"), result([True, False, False], [1, 2, 3], "P2")])
    second = pd.concat([result(true, values, "P1").iloc[2:], result([True, False, False], [3, 2, 1], "P2")])
    table = compare_perplexities({"first": first, "second": second}, [])
    assert list(table.columns) == DIFFERENCE_COLUMNS
    assert table.set_index(["dimension", "group"])["n"].to_dict() == {("overall", "all"): 9, ("relation", "P1"): 6}


def test_a_dimension_is_corrected_for_all_its_groups_and_results() -> None:
    generator = np.random.default_rng(3)
    true = [True, False] * 20
    results = {
        name: pd.concat([result(true, list(generator.random(40)), relation) for relation in ("P1", "P2")])
        for name in ("first", "second", "third")
    }
    table = compare_perplexities(results, [])
    relations = table[table["dimension"] == "relation"]
    assert len(relations) == 4
    assert relations["p_holm"].to_list() == pytest.approx(holm(relations["p"]).to_list())


@pytest.mark.parametrize("true", [[True] * 4, [True, True, True, False]])
def test_sentences_of_one_kind_cannot_be_compared(true: list[bool]) -> None:
    rows = result(true, [1, 2, 3, 4])
    with pytest.raises(BadInput, match="fewer than two"):
        compare_perplexities({"first": rows, "second": rows}, [])


def test_ranks_do_not_depend_on_the_scale_and_the_most_disputed_sentence_comes_first() -> None:
    true = [True, False, True, False, True]
    results = {"first": result(true, [1, 2, 3, 4, 5]), "second": result(true, [900, 10, 20, 30, 40])}
    ranks = sentence_ranks(results)
    assert ranks["statement"][0] == "sentence 0"
    assert ranks.loc[0, ["first", "second", "spread"]].to_list() == [0, 1, 1]
    assert ranks["spread"].is_monotonic_decreasing


@given(two_results())
def test_correlations_are_spearmans(case: tuple[np.ndarray, ...]) -> None:
    true, one, other = case
    results = {"first": result(list(true), list(one)), "second": result(list(true), list(other))}
    summary = rank_summary(sentence_ranks(results), ["first", "second"]).set_index("result")
    for kind, chosen in (("", np.ones(len(true), bool)), ("_true", true), ("_false", ~true)):
        if min(np.ptp(one[chosen]), np.ptp(other[chosen])) == 0:
            assert np.isnan(summary.loc["second", f"correlation{kind}"])
        else:
            expected = spearmanr(one[chosen], other[chosen]).statistic
            assert summary.loc["second", f"correlation{kind}"] == pytest.approx(expected, abs=1e-9)


@given(two_results())
def test_the_difference_of_mean_ranks_says_the_same_as_superiority(case: tuple[np.ndarray, ...]) -> None:
    true, one, other = case
    results = {"first": result(list(true), list(one)), "second": result(list(true), list(other))}
    summary = rank_summary(sentence_ranks(results), ["first", "second"]).set_index("result")
    n = len(true)
    for name, values in (("first", one), ("second", other)):
        gap = summary.loc[name, "false"] - summary.loc[name, "true"]
        assert 0.5 + gap * (n - 1) / n == pytest.approx(auc(true, values))
