"""The fold on confidence."""

import pytest
from django.test import Client

from leaderboard.models import Run
from leaderboard.pages import run_folds
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.ui.charts.plotted import plotted


def overall(run: Run, metric: str) -> float:
    return run.scores.get(metric=metric, dimension="overall").value


def test_the_line_that_opens_it_compares_confidence_and_accuracy(client: Client, site: Site) -> None:
    html = client.get(f"/runs/{site.first.pk}/").content.decode()
    sure, right = overall(site.first, "max_softmax"), overall(site.first, "accuracy")
    assert f"gives {100 * sure:.0f} % to its prediction, which is right in {100 * right:.0f} % of the cases" in html


def test_the_tables_have_the_stored_scores(client: Client, site: Site) -> None:
    rows = csv_rows(client, f"/runs/{site.first.pk}/", "confidences")
    assert float(rows[0]["value"]) == overall(site.first, "max_softmax")
    for dimension in ("max_softmax_bin", "softmax_margin_bin"):
        bins = csv_rows(client, f"/runs/{site.first.pk}/", dimension)
        assert sum(float(row["n"]) for row in bins) == pytest.approx(6)
        values = [float(row["confidence"]) for row in bins]
        assert values == sorted(values)


def test_only_the_largest_probability_is_compared_with_the_diagonal(site: Site) -> None:
    fold = run_folds.confidence_fold(list(site.first.scores.all()))
    assert fold
    charts = [section.chart for section in fold.sections if section.chart]
    assert [len(plotted(chart.figure).layout.shapes) for chart in charts] == [1, 0]


def test_a_run_without_scores_of_confidence_has_none(site: Site) -> None:
    assert run_folds.confidence_fold(list(site.published.scores.all())) is None
