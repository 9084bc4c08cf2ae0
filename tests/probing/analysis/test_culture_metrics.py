"""Scores of ranked rows: means, gaps, origins of wrong predictions, common predictions."""

import json
from collections import Counter
from itertools import count
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from probing.analysis.breakdowns import BY_CULTURE
from probing.analysis.culture_metrics import (
    ELSEWHERE,
    ENTROPY_COLUMNS,
    NEARNESS,
    NEIGHBOUR,
    RIGHT,
    SAME,
    UNKNOWN,
    Map,
    common_predictions,
    entropies,
    entropy,
    gaps,
    nearness,
    prediction_shares,
    ranking_scores,
    totals,
)
from probing.analysis.intervals import cluster_interval, recovered, wilson
from probing.analysis.paired_tests import compare
from probing.analysis.ranks import item_values
from probing.analysis.verdicts import p_of_interval
from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadInput
from probing.formats import dlama
from tests.probing.analysis.figures import value
from tests.probing.formats.dlama_folder import DlamaFolder

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
        assert 0.05 < value(scores, "culture_gap_p", dimension, group) < 0.5


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


def test_the_p_value_of_a_gap_belongs_to_its_interval_and_is_near_that_of_the_pooled_z_test() -> None:
    """56/70 against 48/80, method 10 of Newcombe (1998)."""
    rows = table(
        *(
            row(culture, 1 if index < right else 2)
            for culture, right, n in (("Arab", 56, 70), ("West", 48, 80))
            for index in range(n)
        )
    )
    figures = gaps(rows, "culture_pair").set_index("metric")
    assert tuple(figures.loc["culture_gap", ["low", "high"]]) == pytest.approx((0.0524, 0.3339), abs=1e-4)
    pooled = 104 / 150
    z = (0.8 - 0.6) / np.sqrt(pooled * (1 - pooled) * (1 / 70 + 1 / 80))
    assert figures.loc["culture_gap_p", "value"] == pytest.approx(2 * norm.sf(z), abs=0.002)


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
    assert (gap["low"], gap["high"]) == pytest.approx(recovered(0.75, wilson(0.75, 20), 0.25, wilson(0.25, 20)))
    p = scores.loc[scores["metric"] == "culture_gap_p", "value"].item()
    assert p == pytest.approx(p_of_interval(0.5, gap["low"], gap["high"]))


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


@pytest.mark.parametrize(
    ("objects", "bits"),
    [
        ([["Q1"], ["Q1"], ["Q1"]], 0.0),
        ([["Q1"], ["Q2"]], 1.0),
        ([["Q1"], ["Q2"], ["Q3"], ["Q4"]], 2.0),
        ([["Q1"], ["Q1"], ["Q1"], ["Q2"]], 0.811278),
        # The object that is most frequent among all stands for an item with several.
        ([["Q1", "Q2"], ["Q1"], ["Q3", "Q1"]], 0.0),
        # Of equally frequent ones the first id, as people count: Q9 before Q10.
        ([["Q10", "Q9"], ["Q9", "Q10"]], 0.0),
        ([["Q10", "Q9"], ["Q9", "Q10"], ["Q10", "Q3"], ["Q9"]], 0.811278),
    ],
)
def test_it_is_what_one_computes_by_hand(objects: list[list[str]], bits: float) -> None:
    assert entropy(objects) == pytest.approx(bits, abs=1e-6)


def test_it_has_one_line_per_relation_and_culture(tmp_path: Path) -> None:
    table = entropies(dlama.read(DlamaFolder(tmp_path / "pairs").write()))
    assert table[["relation", "culture", "items"]].to_numpy().tolist() == [["P37", "Arab", 2], ["P37", "West", 3]]
    assert table["entropy"].tolist() == pytest.approx([0.0, 0.918296], abs=1e-6)


def test_objects_of_one_label_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    folder = DlamaFolder(tmp_path / "pairs")
    western = folder.facts["arab-west/dlama/en/P37_general_WESTERN_COUNTRIES.jsonl"]
    for number, line in enumerate(western):
        line |= {"obj_uri": [f"Q{number}"], "obj_label": ["English"]}
    table = entropies(dlama.read(folder.write())).set_index("culture")
    assert table.loc["West", "entropy"] == pytest.approx(log2(len(western)))


@pytest.fixture(scope="module")
def real_archive(real_dlama: Path) -> Benchmark:
    return dlama.read(real_dlama / "cultlama_v1.tar.gz")


@pytest.mark.slow
def test_the_real_archive_has_the_entropies_of_a_plain_count_of_its_ids(
    real_archive: Benchmark, real_dlama: Path
) -> None:
    keys = ["culture_pair", "language", "objects", "relation", "culture"]
    bits_of = entropies(real_archive).set_index(keys)["entropy"].sort_index()
    sister_cities = bits_of["arab-west", "en", "augmented", "P190", "West"]
    assert sister_cities == pytest.approx(6.003, abs=5e-4), "5.950 if labels were counted"
    asia = bits_of["asia-west", "en", "augmented"]
    assert len(asia) == 40
    files = dlama.fact_files(real_dlama / "cultlama_v1.tar.gz")
    for (relation, culture), bits in asia.items():
        lines = map(json.loads, files[f"asia_west/cultlama/en/{relation}.jsonl"].splitlines())
        own = [line["obj_uri"] for line in lines if is_asian(line["uuid"]) == (culture == "Asia")]
        frequency = Counter(id for ids in own for id in ids)
        kept = Counter(min(ids, key=lambda id: (-frequency[id], int(id[1:]))) for ids in own)
        assert bits == pytest.approx(sum(-n / len(own) * log2(n / len(own)) for n in kept.values())), relation


def is_asian(uuid: str) -> bool:
    return any(region in uuid for region in ("ASIA", "JAPAN", "CHINA"))


def test_arab_countries_have_one_official_language_in_the_sample(real_dlama: Path) -> None:
    table = entropies(dlama.read(real_dlama / "sample")).set_index(["relation", "culture", "language"])
    assert table.loc[("P37", "Arab", "en"), "entropy"] == 0.0
    assert table.loc[("P37", "Arab", "ar"), "entropy"] == 0.0
    assert table.loc[("P36", "Arab", "en"), "entropy"] == pytest.approx(2.3219, abs=1e-4)  # five capitals


@pytest.mark.slow
def test_the_real_archive_has_the_papers_entropies_where_the_facts_hardly_changed(real_archive: Benchmark) -> None:
    """Table 2 of the paper; the later release has the same 22 Arab countries."""
    table = entropies(real_archive)
    chosen = table[(table.culture_pair == "arab-west") & (table.language == "en") & (table.objects == "raw")]
    entropy_of = chosen.set_index(["relation", "culture"])["entropy"].round(1)
    expected = {("P36", "Arab"): 4.5, ("P36", "West"): 4.2, ("P37", "Arab"): 0.0, ("P47", "Arab"): 2.5}
    assert {key: entropy_of[key] for key in expected} == expected


@pytest.mark.slow
def test_western_continents_differ_from_the_paper_by_one_object_of_the_older_release(real_archive: Benchmark) -> None:
    """The paper has 1.0; these files place the United States in Insular Oceania too, as a third."""
    continents = real_archive["P30.arab-west.en"]
    west = {
        item.subject: [continents.answer_space[answer] for answer in item.answers]
        for item in continents.items
        if item.tags["culture"] == "West"
    }
    assert entropy(list(west.values())) == pytest.approx(0.913, abs=1e-3)
    assert west["United States of America"] == ["Insular Oceania", "North America"]
    west["United States of America"].remove("Insular Oceania")
    assert entropy(list(west.values())) == pytest.approx(0.953, abs=1e-3)


def test_all_relations_together_have_the_sum_of_items_and_the_plain_mean() -> None:
    tags = {"culture_pair": "arab-west", "language": "en", "objects": "augmented"}
    sides = [("P30", "Arab", 10, 1.0), ("P30", "West", 20, 2.0), ("P37", "Arab", 30, 0.0), ("P37", "West", 40, 3.0)]
    by_relation = pd.DataFrame([{**tags, **dict(zip(ENTROPY_COLUMNS[3:], side, strict=True))} for side in sides])
    whole = totals(by_relation)
    assert whole[["relation", "culture", "items", "entropy"]].to_numpy().tolist() == [
        ["all", "Arab", 40, 0.5],
        ["all", "West", 60, 2.5],
    ]


ENGLISH, SPANISH = ("Christianity", "Islam", "Muslim"), ("cristianismo", "islam", "musulmán")
IDS = ("Q5043", "Q432", "Q47740")


def relation(language: str, labels: tuple[str, ...], begin: int) -> Relation:
    subjects = [("Averroes", (1, 2)), ("Bach", (0,)), ("Rumi", (1,)), ("Ibn Sina", (2,))]
    items = tuple(Item(begin + index, subject, answers) for index, (subject, answers) in enumerate(subjects))
    tags = {"language": language, "predicate": "P140"}
    return Relation(f"P140.{language}", ("[X]: [Y]",), labels, items, answer_ids=IDS, tags=tags)


BENCHMARK = Benchmark("faiths", "1", "1", (relation("es", SPANISH, 0), relation("en", ENGLISH, 4)))


def rows(*predictions: int) -> pd.DataFrame:
    return pd.DataFrame({"relation": "P140", "index": range(len(predictions)), "prediction": predictions})


def shares(table: pd.DataFrame, language: str) -> dict[str, tuple[Any, ...]]:
    part = table[table["language"] == language]
    cells = part[["predictions", "share", "right_share"]].itertuples(index=False, name=None)
    return dict(zip(part["answer"], cells, strict=True))


def test_answers_of_all_languages_have_the_english_label_of_their_id() -> None:
    table = prediction_shares(rows(1, 1, 1, 2, 0, 0, 2, 2), BENCHMARK, {})
    assert table.columns.tolist() == [
        *("relation", "language", "answer", "predictions"),
        *("share", "correct_share", "right_share"),
    ]
    assert shares(table, "es") == {
        "Islam": (3, 0.75, 0.375),
        "Muslim": (1, 0.25, 0.375),
        "Christianity": (0, 0.0, 0.25),
    }
    assert shares(table, "en")["Christianity"] == (2, 0.5, 0.25)


@pytest.mark.parametrize("merged", [{"q432": "Islam", "q47740": "Islam"}, {"muslim": "Islam"}, {"musulmán": "Islam"}])
def test_merged_answers_are_counted_together_by_ids_or_labels(merged: dict[str, str]) -> None:
    table = prediction_shares(rows(1, 1, 1, 2), BENCHMARK, merged)
    assert shares(table, "es") == {"Islam": (4, 1.0, 0.75), "Christianity": (0, 0.0, 0.25)}


@pytest.mark.parametrize(
    ("merged", "correct"), [({}, {"Islam": 0.5, "Muslim": 0.25}), ({"muslim": "Islam"}, {"Islam": 0.75})]
)
def test_the_correct_parts_of_all_answers_add_up_to_p_at_1(merged: dict[str, str], correct: dict[str, float]) -> None:
    """The worked example of the methods page: one of three given answers Islam is wrong, and none of Muslim."""
    table = prediction_shares(rows(1, 1, 1, 2), BENCHMARK, merged).set_index("answer")
    assert table["correct_share"].to_dict() == {**correct, "Christianity": 0.0}
    assert table["correct_share"].sum() == 0.75


def test_the_most_common_answer_of_a_language_comes_first() -> None:
    table = prediction_shares(rows(0, 2, 2, 1, 1, 1, 1, 0), BENCHMARK, {})
    assert table["language"].drop_duplicates().tolist() == ["en", "es"]
    assert table.groupby("language")["answer"].first().to_dict() == {"en": "Islam", "es": "Muslim"}


def test_without_ids_and_languages_answers_have_their_own_labels() -> None:
    plain = Relation("R", ("[X]: [Y]",), ("yes", "no"), (Item(0, "a", (0,)), Item(1, "b", (1,))))
    table = prediction_shares(
        pd.DataFrame({"relation": "R", "index": [0, 1], "prediction": [0, 0]}), Benchmark("b", "1", "1", (plain,)), {}
    )
    assert shares(table, "") == {"yes": (2, 1.0, 0.5), "no": (0, 0.0, 0.5)}


def test_a_probe_without_options_has_nothing_to_count() -> None:
    with pytest.raises(BadInput, match="no predicted options"):
        prediction_shares(rows(1).drop(columns="prediction"), BENCHMARK, {})
    with pytest.raises(BadInput, match="no predicted options"):
        prediction_shares(rows(1).assign(prediction="Islam"), BENCHMARK, {})


COUNTRIES = ("fr", "de", "jp")
CITIES = ("paris", "berlin", "tokyo", "lyon")


def relation_of(predicate: str, answers: tuple[str, ...], facts: dict[str, tuple[int, ...]]) -> Relation:
    items = tuple(Item(index, name, of, name) for index, (name, of) in enumerate(facts.items()))
    return Relation(f"{predicate}.en", ("[X] [Y].",), answers, items, answers, tags={"predicate": predicate})


PLACES = Benchmark(
    "small",
    "1",
    "1",
    (
        relation_of("P36", CITIES, {"fr": (0,), "de": (1,), "jp": (2,)}),
        relation_of("P47", COUNTRIES, {"fr": (1,)}),
        relation_of("P17", COUNTRIES, {"lyon": (0,)}),
        relation_of("P37", ("French", "German"), {"fr": (0,)}),
    ),
)


@pytest.mark.parametrize(
    ("predicted", "right", "expected"),
    [
        ("paris", ["paris"], RIGHT),
        ("lyon", ["paris"], SAME),
        ("paris", ["fr"], SAME),
        ("berlin", ["paris"], NEIGHBOUR),
        ("paris", ["berlin"], NEIGHBOUR),
        ("tokyo", ["paris"], ELSEWHERE),
        ("tokyo", ["paris", "tokyo"], RIGHT),
        ("oslo", ["paris"], UNKNOWN),
        ("German", ["French"], UNKNOWN),
    ],
)
def test_a_prediction_is_as_near_as_its_country(predicted: str, right: list[str], expected: str) -> None:
    assert Map.of(PLACES).nearness(predicted, right) == expected


def test_shares_are_of_all_predictions_of_a_relation() -> None:
    predicted = [("P36", 0, 3), ("P36", 1, 0), ("P36", 2, 2), ("P37", 0, 1)]
    rows = pd.DataFrame(predicted, columns=["relation", "index", "prediction"])
    (row,) = nearness(rows, PLACES).to_dict("records")
    assert (row["relation"], row["predictions"]) == ("P36", 3)
    assert [row[name] for name in NEARNESS] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 0])
