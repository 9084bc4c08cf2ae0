"""The predictions that a model makes most often on culture pairs."""

import re

import pytest
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.models import Run
from tests.leaderboard.csv_rows import csv_rows

pytestmark = pytest.mark.django_db


def test_common_predictions_come_one_a_row_with_their_shares(client: Client, culture_run: Run) -> None:
    rows = csv_rows(client, f"/runs/{culture_run.pk}/", "predictions")
    shares = [row for row in rows if (row["language"], row["culture"]) == ("en", "Arab")]
    assert (shares[0]["prediction"], shares[0]["correct"]) == ("Arabic", "true")
    assert sum(float(row["share"]) for row in shares) == pytest.approx(1)


def test_on_the_page_they_stand_right_beside_wrong_ones(client: Client, culture_run: Run) -> None:
    shown = client.get(f"/runs/{culture_run.pk}/?part=arab-west+en").context["tables"]["predictions"]
    (line,) = (line for line in shown.lines if [cell.value for _, cell in line.cells][:2] == ["P37", "Arab"])
    right, wrong = (cell.several for _, cell in line.cells[2:])
    assert [name for name, _ in right] == ["Arabic"]
    assert wrong
    assert all("West" in remark for _, remark in wrong)


def test_the_page_says_how_many_rows_the_csv_has(client: Client, culture_run: Run) -> None:
    rows = csv_rows(client, f"/runs/{culture_run.pk}/?part=arab-west+en", "predictions")
    page = client.get(f"/runs/{culture_run.pk}/?part=arab-west+en")
    stated = re.search(r"table=predictions[^>]*>.*?</a>, (\d+) rows", re.sub(r"\s+", " ", page.content.decode()))
    assert stated and page.context["tables"]["predictions"].total < int(stated[1]) == len(rows)


def test_a_prediction_says_in_which_culture_it_is_right(client: Client, culture_run: Run) -> None:
    content = benchmarks.read(culture_run.benchmark)
    for row in csv_rows(client, f"/runs/{culture_run.pk}/", "predictions"):
        relation = content[f"P37.arab-west.{row['language']}"]
        tags = relation.answer_tags[relation.answer_space.index(row["prediction"])]
        assert row["right_in"] == ", ".join(tags["culture"])
