"""Scores of perplexities: the paper's summary from its own p-values, and what every repetition and relation says."""

import json
from itertools import product
from math import log, log10

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, norm, spearmanr, ttest_ind

from probing.analysis import perplexity_metrics
from probing.analysis.accuracy import SCORE_COLUMNS
from probing.analysis.paired_tests import DIFFERENCE_COLUMNS, SIDE_BOUNDS
from probing.analysis.perplexity_metrics import (
    cohens_d,
    compare_perplexities,
    difference_tests,
    log_p,
    log_p_less,
    over_phrasings,
    perplexity_scores,
    placements,
    rank_summary,
    samples,
    sentence_figures,
    sentence_ranks,
    summary,
    superiority,
)
from probing.analysis.verdicts import holm, paired
from probing.errors import BadInput
from tests.probing.analysis.figures import value
from tests.real_data import real_data

# The paper's tables 3 and 4: mean, standard deviation, median, spread.
TABLES = {
    ("gpt2", "FB15k-237"): (8.37e-08, 2.45e-07, 2.70e-19, 1.13e-06),
    ("gpt2", "WN18RR"): (3.52e-48, 1.57e-47, 1.71e-62, 8.01e-47),
    ("gpt2-large", "FB15k-237"): (6.12e-07, 3.00e-06, 1.26e-25, 1.53e-05),
    ("gpt2-large", "WN18RR"): (1.10e-59, 3.05e-59, 1.29e-75, 1.23e-58),
    ("bert-base-cased", "FB15k-237"): (5.93e-22, 2.90e-21, 1.90e-30, 1.48e-20),
    ("bert-base-cased", "WN18RR"): (2.42e-22, 1.18e-21, 4.41e-38, 6.04e-21),
    ("roberta-base", "FB15k-237"): (5.98e-04, 2.93e-03, 1.89e-20, 1.50e-02),
    ("roberta-base", "WN18RR"): (1.76e-25, 8.60e-25, 7.20e-43, 4.39e-24),
}


def rows(*lines: tuple[str, bool, float, list[int]]) -> pd.DataFrame:
    table = pd.DataFrame(lines, columns=["relation", "true", "perplexity", "repetitions"])
    figures = {"tokens": 2, "log_prob": -2 * np.log(table["perplexity"]), "words": 1, "statement": "Oslo"}
    return table.assign(template=0, index=range(len(table)), **figures)


@pytest.fixture
def two_repetitions() -> pd.DataFrame:
    return rows(
        ("capital", True, 2.0, [1, 2]),
        ("capital", True, 4.0, [1]),
        ("river", True, 8.0, [2, 2]),
        ("capital", False, 16.0, [1]),
        ("capital", False, 32.0, [1, 2]),
        ("river", False, 4.0, [2]),
    )


def test_a_repetition_has_its_sentences_as_often_as_it_drew_them(two_repetitions: pd.DataFrame) -> None:
    assert [part.tolist() for part in samples(two_repetitions, 1)] == [[2.0, 4.0], [16.0, 32.0]]
    assert [part.tolist() for part in samples(two_repetitions, 2)] == [[2.0, 8.0, 8.0], [32.0, 4.0]]
    assert [part.tolist() for part in samples(two_repetitions)] == [[2.0, 4.0, 8.0], [16.0, 32.0, 4.0]]


def test_each_repetition_has_the_papers_test_and_effects_of_distinct_sentences(two_repetitions: pd.DataFrame) -> None:
    scores = perplexity_scores(two_repetitions)
    expected = ttest_ind([2.0, 4.0], [16.0, 32.0]).pvalue
    assert value(scores, "p_value", "repetition", "1") == pytest.approx(expected)
    assert value(scores, "log10_p", "repetition", "1") == pytest.approx(np.log10(expected))
    assert value(scores, "superiority", "repetition", "1") == 1.0
    # Of nine pairs six have the true one lower, one is a tie, two have it higher.
    assert value(scores, "superiority") == pytest.approx(7.5 / 9)
    (row,) = scores[(scores["metric"] == "superiority") & (scores["dimension"] == "overall")].to_dict("records")
    assert row["n"] == 6
    assert row["low"] < row["value"] < row["high"]
    assert set(scores.loc[scores["dimension"] == "relation", "group"]) == {"capital"}
    assert value(scores, "superiority", "relation", "capital") == 1.0


def test_the_verdict_needs_a_small_p_and_lower_true_sentences() -> None:
    clear = [("r", True, 1.0 + i / 10, [1]) for i in range(5)] + [("r", False, 9.0 + i / 10, [1]) for i in range(5)]
    wrong_way = [("r", not true, perplexity, [2]) for _, true, perplexity, _ in clear]
    assert value(perplexity_scores(rows(*clear)), "discriminates") == 1.0
    assert value(perplexity_scores(rows(*clear, *wrong_way)), "discriminates") == 0.5


def test_one_measurement_is_divided_by_tokens_words_and_characters() -> None:
    """The true statements are likelier by token, and by character the other way round."""
    lengths = {"tokens": [4, 4, 4, 4], "words": [2, 2, 2, 2], "statement": ["ab", "ab", "a" * 20, "a" * 20]}
    lines = [("r", true, 2.0, [1]) for true in (True, True, False, False)]
    table = rows(*lines).assign(log_prob=[-8.0, -9.0, -12.0, -13.0], **lengths)
    scores = perplexity_scores(table)
    assert value(scores, "superiority", "divided_by", "token") == 1
    assert value(scores, "superiority", "divided_by", "character") == 0
    by_word = np.exp([4, 4.5]), np.exp([6, 6.5])
    assert value(scores, "p_value_mean", "divided_by", "word") == pytest.approx(ttest_ind(*by_word).pvalue)
    long = table.assign(tokens=5000, log_prob=-5000.0)
    assert value(perplexity_scores(long), "superiority", "divided_by", "word") == 0.5


def test_each_level_of_a_ladder_is_compared_with_all_true_statements() -> None:
    lines = [("r", True, 2.0, [1]), ("r", True, 4.0, [1])]
    lines += [("r", False, perplexity, [1]) for perplexity in (8.0, 9.0, 3.0, 1.0)]
    table = rows(*lines).assign(level=["true", "true", "easy", "easy", "hard", "hard"])
    scores = perplexity_scores(table)
    assert value(scores, "superiority", "level", "easy") == 1
    assert value(scores, "superiority", "level", "hard") == 0.25
    assert value(scores, "p_value_mean", "level", "hard") == pytest.approx(ttest_ind([2, 4], [3, 1]).pvalue)
    assert value(scores, "superiority") == 0.625


def test_scores_are_tidy_and_finite_with_perplexities_by_truth(two_repetitions: pd.DataFrame) -> None:
    scores = perplexity_scores(two_repetitions)
    assert list(scores.columns) == SCORE_COLUMNS
    assert np.isfinite(scores["value"]).all()
    assert not scores.duplicated(["metric", "dimension", "group"]).any()
    assert value(scores, "perplexity_median", "truth", "false") == 16.0
    assert value(scores, "perplexity_corpus", "truth", "true") == pytest.approx((2 * 4 * 8) ** (1 / 3))
    assert "template" not in set(scores["dimension"])
    assert not any(metric.startswith("phrasing") for metric in scores["metric"])


def test_a_p_value_of_zero_keeps_its_logarithm() -> None:
    lines = [("r", True, 1 + i / 1000, [1]) for i in range(1000)] + [
        ("r", False, 9 + i / 1000, [1]) for i in range(1000)
    ]
    scores = perplexity_scores(rows(*lines))
    assert value(scores, "p_value_median") == 0.0
    assert value(scores, "log10_p_median") < -1000


def test_the_summary_is_of_the_population_and_does_not_underflow() -> None:
    assert summary([1e-250, 3e-250]) == pytest.approx(
        {"mean": 2e-250, "std": 1e-250, "median": 2e-250, "spread": 2e-250}
    )
    assert summary([0.0, 0.0])["std"] == 0.0


def test_the_papers_tables_follow_from_its_raw_p_values() -> None:
    """All to the two decimals printed, from the 25 p-values of each model and graph."""
    published = json.loads(real_data("published_results_extra.json").read_text(encoding="utf-8"))
    raw = {
        (one["hf_id"], one["graph"]): one["p_values"]
        for one in published["llmkg_raw_p_values"]
        if "word" not in one["label"].lower()
    }
    assert raw.keys() == TABLES.keys()
    for key, printed in TABLES.items():
        assert [f"{number:.2e}" for number in summary(raw[key]).values()] == [f"{n:.2e}" for n in printed], key


def placed(perplexities: list[float], truths: list[bool]) -> pd.DataFrame:
    table = pd.DataFrame({"relation": "R", "template": 0, "true": truths, "perplexity": perplexities})
    return table.assign(index=range(len(table)))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([1.0, 2.0, 3.0, 4.0]), st.booleans()), min_size=2, max_size=12))
def test_the_figures_of_sentences_have_the_superiority_as_their_mean(sentences: list[tuple[float, bool]]) -> None:
    perplexities, truths = map(list, zip(*sentences, strict=True))
    figures = sentence_figures(placed(perplexities, truths))
    if all(truths) or not any(truths):
        assert figures.empty
        return
    pairs = [(t, f) for t, is_true in sentences if is_true for f, is_false in sentences if not is_false]
    assert figures.mean() == pytest.approx(np.mean([(t < f) + (t == f) / 2 for t, f in pairs]))


def test_the_variance_of_superiority_is_that_of_delong() -> None:
    chance = np.random.default_rng(0)
    true, false = chance.normal(0, 1, 200), chance.normal(0.5, 1, 300)
    figures = sentence_figures(placed([*true, *false], [True] * 200 + [False] * 300))
    by_true = [(value < false).mean() for value in true]
    by_false = [(value > true).mean() for value in false]
    delong = np.var(by_true) / 200 + np.var(by_false) / 300
    pairs = paired(np.stack([figures, np.full(500, figures.mean())], axis=1), np.zeros(500, dtype=np.int64))
    assert pairs.error[0, 1] ** 2 == pytest.approx(delong + 4 / 500**2)


@pytest.fixture
def two_phrasings() -> pd.DataFrame:
    """Two true and two false statements. The first phrasing tells them apart, the second one half of the pairs."""
    true, false = [True, True], [False, False]
    first = rows(*(("capital", truth, value, [1]) for truth, value in zip(true + false, [1, 2, 8, 9], strict=True)))
    second = rows(*(("capital", truth, value, [1]) for truth, value in zip(true + false, [4, 8, 2, 9], strict=True)))
    return pd.concat([first, second.assign(template=1)], ignore_index=True)


def test_each_phrasing_has_its_effects_and_all_have_a_mean_a_best_one_and_a_spread(two_phrasings: pd.DataFrame) -> None:
    scores = perplexity_scores(two_phrasings)
    assert value(scores, "superiority", "template", "0") == 1.0
    assert value(scores, "superiority", "template", "1") == 0.5
    metrics = ("phrasing_mean", "phrasing_best", "phrasing_spread")
    assert [value(scores, metric) for metric in metrics] == [0.75, 1.0, 0.5]


def test_a_statement_counts_once_with_the_geometric_mean_of_its_phrasings(two_phrasings: pd.DataFrame) -> None:
    statements = over_phrasings(two_phrasings)
    assert statements["perplexity"].tolist() == pytest.approx([2, 4, 4, 9])
    scores = perplexity_scores(two_phrasings)
    overall = scores[(scores["metric"] == "superiority") & (scores["dimension"] == "overall")].iloc[0]
    assert (overall["value"], overall["n"]) == (3.5 / 4, 4)
    assert value(scores, "p_value", "repetition", "1") == pytest.approx(ttest_ind([2, 4], [4, 9]).pvalue)
    assert len(sentence_figures(two_phrasings)) == 4


small_samples = st.lists(st.integers(0, 20), min_size=3, max_size=12).map(lambda values: np.array(values, dtype=float))
varied = small_samples.filter(lambda values: values.std() > 0)


@given(varied, varied)
def test_p_values_are_scipys(first: np.ndarray, second: np.ndarray) -> None:
    p_values = difference_tests(first, second)
    expected = {
        "": ttest_ind(first, second).pvalue,
        "less": ttest_ind(first, second, alternative="less").pvalue,
        "welch": ttest_ind(first, second, equal_var=False).pvalue,
        "mann_whitney": mannwhitneyu(first, second, method="asymptotic").pvalue,
    }
    for name, p_value in expected.items():
        value, logarithm = p_values[name]
        assert value == pytest.approx(p_value, rel=1e-9), name
        assert logarithm == pytest.approx(log10(p_value), rel=1e-9, abs=1e-9), name


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
    value, logarithm = p_values[""]
    assert value == 0.0 and logarithm < -1000
    assert p_values["mann_whitney"][1] == pytest.approx(-326.9, abs=0.5)


def test_samples_that_do_not_vary_have_a_p_value_all_the_same() -> None:
    same, other = np.ones(5), np.full(5, 2.0)
    assert difference_tests(same, same)[""][0] == 1.0
    assert difference_tests(same, same)["mann_whitney"][0] == 1.0
    assert difference_tests(same, other)["welch"][1] < -100
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
        # The jackknife divides by n - 1 where the comparison divides by n.
        variances.append(((count - 1) / count) ** 2 * ((np.array(left) - np.mean(left)) ** 2).sum())
    half = (row["high"] - row["low"]) / 2
    if row["low"] > -1 and row["high"] < 1:
        assert half == pytest.approx(norm.ppf(0.975) * np.sqrt(sum(variances) + 4 / len(true) ** 2))


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
    assert row[["difference", "p", "gained", "lost"]].to_list() == pytest.approx([0, 1, 0, 0])
    assert row["low"] == pytest.approx(-row["high"]), "other sentences may tell them apart"


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
