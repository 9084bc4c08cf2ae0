"""The tables of what a figure hides."""

import pandas as pd
import pytest

from probing.analysis.details import DETAIL_METRICS, detail_scores, detail_tables, needs_full_run, without_details
from probing.benchmark import Benchmark
from probing.probes.multiple_choice import MultipleChoice
from probing.settings import Settings
from tests.fakes import FakeModel


@pytest.fixture
def rows(benchmark: Benchmark, model: FakeModel) -> pd.DataFrame:
    probe = MultipleChoice()
    parts = [(relation, template) for relation in benchmark.relations for template in range(2)]
    return pd.concat([probe.frame(list(probe.rows(model, *part, Settings()))) for part in parts], ignore_index=True)


def test_the_scores_of_a_probe_hold_those_of_details_and_the_rest(rows: pd.DataFrame) -> None:
    scores = MultipleChoice().scores(rows)
    details = detail_scores(rows, ["domain", "cardinality"])
    assert set(details["metric"]) == set(scores["metric"]) & DETAIL_METRICS
    assert not set(without_details(scores)["metric"]) & DETAIL_METRICS
    assert len(scores) == len(without_details(scores)) + len(details)


def test_every_table_has_rows_and_long_ones_are_marked(rows: pd.DataFrame) -> None:
    tables = detail_tables(rows, MultipleChoice().scores(rows))
    assert [title for title, _, is_long in tables if not is_long] == [
        "template sensitivity",
        "answer bias",
        "confidence",
    ]
    assert [title for title, _, is_long in tables if is_long] == [
        "accuracy by relation and template",
        "confidence over wordings",
        "answer bias by relation",
        "options",
        "calibration by largest probability",
        "calibration by margin",
    ]
    assert all(len(table) for _, table, _ in tables)


def test_upper_bounds_leave_only_template_sensitivity(rows: pd.DataFrame) -> None:
    decided = rows.assign(exact=[[False] * len(scores) for scores in rows["scores"]])
    tables = detail_tables(decided, MultipleChoice().scores(decided))
    assert {title for title, _, _ in tables} == {"template sensitivity", "accuracy by relation and template"}
    assert (needs_full_run(decided), needs_full_run(rows)) == (True, False)
