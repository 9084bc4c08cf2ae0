"""The predictions that a model makes most often on culture pairs."""

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.test import Client

from leaderboard.figures import benchmarks, item_rows
from leaderboard.models import Run
from leaderboard.pages.answers_fold import SHARES
from probing.analysis.culture_metrics import prediction_shares
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.probing.formats.dlama_folder import DlamaFolder, fact

pytestmark = pytest.mark.django_db


def test_common_predictions_come_one_a_row_with_their_shares(client: Client, culture_run: Run) -> None:
    rows = csv_rows(client, f"/runs/{culture_run.pk}/", "predictions")
    shares = [row for row in rows if (row["language"], row["culture"]) == ("en", "Arab")]
    assert (shares[0]["prediction"], shares[0]["correct"]) == ("Arabic", "true")
    assert sum(float(row["share"]) for row in shares) == pytest.approx(1)


def test_answers_by_language_are_scored_again_with_some_merged(client: Client, culture_run: Run) -> None:
    rows = csv_rows(client, f"/runs/{culture_run.pk}/", "answers")
    assert {row["language"] for row in rows} == {"ar", "en"}
    content = benchmarks.read(culture_run.benchmark)
    expected = prediction_shares(item_rows.frame(culture_run, ["relation", "index", "prediction"]), content, {})
    shares = {(row["language"], row["answer"]): [float(row[name]) for name in SHARES] for row in rows}
    assert shares == {
        (row["language"], row["answer"]): [row[name] for name in SHARES] for row in expected.to_dict("records")
    }
    merge = urlencode({"merge": 'Tongue = ["Arabic", "Dutch", "French", "English"]'})
    of_merged = csv_rows(client, f"/runs/{culture_run.pk}/?{merge}", "merged")
    assert [float(row["p_at_1_merged"]) > float(row["p_at_1"]) for row in of_merged] == [True] * len(of_merged)
    wrong = client.get(f"/runs/{culture_run.pk}/?merge=Islam").content.decode()
    assert "The list is not TOML" in wrong and "table-merged" not in wrong


def test_the_page_says_how_near_answers_about_places_are(client: Client, tmp_path: Path) -> None:
    folder = DlamaFolder(tmp_path / "places")
    folder.templates = {"en": [{"relation": "P36", "template": "The capital of [X] is [Y]."}]}
    capitals = {
        "ARAB_REGION": [fact(79, "Egypt", {"Q85": "Cairo"}), fact(796, "Iraq", {"Q1530": "Baghdad"})],
        "WESTERN_COUNTRIES": [fact(142, "France", {"Q90": "Paris"}, "WESTERN_COUNTRIES")],
    }
    folder.facts = {f"arab-west/dlama/en/P36_general_{region}.jsonl": facts for region, facts in capitals.items()}
    places = benchmarks.install("dlama", folder.write(), "places")[0]
    model = FakeModel(knows=[f"The capital of {country} is Cairo" for country in ("Egypt", "Iraq", "France")])
    run = make.probed(places, make.model("org/one"), model, Settings(probe="ranking"))
    (row,) = csv_rows(client, f"/runs/{run.pk}/", "nearness")
    assert (row["relation"], row["language"], row["predictions"]) == ("P36", "en", "3")
    assert [float(row[name]) for name in ("right", "elsewhere")] == pytest.approx([1 / 3, 2 / 3])


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
