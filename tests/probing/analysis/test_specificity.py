"""Specificity of stored rows as tidy scores."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from probing.analysis.intervals import cluster_interval, mean_of_shares, wilson
from probing.analysis.specificity_metrics import specificity_scores


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


def test_the_interval_of_the_mean_is_that_of_a_mean_of_shares() -> None:
    pairs = [row(relation, i, -1 if i < hits else -3) for relation, hits in (("P1", 3), ("P2", 1)) for i in range(4)]
    expected = mean_of_shares(np.array([0.75, 0.25]), np.array([4.0, 4.0]))
    assert tuple(scores(*pairs).loc[("specificity", "all"), ["low", "high"]]) == pytest.approx(expected)


def test_a_mean_of_relations_without_a_hit_is_not_certain() -> None:
    table = scores(*(row(relation, i, -3) for relation in ("P1", "P2", "P3") for i in range(8)))
    low, high = table.loc[("specificity", "all"), ["low", "high"]]
    assert (low, high) == pytest.approx(wilson(0, 24))
    assert high > 0.1
