"""Scores of perplexities: the paper's summary from its own p-values, and what every repetition and relation says."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from probing.analysis.accuracy import SCORE_COLUMNS
from probing.analysis.perplexity_metrics import over_phrasings, perplexity_scores, samples, sentence_figures, summary
from probing.analysis.ranks import compare_all
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
    delong = np.var(by_true, ddof=1) / 200 + np.var(by_false, ddof=1) / 300
    strata = figures.index.get_level_values(0)
    compared = compare_all(figures.to_numpy()[:, None], strata)
    assert compared.covariance[0, 0] == pytest.approx(delong + 2 / 500**2, rel=1e-3)


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
