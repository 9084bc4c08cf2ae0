"""Differences of two tables of scores, in sentences."""

import numpy as np
import pandas as pd
import pytest

from probing.analysis.accuracy import SCORE_COLUMNS
from probing.analysis.paired_tests import score_changes


def table(*scores: tuple[str, str, str, float]) -> pd.DataFrame:
    rows = [[metric, dimension, group, value, 10.0, np.nan, np.nan] for metric, dimension, group, value in scores]
    return pd.DataFrame(rows, columns=SCORE_COLUMNS[:7]).reindex(columns=SCORE_COLUMNS)


OVERALL = ("accuracy", "overall", "all", 0.5)
ARTS = ("accuracy", "domain", "Arts", 0.25)


def test_equal_tables_in_any_order_have_no_difference() -> None:
    assert score_changes(table(OVERALL, ARTS), table(ARTS, OVERALL)) == []


@pytest.mark.parametrize(
    ("before", "after", "sentences"),
    [
        ([OVERALL], [OVERALL, ARTS], ["New groups of domain: Arts."]),
        ([OVERALL, ARTS], [OVERALL], ["Groups that are gone of domain: Arts."]),
        ([OVERALL], [OVERALL, ("margin", "overall", "all", 1.0)], ["New metrics: margin."]),
        ([OVERALL, ("margin", "overall", "all", 1.0)], [OVERALL], ["Metrics that are gone: margin."]),
        (
            [OVERALL, ARTS],
            [OVERALL, ("accuracy", "domain", "Arts", 0.375)],
            [
                "Changed: 1 of 2 scores; the largest change of a value is in accuracy, domain Arts: "
                "0.2500 before, 0.3750 now."
            ],
        ),
        ([ARTS], [("accuracy", "domain", "Arts", np.nan)], ["Changed: 1 of 1 scores."]),
    ],
)
def test_each_difference_has_a_sentence(before: list, after: list, sentences: list[str]) -> None:
    assert score_changes(table(*before), table(*after)) == sentences


def test_rounding_is_no_difference() -> None:
    assert score_changes(table(OVERALL), table(("accuracy", "overall", "all", 0.5 + 1e-12))) == []


def test_a_changed_bound_is_a_difference() -> None:
    assert score_changes(table(OVERALL), table(OVERALL).assign(low=0.1)) == ["Changed: 1 of 1 scores."]


def test_many_groups_are_counted() -> None:
    groups = [("accuracy", "relation", f"P{number}", 0.5) for number in range(8)]
    (sentence,) = score_changes(table(OVERALL), table(OVERALL, *groups))
    assert sentence == "New groups of relation: P0, P1, P2, P3, P4, and 3 more."
