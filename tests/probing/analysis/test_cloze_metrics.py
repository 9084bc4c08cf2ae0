"""Macro-averages over fact types, against a straightforward computation and by hand."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from probing.analysis.cloze_metrics import cloze_scores
from probing.analysis.intervals import cluster_interval, wilson
from probing.errors import BadInput

CLUSTERED = ["cluster_low", "cluster_high"]


def row(relation: str, index: int, rank: int | None, **changes: Any) -> dict[str, Any]:
    return {
        "relation": relation,
        "template": 0,
        "index": index,
        "rank": rank,
        "correct": rank is not None and rank <= 5,
        "method": "top",
        "one_token": rank is not None,
        "fact_type": relation,
        "head": "Natural",
        "leak": "not leaky",
        "answer_label": f"answer {index}",
        **changes,
    }


def table(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(rows).astype({"rank": "Int64", "correct": "boolean", "one_token": "boolean"})


def scores(rows: pd.DataFrame) -> pd.DataFrame:
    table = cloze_scores(rows, [name for name in ("fact_type", "head", "leak") if name in rows])
    return table.set_index(["metric", "dimension", "group"])


ROWS = table(
    *(row("river", index, rank) for index, rank in enumerate([1, 4, 9, None])),
    row("sea", 0, 2, leak="leaky"),
    row("dam", 0, 30, head="Facilities"),
    row("dam", 1, 5, head="Facilities"),
)


def test_it_is_the_mean_over_fact_types_also_per_head_and_without_leaky_sentences() -> None:
    values = scores(ROWS)["value"]
    assert values["in_top_1", "overall", "all"] == pytest.approx((1 / 4 + 0 + 0) / 3)
    assert values["in_top_5", "overall", "all"] == pytest.approx((2 / 4 + 1 + 1 / 2) / 3)
    assert values["in_top_10", "overall", "all"] == pytest.approx((3 / 4 + 1 + 1 / 2) / 3)
    assert values["accuracy", "overall", "all"] == values["in_top_5", "overall", "all"]
    assert values["in_top_5", "head", "Natural"] == pytest.approx((2 / 4 + 1) / 2)
    assert values["in_top_5", "head", "Facilities"] == 1 / 2
    assert values["in_top_5", "fact_type", "river"] == values["in_top_5", "relation", "river"] == 2 / 4
    assert values["in_top_5", "leak", "not leaky"] == pytest.approx((2 / 4 + 1 / 2) / 2)
    assert values["in_top_5", "leak", "leaky"] == 1


def test_leaky_and_other_sentences_of_a_fact_type_have_scores_of_their_own() -> None:
    leaky = [row("river", index, 1, leak="leaky") for index in range(12)]
    by_metric = scores(table(*leaky, *(row("river", index, 9) for index in range(12, 22)), row("sea", 0, 3)))
    cells = by_metric.xs("in_top_5")["value"]["fact_type_major_leak"]
    assert cells.to_dict() == {"river major leaky": 1, "river major not leaky": 0, "sea minor not leaky": 1}


def test_a_fact_type_of_twenty_sentences_is_a_major_one() -> None:
    rows = table(*(row("river", index, 1) for index in range(20)), *(row("sea", index, 9) for index in range(19)))
    values = scores(rows)["value"]
    assert (values["in_top_5", "major", "major"], values["in_top_5", "major", "minor"]) == (1, 0)


def test_an_answer_of_several_tokens_is_not_found_and_is_counted() -> None:
    by_metric = scores(ROWS)
    assert by_metric["value"]["not_one_token", "fact_type", "river"] == 1 / 4
    assert by_metric["value"]["in_top_10", "fact_type", "river"] == 3 / 4
    assert by_metric["n"]["in_top_10", "fact_type", "river"] == 4


def test_near_counts_up_to_fifteen_and_knows_no_tokens() -> None:
    rows = table(*(row("river", i, rank, method="near", one_token=None) for i, rank in enumerate([1, 6, 15, None])))
    values = scores(rows)["value"]
    assert [values[f"in_near_{k}", "overall", "all"] for k in (1, 5, 15)] == [1 / 4, 1 / 4, 3 / 4]
    assert "not_one_token" not in values.index.get_level_values("metric")
    assert "in_near_15" not in set(cloze_scores(rows, [], tokens=6)["metric"])


def test_sentences_that_were_not_scored_do_not_make_a_fact_type_a_major_one() -> None:
    scored = [row("river", index, 1) for index in range(10)]
    rows = table(*scored, *(row("river", index, None, correct=None, method="") for index in range(10, 20)))
    by_metric = scores(rows)
    assert (by_metric["value"]["accuracy", "major", "minor"], by_metric["n"]["accuracy", "major", "minor"]) == (1, 10)
    assert ("accuracy", "major", "major") not in by_metric.index


def test_baselines_name_k_of_the_answers_of_a_fact_type() -> None:
    """The worked example of the methods page, with k = 2."""
    rivers = ["Chile", "Chile", "Chile", "Peru", "Mali", "Oman"]
    rows = table(
        *(row("river", index, None, answer_label=label) for index, label in enumerate(rivers)),
        row("sea", 0, None, answer_label="Fiji"),
    )
    by_metric = cloze_scores(rows, [], k=2, closed=True).set_index(["metric", "dimension", "group"])
    assert by_metric["value"]["chance", "relation", "river"] == 2 / 4
    assert by_metric["value"]["chance", "overall", "all"] == (2 / 4 + 1) / 2
    assert by_metric["value"]["majority_answer", "relation", "river"] == 4 / 6
    assert by_metric["value"]["majority_answer", "overall", "all"] == pytest.approx((4 / 6 + 1) / 2)
    assert by_metric.loc["chance", ["low", "high", *CLUSTERED]].isna().all(axis=None)
    of_open_blanks = cloze_scores(rows, [], k=2).set_index(["metric", "dimension", "group"])
    pd.testing.assert_frame_equal(of_open_blanks, by_metric.drop("chance", level="metric"))


def test_baselines_count_each_sentence_once_however_many_templates_it_has() -> None:
    labels = ["Chile", "Chile", "Peru"]
    rows = table(*(row("river", i, None, answer_label=label) for i, label in enumerate(labels)))
    twice = pd.concat([rows, rows.assign(template=1)], ignore_index=True)
    for metric in ("chance", "majority_answer"):
        once, again = (cloze_scores(r, [], k=1, closed=True).set_index(["metric", "dimension"]) for r in (rows, twice))
        expected = {"chance": 1 / 2, "majority_answer": 2 / 3}[metric]
        assert once["value"][metric, "overall"] == again["value"][metric, "overall"] == expected


def test_it_refuses_rows_without_any_scored_sentence() -> None:
    with pytest.raises(BadInput, match="ends in its blank"):
        scores(table(row("river", 0, None, correct=None, method="")))


def test_the_interval_of_one_fact_type_is_wilsons() -> None:
    by_metric = scores(ROWS).loc["in_top_5", "fact_type", "river"]
    assert (by_metric["low"], by_metric["high"]) == pytest.approx(wilson(2 / 4, 4))


def test_a_macro_average_is_clustered_by_fact_type_and_a_single_fact_type_is_not() -> None:
    by_metric = scores(ROWS)
    expected = cluster_interval(np.array([2 / 4, 1, 1 / 2]), np.ones(3), 7)
    assert tuple(by_metric.loc[("in_top_5", "overall", "all"), CLUSTERED]) == pytest.approx(expected)
    natural = cluster_interval(np.array([2 / 4, 1]), np.ones(2), 5)
    assert tuple(by_metric.loc[("in_top_5", "head", "Natural"), CLUSTERED]) == pytest.approx(natural)
    assert by_metric.loc[("in_top_5", "head", "Facilities"), CLUSTERED].isna().all()
    assert by_metric.loc[("in_top_5", "relation", "river"), CLUSTERED].isna().all()
