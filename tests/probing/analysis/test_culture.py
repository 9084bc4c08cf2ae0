"""Scores of ranked rows: means, gaps, origins of wrong predictions, common predictions."""

from itertools import count
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from probing.analysis.breakdowns import BY_CULTURE
from probing.analysis.culture_metrics import common_predictions, gaps, ranking_scores, z_test
from probing.analysis.intervals import cluster_interval, newcombe, wilson
from probing.analysis.paired_tests import compare
from probing.analysis.ranks import item_values
from tests.probing.analysis.figures import value

DIMENSIONS = ["culture_pair", "language", "culture"]
numbers = count()


def row(culture: str, rank: int, prediction: str = "x", cultures: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """A row with four candidates."""
    return {
        "relation": "P37",
        "template": 0,
        "index": next(numbers),
        "answers": [0],
        "correct": rank == 1,
        "rank": rank,
        "scores": [0.0] * 4,
        "prediction_label": prediction,
        "prediction_cultures": list(cultures),
        "culture_pair": "arab-west",
        "language": "en",
        "culture": culture,
    } | more


def table(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(rows).astype({"rank": "Int64"})


ROWS = table(
    row("Arab", 1, "Arabic", ("Arab",)),
    row("Arab", 1, "Arabic", ("Arab",)),
    row("Arab", 2, "French", ("West",)),
    row("West", 6, "Arabic", ("Arab",)),
    row("West", 1, "French", ("West",)),
    row("West", 2, "English", ("Arab", "West")),
    row("West", 3, "Klingon", ()),
    row("West", 4, "Dutch", ("West",)),
)


def test_the_figures_are_what_one_counts() -> None:
    scores = ranking_scores(ROWS, DIMENSIONS)
    assert value(scores, "p_at_1", "overall", "all") == 3 / 8
    assert value(scores, "p_at_5", "overall", "all") == 7 / 8
    assert value(scores, "p_at_1", "culture", "Arab") == pytest.approx(2 / 3)
    assert value(scores, "p_at_1", "relation_culture", "P37 West") == 1 / 5
    assert value(scores, "mean_reciprocal_rank", "culture", "Arab") == pytest.approx(2.5 / 3)
    assert value(scores, "chance", "relation", "P37") == 1 / 4


def test_a_pair_is_the_mean_of_its_cultures_weighed_by_their_items() -> None:
    scores = ranking_scores(ROWS, DIMENSIONS)
    pair = scores[(scores.metric == "p_at_1") & (scores.dimension == "culture_pair")].iloc[0]
    sides = scores[(scores.metric == "p_at_1") & (scores.dimension == "culture_pair_culture")]
    assert pair["value"] == pytest.approx((sides["value"] * sides["n"]).sum() / sides["n"].sum())
    assert pair["n"] == sides["n"].sum() == 8


def test_the_gap_is_the_difference_between_the_sides_with_its_test() -> None:
    scores = ranking_scores(ROWS, DIMENSIONS)
    for dimension, group in [("culture_pair", "arab-west"), ("culture_pair_language_relation", "arab-west en P37")]:
        assert value(scores, "culture_gap", dimension, group) == pytest.approx(2 / 3 - 1 / 5)
        assert value(scores, "culture_gap_p", dimension, group) == pytest.approx(z_test(2 / 3, 3, 1 / 5, 5))


def test_a_group_with_one_culture_has_no_gap() -> None:
    assert gaps(ROWS[ROWS.culture == "Arab"], "culture_pair").empty


def test_wrong_predictions_are_told_by_where_they_are_right() -> None:
    scores = ranking_scores(ROWS, DIMENSIONS)
    shares = {
        metric: value(scores, metric, "culture", "West")
        for metric in ("wrong_own_culture", "wrong_other_culture", "wrong_both_cultures", "wrong_no_culture")
    }
    assert shares == dict.fromkeys(shares, 1 / 4)
    assert value(scores, "wrong_other_culture", "culture", "Arab") == 1.0


def test_a_model_that_is_always_right_has_no_wrong_predictions() -> None:
    scores = ranking_scores(table(row("Arab", 1), row("West", 1)), DIMENSIONS)
    assert not scores["metric"].str.startswith("wrong").any()


def test_the_second_rule_is_kept_apart() -> None:
    rows = ROWS.assign(correct_statement=[True] * 4 + [False] * 4)
    scores = ranking_scores(rows, DIMENSIONS)
    assert value(scores, "p_at_1_statement", "overall", "all") == 0.5
    assert value(scores, "p_at_1", "overall", "all") == 3 / 8


def test_unknown_ranks_leave_only_what_is_known() -> None:
    rows = ROWS.assign(rank=ROWS["rank"].mask(ROWS["rank"] > 1))
    assert not {"p_at_5", "mean_reciprocal_rank"} & set(ranking_scores(rows, DIMENSIONS)["metric"])


def test_rows_without_cultures_have_the_plain_figures() -> None:
    rows = ROWS.drop(columns=DIMENSIONS)
    assert set(ranking_scores(rows, [])["dimension"]) == {"overall", "relation"}


def test_every_interval_holds_its_value() -> None:
    scores = ranking_scores(ROWS, DIMENSIONS).dropna(subset="low")
    assert (scores["low"] <= scores["value"] + 1e-12).all() and (scores["value"] <= scores["high"] + 1e-12).all()
    assert set(BY_CULTURE) < set(scores["dimension"])


def test_a_reciprocal_rank_of_a_single_item_or_of_equal_ranks_is_not_certain() -> None:
    single = ranking_scores(table(row("Arab", 2)), DIMENSIONS).set_index(["metric", "dimension"])
    assert tuple(single.loc[("mean_reciprocal_rank", "overall"), ["low", "high"]]) == pytest.approx(wilson(0.5, 1))
    best = ranking_scores(table(*(row("Arab", 1) for index in range(8))), DIMENSIONS)
    overall = best.set_index(["metric", "dimension"]).loc[("mean_reciprocal_rank", "overall")]
    assert (overall["low"], overall["high"]) == pytest.approx(wilson(1, 8))


def test_the_interval_of_a_mean_reciprocal_rank_is_near_the_normal_one_where_that_holds() -> None:
    generator = np.random.default_rng(0)
    ranks = generator.integers(1, 6, size=400)
    scores = ranking_scores(table(*(row("Arab", int(rank)) for rank in ranks)), DIMENSIONS)
    overall = scores.set_index(["metric", "dimension"]).loc[("mean_reciprocal_rank", "overall")]
    half = 1.96 * (1 / ranks).std(ddof=1) / 20
    assert (overall["low"], overall["high"]) == pytest.approx(
        ((1 / ranks).mean() - half, (1 / ranks).mean() + half), abs=0.002
    )


def test_common_predictions_are_shares_of_all_predictions() -> None:
    predictions = common_predictions(ROWS, most=1)
    columns = ["culture", "correct", "prediction_label", "share"]
    assert predictions[columns].to_numpy().tolist() == [
        ["Arab", True, "Arabic", pytest.approx(2 / 3)],
        ["Arab", False, "French", pytest.approx(1 / 3)],
        ["West", True, "French", 1 / 5],
        ["West", False, "Arabic", 1 / 5],
    ]


def test_newcombes_interval_is_that_of_his_paper() -> None:
    """56/70 against 48/80, method 10 of Newcombe (1998)."""
    assert newcombe(56 / 70, 70, 48 / 80, 80) == pytest.approx((0.0524, 0.3339), abs=1e-4)


def test_the_test_is_the_pooled_z_test() -> None:
    pooled = 104 / 150
    z = (0.8 - 0.6) / np.sqrt(pooled * (1 - pooled) * (1 / 70 + 1 / 80))
    assert z_test(0.8, 70, 0.6, 80) == pytest.approx(2 * norm.sf(z))
    assert z_test(1.0, 5, 1.0, 7) == 1.0


def test_figures_of_several_predicates_are_clustered_by_predicate() -> None:
    rows = table(
        *(row(culture, rank, relation=name) for name, rank in (("P1", 1), ("P2", 2)) for culture in ("Arab", "West"))
    )
    scores = ranking_scores(rows, DIMENSIONS).set_index(["metric", "dimension", "group"])
    for place, n in ((("overall", "all"), 4), (("culture", "Arab"), 2)):
        expected = cluster_interval(np.array([1.0, 0.0]), np.full(2, n / 2), n)
        assert tuple(scores.loc[("p_at_1", *place), ["cluster_low", "cluster_high"]]) == pytest.approx(expected)
    assert np.isnan(scores["cluster_low"]["p_at_1", "relation_culture", "P1 Arab"])


def in_two_languages(english: list[bool], arabic: list[bool], **more: Any) -> pd.DataFrame:
    """Facts about one culture, each asked in both languages."""
    answers = [("en", number, right) for number, right in enumerate(english)]
    answers += [("ar", number, right) for number, right in enumerate(arabic)]
    rows = [row("Arab", 1 if right else 2, language=lang, subject_id=f"Q{n}") for lang, n, right in answers]
    return table(*({**one, **more} for one in rows))


def bounds(rows: pd.DataFrame, metric: str, dimension: str, group: str) -> tuple[float, float]:
    scores = ranking_scores(rows, DIMENSIONS)
    chosen = scores[(scores.metric == metric) & (scores.dimension == dimension) & (scores.group == group)]
    return float(chosen["low"].item()), float(chosen["high"].item())


def test_a_fact_that_is_right_in_both_languages_or_in_none_counts_once() -> None:
    right = [True, False, True, True] * 5
    rows = in_two_languages(right, right)
    for dimension, group in (("overall", "all"), ("culture_pair", "arab-west"), ("culture", "Arab")):
        assert bounds(rows, "p_at_1", dimension, group) == pytest.approx(wilson(0.75, 20))
    assert bounds(rows, "p_at_1", "culture_pair_language", "arab-west ar") == pytest.approx(wilson(0.75, 20))


def test_facts_whose_languages_are_unrelated_count_as_many_items() -> None:
    english = [True, True, False, False] * 5
    arabic = [True, False, True, False] * 5
    assert bounds(in_two_languages(english, arabic), "p_at_1", "overall", "all") == pytest.approx(wilson(0.5, 40))


def test_facts_that_are_all_right_count_once() -> None:
    rows = in_two_languages([True] * 6, [True] * 6)
    assert bounds(rows, "p_at_1", "overall", "all") == pytest.approx(wilson(1.0, 6))


def test_the_reciprocal_rank_of_a_fact_counts_once() -> None:
    rows = in_two_languages([True, False, True, True] * 5, [True, False, True, True] * 5)
    once = rows[rows["language"] == "en"]
    assert bounds(rows, "mean_reciprocal_rank", "overall", "all") == pytest.approx(
        bounds(once, "mean_reciprocal_rank", "overall", "all")
    )


def test_the_gap_of_a_pair_in_two_languages_is_as_certain_as_its_facts() -> None:
    right = [True, False, True, True] * 5
    arab = in_two_languages(right, right)
    west = in_two_languages([not one for one in right], [not one for one in right], culture="West")
    rows = pd.concat([arab, west.assign(subject_id=west["subject_id"] + "w")], ignore_index=True)
    scores = gaps(rows, "culture_pair")
    gap = scores[scores["metric"] == "culture_gap"].iloc[0]
    assert (gap["low"], gap["high"]) == pytest.approx(newcombe(0.75, 20, 0.25, 20))
    p = scores.loc[scores["metric"] == "culture_gap_p", "value"].item()
    assert p == pytest.approx(z_test(0.75, 20, 0.25, 20))


def test_paired_comparisons_count_a_fact_once() -> None:
    first = in_two_languages([True, False, True, True] * 5, [True, False, True, True] * 5)
    second = first.assign(correct=True)
    both = compare({"first": first, "second": second}, [])
    once = [rows[rows["language"] == "en"] for rows in (first, second)]
    alone = compare({"first": once[0], "second": once[1]}, [])
    overall, of_one = both.iloc[0], alone.iloc[0]
    assert (overall["n"], of_one["n"]) == (40, 20)
    assert (overall["gained"], overall["p"]) == (of_one["gained"], of_one["p"]) == (5, 0.0625)
    same = ["difference", "low", "high", "first_low", "first_high"]
    assert overall[same].to_list() == pytest.approx(of_one[same].to_list())
    assert item_values(first, first["correct"]).shape == (20,)
