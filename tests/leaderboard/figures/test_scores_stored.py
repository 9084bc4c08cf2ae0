"""Tidy scores in the database."""

import pandas as pd
import pytest

from leaderboard.figures.benchmarks import replace_scores
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db


def test_scores_replace_the_older_ones_and_missing_values_are_null() -> None:
    run = make.finished(make.benchmark())
    columns = {"metric": "accuracy", "dimension": "relation", "low": None, "high": float("nan")}
    replace_scores(run, pd.DataFrame({**columns, "group": ["P30", "P36"], "value": [0.5, None], "n": [4, 2]}))
    rows = run.scores.order_by("group").values_list("group", "value", "n", "low", "high")
    assert list(rows) == [("P30", 0.5, 4, None, None), ("P36", None, 2, None, None)]
