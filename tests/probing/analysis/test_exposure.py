"""Accuracy by exposure: buckets, WASB and α, against values by hand, a grid, and simulated models."""

from math import exp, inf
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from probing.analysis.breakdowns import means_of, members
from probing.analysis.exposure import (
    ALPHA,
    BUCKETS,
    COUNT,
    EXPOSURE,
    POPULARITY,
    SITELINKS,
    STATED,
    VIEWS_BUCKETS,
    WASB,
    WASB_CHANCE,
    YEARLY_VIEWS,
    Recall,
    buckets,
    exposure_scores,
    fit_alphas,
    read_counts,
    weighted_accuracy,
    with_counts,
)
from probing.analysis.intervals import wilson
from probing.benchmark import PAGE_VIEWS, page_views_group
from probing.errors import BadInput

FACTS = 2_000


def simulated(alpha: float, irreducible: float, initial: float, seed: int, facts: int = FACTS) -> Recall:
    """Draw what a model knows of facts a sixth of which is not stated, and the others up to 4,096 times."""
    random = np.random.default_rng(seed)
    counts = np.floor(2 ** random.uniform(-2, 12, facts)).astype(int)
    right = random.random(facts) < 1 - (irreducible + initial / (1 + counts) ** alpha)
    return Recall.of(rows(counts, right), "correct")


def rows(counts: object, right: object, templates: int = 1) -> pd.DataFrame:
    table = pd.DataFrame({COUNT: counts, "correct": right, "relation": "P1", "template": 0})
    return pd.concat([table.assign(index=table.index)] * templates, ignore_index=True)


def test_buckets_double_in_width() -> None:
    names = {0: "0", 1: "1", 2: "2–3", 3: "2–3", 4: "4–7", 7: "4–7", 8: "8–15", 4095: "2048–4095", 4096: "4096–8191"}
    names |= {8191: "4096–8191", 8192: "8192+", 10**9: "8192+"}
    assert [BUCKETS[place] for place in buckets(np.array([*names]))] == [*names.values()]


def test_rows_get_their_count_and_ordered_groups() -> None:
    table = pd.DataFrame({"relation": ["P1", "P1", "P2"], "index": [0, 1, 0], "count": [5, 0, 1]})
    facts = pd.DataFrame({"relation": ["P2", "P1", "P1"], "index": [0, 0, 0], "template": [0, 0, 1], "subject": "x"})
    joined = with_counts(facts, table)
    assert joined[COUNT].tolist() == [1, 5, 5]
    assert joined[EXPOSURE].tolist() == ["1", "4–7", "4–7"]
    assert joined[EXPOSURE].cat.ordered
    assert joined[STATED].tolist() == ["stated"] * 3
    with pytest.raises(BadInput, match="The counts lack the facts of 1 of 3 rows"):
        with_counts(facts, table[:2])
    with pytest.raises(BadInput, match="subjects differ"):
        with_counts(facts, table.assign(subject="y"))


def test_rows_get_the_sitelinks_of_their_subjects_where_these_are_known(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text("relation,index,sitelinks\nP1,0,\nP1,1,255\nP1,2,400\nP1,3,0\n")
    facts = pd.DataFrame({"relation": "P1", "index": [0, 1, 2, 3], "template": 0, "subject": "x", "correct": True})
    joined = with_counts(facts, read_counts(path))
    assert joined[SITELINKS].tolist() == [pd.NA, 255, 400, 0]
    assert means_of(members(joined, POPULARITY), joined["correct"])["group"].tolist() == ["0", "128–255", "256+"]
    again = with_counts(joined, pd.DataFrame({"relation": "P1", "index": range(4), "count": 1}))
    assert {COUNT, EXPOSURE, STATED, SITELINKS, POPULARITY} <= {*again.columns}


def test_rows_get_the_page_views_of_their_subjects_by_powers_of_ten(tmp_path: Path) -> None:
    views = ["", 0, 1, 9, 10, 99_999, 100_000]
    lines = "".join(f"P1,{index},{number}\n" for index, number in enumerate(views))
    (tmp_path / "views.csv").write_text(f"relation,index,yearly_views\n{lines}")
    facts = pd.DataFrame({"relation": "P1", "index": range(7), "template": 0, "subject": "x", "correct": True})
    joined = with_counts(facts, read_counts(tmp_path / "views.csv"))
    assert joined[YEARLY_VIEWS].tolist() == [pd.NA, *views[1:]]
    assert joined[PAGE_VIEWS].dropna().tolist() == [page_views_group(number) for number in views if number != ""]
    groups = means_of(members(joined, PAGE_VIEWS), joined["correct"]).set_index("group")["n"].to_dict()
    assert groups == {"0": 1, "1–9": 2, "10–99": 1, "10,000–99,999": 1, "100,000–999,999": 1}
    assert [*groups] == [group for group in VIEWS_BUCKETS if group in groups], "in the order of the numbers"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "relation,index\nP1,0\n", "cannot be read"),
        ("a.csv", "relation,index,count\nP1,0,many\n", "cannot be read"),
        ("a.csv", "relation,index,count\nP1,0,-1\n", "a negative count, or a fact twice"),
        ("a.csv", "relation,index,count\nP1,0,1\nP1,0,2\n", "a negative count, or a fact twice"),
        ("a.csv", "relation,index,sitelinks\nP1,0,-1\n", "a negative count, or a fact twice"),
        ("a.csv", "relation,index,yearly_views\nP1,0,1.5\n", "cannot be read"),
        ("a.parquet", "nothing", "cannot be read"),
        ("b.csv", None, "cannot be read"),
    ],
)
def test_bad_counts_are_refused(name: str, content: str | None, message: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(BadInput, match=message):
        read_counts(tmp_path / name)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_counts_are_read_in_every_format(ending: str, tmp_path: Path) -> None:
    table = pd.DataFrame({"relation": ["30", "P1"], "index": [0, 1], "subject": ["null", "NA"], "count": [3, 4]})
    path = tmp_path / f"a.{ending}"
    if ending == "csv":
        table.to_csv(path, index=False)
    elif ending == "jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_parquet(path, index=False)
    pd.testing.assert_frame_equal(read_counts(path), table)


def test_wasb_is_the_weighted_mean_of_the_buckets() -> None:
    """The worked example of docs/methods/exposure.md."""
    counts = [0] * 100 + [1] * 50 + [2, 3] * 20 + [100] * 10
    right = [True] * 20 + [False] * 80 + [True] * 10 + [False] * 40 + [True] * 20 + [False] * 20 + [True] * 9 + [False]
    score = weighted_accuracy(Recall.of(rows(counts, right), "correct"))
    weights = [exp(-0.05), exp(-0.1), exp(-3.2)]
    assert score.value == pytest.approx(np.average([10 / 50, 20 / 40, 9 / 10], weights=weights))
    assert score.value == pytest.approx(0.358, abs=5e-4)
    assert (score.low, score.high) == pytest.approx((0.272, 0.455), abs=5e-4)


def test_the_interval_of_one_bucket_is_wilsons() -> None:
    score = weighted_accuracy(Recall.of(rows([5] * 20, [True] * 13 + [False] * 7), "correct"))
    assert score == pytest.approx((0.65, *wilson(0.65, 20)), abs=0.02)


def test_the_interval_of_wasb_covers() -> None:
    truth = 1 - 0.9 / (1 + 2.0 ** np.arange(0, 3)) ** 0.3
    expected = np.average(truth, weights=np.exp(-0.05 * 2.0 ** np.arange(0, 3)))
    random, covered = np.random.default_rng(0), 0
    counts = np.repeat([1, 2, 4], [40, 30, 20])
    for _ in range(300):
        right = random.random(90) < np.repeat(truth, [40, 30, 20])
        score = weighted_accuracy(Recall.of(rows(counts, right), "correct"))
        covered += score.low <= expected <= score.high
    assert covered >= 0.92 * 300


def test_alpha_is_where_the_likelihood_is_largest() -> None:
    recall = simulated(0.2, 0.0, 1.0, seed=1)
    alpha = fit_alphas([recall], (0, 1)).alphas[0]
    grid = np.arange(0.05, 0.5, 0.0005)
    stated = recall.counts > 0
    counts, facts, right = (values[stated] for values in recall)
    known = 1 - (1 + counts) ** -grid[:, None]
    likelihood = right @ np.log(known).T + (facts - right) @ np.log(1 - known).T
    assert alpha.value == pytest.approx(grid[likelihood.argmax()], abs=0.001)
    inside = grid[likelihood > likelihood.max() - 1.9207]
    assert (alpha.low, alpha.high) == pytest.approx((inside[0], inside[-1]), abs=0.001)


def test_the_worked_example_of_two_models_is_as_the_document_says() -> None:
    """That of docs/methods/exposure.md."""
    first, second = (
        Recall(np.array([0, 1, 7, 63]), np.full(4, 100.0), np.array(right, dtype=float))
        for right in ([10, 20, 40, 60], [10, 30, 60, 80])
    )
    assert fit_alphas([first], (0, 1)).alphas[0] == pytest.approx((0.242, 0.201, 0.289), abs=5e-4)
    assert fit_alphas([second], (0, 1)).alphas[0] == pytest.approx((0.428, 0.363, 0.501), abs=5e-4)
    fit = fit_alphas([first, second])
    assert (fit.irreducible, fit.initial) == pytest.approx((0.032, 0.871), abs=5e-4)
    assert fit.alphas[0] == pytest.approx((0.204, 0.149, 0.329), abs=5e-4)
    assert fit.alphas[1] == pytest.approx((0.401, 0.306, 0.718), abs=5e-4)


def test_templates_share_the_weight_of_their_fact() -> None:
    counts, right = [1, 2, 40, 0] * 25, [True, False, True, False] * 25
    once, twice = (Recall.of(rows(counts, right, templates), "correct") for templates in (1, 2))
    assert twice.facts.tolist() == once.facts.tolist() == [25, 25, 25, 25]
    assert fit_alphas([twice]) == fit_alphas([once])


@pytest.mark.slow
def test_models_in_common_are_ranked_and_their_intervals_cover() -> None:
    alphas, covered = (0.1, 0.15, 0.25), 0
    for seed in range(6):
        fit = fit_alphas([simulated(alpha, 0.03, 0.9, 10 * seed + place) for place, alpha in enumerate(alphas)])
        values = [estimate.value for estimate in fit.alphas]
        assert values == sorted(values)
        assert fit.irreducible + fit.initial == pytest.approx(0.93, abs=0.03)
        covered += sum(
            estimate.low <= alpha <= estimate.high for estimate, alpha in zip(fit.alphas, alphas, strict=True)
        )
    assert covered >= 15  # of 18


def test_what_the_facts_do_not_tell_has_an_open_interval() -> None:
    all_known = Recall(np.array([0, 1, 9]), np.array([5.0, 5, 5]), np.array([0.0, 5, 5]))
    assert fit_alphas([all_known], (0, 1)).alphas[0].high == inf
    assert exposure_scores(rows([0, 1, 9], [False, True, True]), "correct")["metric"].tolist() == [WASB]
    none_known = all_known._replace(right=np.zeros(3))
    alpha = fit_alphas([none_known], (0, 1)).alphas[0]
    assert (alpha.value, alpha.low) == (0, 0)
    assert 0 < alpha.high < 1


@pytest.mark.parametrize("fixed", [(0.5, 0.6), (-0.1, 0.5), (0, -1), (1, 0)])
def test_values_that_are_no_probabilities_are_refused(fixed: tuple[float, float]) -> None:
    with pytest.raises(BadInput, match="add up to 1 at most"):
        fit_alphas([simulated(0.1, 0, 1, 0)], fixed)


def test_scores_need_stated_facts() -> None:
    assert exposure_scores(rows([0, 0], [True, False]), "correct").empty
    with pytest.raises(BadInput, match="No fact is stated"):
        fit_alphas([Recall.of(rows([0, 0], [True, False]), "correct")])
    scores = exposure_scores(rows([0, 1, 3], [True, False, None]), "correct").set_index("metric")
    assert scores.loc[[WASB, ALPHA], "n"].tolist() == [1, 1]
    assert scores.loc[WASB, "value"] == 0
    assert WASB_CHANCE not in scores.index, "these rows have no options"


def test_wasb_has_a_chance_where_rows_have_options() -> None:
    options = [[0.0] * 2, [0.0] * 4, [0.0] * 10]
    answered = rows([1, 2, 0], [True, True, False]).assign(answers=[[0]] * 3, scores=options)
    scores = exposure_scores(answered, "correct").set_index("metric")
    assert scores.loc[WASB_CHANCE, "value"] == pytest.approx(
        np.average([1 / 2, 1 / 4], weights=[exp(-0.05), exp(-0.1)])
    )
    assert scores.loc[WASB_CHANCE, "n"] == 2
    assert np.isnan(scores.loc[WASB_CHANCE, "low"])
