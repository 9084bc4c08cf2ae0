"""Specificity of stored rows as tidy scores."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from probing.analysis.intervals import cluster_interval, figure_interval, wilson
from probing.analysis.specificity_metrics import (
    common_answers,
    common_pairs,
    correlation,
    mean_correlation,
    specificity_scores,
    unified_scores,
)
from probing.errors import BadInput


def row(relation: str, index: int, fine: float | None, **more: Any) -> dict[str, Any]:
    """A pair whose coarse answer has the log-probability -2; `fine` None stands for several tokens."""
    single = fine is not None
    return {
        "relation": relation, "template": 0, "index": index, "correct": True,
        "specific": fine > -2 if single else None, "fine_rank": 11, "coarse_rank": 11,
        "fine_log_prob": fine, "coarse_log_prob": -2.0,
        "fine_natural_log_prob": fine, "coarse_natural_log_prob": -2.0,
        "fine_cosine": 0.5, "coarse_cosine": 0.4, "fine_clause_score": np.nan, "coarse_clause_score": np.nan, **more,
    }  # fmt: skip


def scores(*rows: dict[str, Any]) -> pd.DataFrame:
    frame = pd.DataFrame(rows).astype({"specific": "boolean", "fine_natural_log_prob": float})
    return specificity_scores(frame).set_index(["metric", "group"])


def value(table: pd.DataFrame, metric: str, group: str = "all") -> float:
    return table.loc[(metric, group), "value"]


def test_the_mean_weighs_relations_equally() -> None:
    table = scores(row("P1", 0, -1), row("P1", 1, -1), row("P1", 2, -3), row("P2", 0, -3))
    assert value(table, "specificity", "P1") == pytest.approx(2 / 3)
    assert value(table, "specificity", "P2") == 0
    assert value(table, "specificity") == pytest.approx(1 / 3)
    assert table.loc[("specificity", "all"), "n"] == 4


def test_a_pair_of_several_tokens_counts_only_where_all_pairs_do() -> None:
    table = scores(row("P1", 0, -3, correct=False), row("P1", 1, None))
    assert (value(table, "specificity"), table.loc[("specificity", "P1"), "n"]) == (0, 1)
    assert (value(table, "specificity_all_pairs"), table.loc[("specificity_all_pairs", "P1"), "n"]) == (0.5, 2)
    assert table.loc[("relatedness", "P1"), "n"] == 1, "factors are taken on the pairs of the figure they explain"


def test_equal_values_are_no_preference() -> None:
    table = scores(row("P1", 0, -2, fine_cosine=0.4))
    assert value(table, "specificity") == value(table, "naturalness") == value(table, "relatedness") == 0


def test_acc_at_10_counts_either_answer_or_only_the_fine_one() -> None:
    table = scores(row("P1", 0, -1, coarse_rank=10), row("P1", 1, -1, fine_rank=1), row("P1", 2, -1))
    assert value(table, "acc_at_10_either") == pytest.approx(2 / 3)
    assert value(table, "acc_at_10_fine") == pytest.approx(1 / 3)


def test_the_whole_clause_is_told_only_where_it_was_scored() -> None:
    assert "specificity_whole_clause" not in scores(row("P1", 0, -1)).index.get_level_values(0)
    table = scores(row("P1", 0, None, fine_clause_score=-5.0, coarse_clause_score=-6.0))
    assert value(table, "specificity_whole_clause") == 1


def test_a_relation_without_a_pair_leaves_the_mean_unknown() -> None:
    table = scores(row("P1", 0, -1), row("P2", 0, None))
    assert np.isnan(value(table, "specificity", "P2"))
    assert np.isnan(value(table, "specificity"))
    assert value(table, "specificity_all_pairs") == 1


def test_chance_is_one_half() -> None:
    table = scores(row("P1", 0, -1))
    assert value(table, "chance") == value(table, "chance", "P1") == 0.5


def test_a_relations_interval_is_wilsons() -> None:
    table = scores(*(row("P1", i, -1 if i < 3 else -3) for i in range(4)))
    assert tuple(table.loc[("specificity", "P1"), ["low", "high"]]) == pytest.approx(wilson(0.75, 4))


def test_the_mean_is_clustered_by_relation() -> None:
    pairs = [row(relation, i, -1 if i < hits else -3) for relation, hits in (("P1", 3), ("P2", 1)) for i in range(4)]
    table = scores(*pairs)
    expected = cluster_interval(np.array([0.75, 0.25]), np.ones(2), 8)
    assert tuple(table.loc[("specificity", "all"), ["cluster_low", "cluster_high"]]) == pytest.approx(expected)
    assert table.loc[("specificity", "P1"), ["cluster_low", "cluster_high"]].isna().all()


def test_the_interval_of_the_mean_draws_pairs_within_relations() -> None:
    pairs = [row(relation, i, -1 if i < hits else -3) for relation, hits in (("P1", 3), ("P2", 1)) for i in range(4)]
    expected = figure_interval(np.array([1, 1, 1, 0, 1, 0, 0, 0.0]), np.repeat([0, 1], 4))
    assert tuple(scores(*pairs).loc[("specificity", "all"), ["low", "high"]]) == pytest.approx(expected)


def test_a_mean_of_relations_without_a_hit_is_not_certain() -> None:
    table = scores(*(row(relation, i, -3) for relation in ("P1", "P2", "P3") for i in range(8)))
    low, high = table.loc[("specificity", "all"), ["low", "high"]]
    assert (low, high) == pytest.approx(wilson(0, 24))
    assert high > 0.1


def result(specific: str, relation: str = "P1", **columns: Any) -> pd.DataFrame:
    """One pair per letter: y specific, n not, - not a single token."""
    factors = {"fine_natural_log_prob": -1, "coarse_natural_log_prob": -2, "fine_cosine": 0.1, "coarse_cosine": 0.2}
    defaults = {"template": 0, "answer_label": "Lyon", "coarse_label": "France", **factors}
    rows = [
        {"relation": relation, "index": i, "specific": {"y": True, "n": False, "-": None}[letter], "best": ["Lyon"]}
        | defaults
        | columns
        for i, letter in enumerate(specific)
    ]
    return pd.DataFrame(rows).astype({"specific": "boolean"})


WORDS = {"Lyon": "Lyon", "France": "France"}


def test_only_pairs_that_count_in_all_results_are_kept() -> None:
    kept = common_pairs({"a": result("y-ny"), "b": result("yy-n"), "c": result("yyyy")}, WORDS)
    assert [rows["index"].tolist() for rows in kept.values()] == [[0, 3]] * 3


def test_both_answers_must_be_among_the_words() -> None:
    rows = pd.concat([result("y"), result("y", "P2", coarse_label="Gaul")])
    kept = common_pairs({"a": rows, "b": rows}, WORDS)
    assert kept["a"]["relation"].tolist() == ["P1"]


def test_results_without_a_common_pair_are_refused() -> None:
    with pytest.raises(BadInput, match="no item in common"):
        common_pairs({"a": result("y-"), "b": result("-y")}, WORDS)
    with pytest.raises(BadInput, match="No pair counts in all results"):
        common_pairs({"a": result("y"), "b": result("y")}, {"Lyon"})


def test_shares_are_those_of_the_kept_pairs() -> None:
    table = unified_scores(common_pairs({"a": result("yyn"), "b": result("yn-")}, WORDS), {"a": WORDS, "b": WORDS})
    table = table[table["metric"] == "specificity"]
    overall = table[table["dimension"] == "overall"].set_index("result")
    assert overall["value"].to_dict() == {"a": 1.0, "b": 0.5}
    assert overall["n"].tolist() == [2, 2]


def test_factors_stand_beside_specificity_on_the_same_pairs() -> None:
    kept = common_pairs({"a": result("yyn"), "b": result("yn-", fine_natural_log_prob=-3.0)}, WORDS)
    overall = unified_scores(kept, {"a": WORDS, "b": WORDS}).query("dimension == 'overall'")
    values = overall.set_index(["metric", "result"])["value"]
    assert values["naturalness"].to_dict() == {"a": 1.0, "b": 0.0}
    assert values["relatedness"].to_dict() == {"a": 0.0, "b": 0.0}
    assert set(overall["n"][overall["metric"] != "acc_at_10_either"][overall["metric"] != "acc_at_10_fine"]) == {2}


def acc(best: list[str], words: Mapping[str, str]) -> dict[str, tuple[float, float]]:
    rows = result("y")
    rows["best"] = [best]
    table = unified_scores({"a": rows}, {"a": words})
    table = table[table["dimension"] == "overall"].set_index("metric")
    return {metric: (line["value"], line["n"]) for metric, line in table.iterrows()}


def test_acc_at_10_ranks_the_shared_words_only() -> None:
    numbers = list(map(str, range(40)))
    nine, ten = ({**WORDS, **{str(i): str(i) for i in range(count)}} for count in (9, 10))
    assert acc([*numbers, "Lyon"], nine)["acc_at_10_fine"] == (1, 1)
    assert acc([*numbers, "Lyon"], ten)["acc_at_10_fine"] == (0, 1)
    either = acc([*numbers, "France"], nine)
    assert (either["acc_at_10_either"], either["acc_at_10_fine"]) == ((1, 1), (0, 1))


def test_acc_at_10_knows_words_as_the_model_s_tokens_spell_them() -> None:
    uncased = {"Lyon": "lyon", "France": "france", **{str(i): str(i) for i in range(9)}}
    assert acc([*map(str, range(40)), "lyon"], uncased)["acc_at_10_fine"] == (1, 1)
    assert acc([*map(str, range(40)), "Lyon", "france"], uncased)["acc_at_10_fine"] == (0, 1)


def test_a_pair_whose_stored_words_do_not_tell_does_not_count() -> None:
    for best in (["Rome"], ["Lyon"], ["France", "Lyon"]):
        for value, n in (acc(best, {**WORDS, "Rome": "Rome"})[f"acc_at_10_{name}"] for name in ("fine", "either")):
            assert np.isnan(value), "a hit among too few words counts as little as a miss"
            assert n == 0


def test_the_correlation_is_that_of_the_relations() -> None:
    def of_relations(*shares_of_ten: int) -> pd.DataFrame:
        return pd.concat([result("y" * k + "n" * (10 - k), f"P{i}") for i, k in enumerate(shares_of_ten)])

    results = {"a": of_relations(1, 5, 9), "b": of_relations(2, 6, 10), "c": of_relations(9, 5, 1)}
    table = unified_scores(results, dict.fromkeys(results, WORDS))
    matrix = correlation(table)
    assert list(matrix) == ["a", "b", "c"]
    assert matrix.loc["a", "b"] == pytest.approx(1)
    assert matrix.loc["a", "c"] == pytest.approx(-1)
    assert mean_correlation(matrix) == pytest.approx(-1 / 3)


def test_the_answers_that_all_models_have_are_known_from_their_rows() -> None:
    ranks = {"fine_rank": 3, "coarse_rank": 9}
    cased = pd.concat([result("y", **ranks), result("-", "P2", answer_label="Québec", fine_rank=2, coarse_rank=0)])
    in_small_letters = cased.assign(best=[["lyon"]] * 2)
    uncased = pd.concat([in_small_letters, result("y", "P3", answer_label="Nice", best=["x"], **ranks)])
    assert common_answers({"a": cased, "b": uncased}) == {
        "a": {"Lyon": "Lyon", "Québec": "Québec", "France": "France"},
        "b": {"Lyon": "lyon", "Québec": "quebec", "France": "france"},
    }
