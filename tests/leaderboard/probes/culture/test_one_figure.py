"""Pages about culture pairs: one figure for a run, its common predictions, and how varied answers are."""

import re
import shutil
from pathlib import Path

import pytest
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.models import Benchmark, Run
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.probing.formats.dlama_folder import DlamaFolder, fact

pytestmark = pytest.mark.django_db
PART = ("culture_pair_language", "arab-west en")
KNOWN = ["People of Egypt speak Arabic", "People of France speak Dutch"]


@pytest.fixture
def usual_run(culture: Benchmark) -> Run:
    """A run with the usual settings, asked in two languages."""
    return make.probed(culture, make.model("org/usual"), FakeModel(knows=KNOWN), culture.settings_with({}))


def test_all_pages_and_the_api_have_the_same_figure_for_a_run(client: Client, usual_run: Run) -> None:
    stored = usual_run.scores.get(metric="p_at_1", dimension=PART[0], group=PART[1])
    pooled = usual_run.scores.get(metric="p_at_1", dimension="overall")
    assert stored.value != pooled.value, "the two could not be told apart"
    (model,) = csv_rows(client, f"/models/{usual_run.model.hub_id}/", "runs")
    (profile,) = csv_rows(client, f"/models/{usual_run.model.hub_id}/", "profile")
    (overview,) = csv_rows(client, "/")
    standings = csv_rows(client, "/benchmarks/culture/")
    (standing,) = [row for row in standings if row["run"] == str(usual_run.pk)]
    run = client.get(f"/api/v1/runs/{usual_run.pk}").json()
    headline = client.get(usual_run.get_absolute_url()).context["headline"]
    texts = [model["score"], profile["score"], overview["culture"], standing["p_at_1"]]
    values = [run["score"]["value"], headline["score"].value]
    assert {*map(float, texts), *values} == {stored.value}


def test_the_headline_of_a_run_names_its_part_and_follows_the_reader(client: Client, usual_run: Run) -> None:
    address = usual_run.get_absolute_url()
    english, arabic = (client.get(f"{address}{query}").context["headline"] for query in ("", "?part=arab-west+ar"))
    assert (english["part"], arabic["part"]) == ("Arab and West, asked in English", "Arab and West, asked in Arabic")
    assert arabic["score"] == usual_run.scores.get(metric="p_at_1", dimension=PART[0], group="arab-west ar")
    assert (english["rank"], english["wordings"]) == ("", None)
    assert english["chance"] == usual_run.scores.get(metric="chance", dimension=PART[0], group=PART[1]).value


def test_citation_and_feed_name_the_part(client: Client, usual_run: Run) -> None:
    text = client.get(f"{usual_run.get_absolute_url()}?format=bibtex").content.decode()
    assert "P@1, Arab and West, asked in English" in text
    assert "asked in English" in client.get("/feed.atom").content.decode()


def test_a_comparison_is_about_one_part(client: Client, culture: Benchmark, usual_run: Run) -> None:
    other = make.probed(culture, make.model("org/other"), FakeModel(knows=KNOWN[:1]), culture.settings_with({}))
    address = f"/compare/?m={usual_run.pk}&m={other.pk}"
    stored = usual_run.scores.get(metric="p_at_1", dimension=PART[0], group=PART[1])
    differences = csv_rows(client, address)
    overall = next(row for row in differences if row["dimension"] == "Overall" or row["dimension"] == "overall")
    assert (float(overall["first"]), float(overall["n"])) == (stored.value, stored.n)
    arabic = usual_run.scores.get(metric="p_at_1", dimension=PART[0], group="arab-west ar")
    (first, *_) = client.get(f"{address}&part=arab-west+ar&format=json").json()
    assert (first["first"], first["n"]) == (arabic.value, arabic.n)


def test_common_predictions_come_one_a_row_with_their_shares(client: Client, culture_run: Run) -> None:
    rows = csv_rows(client, f"/runs/{culture_run.pk}/", "predictions")
    shares = [row for row in rows if (row["language"], row["culture"]) == ("en", "Arab")]
    assert (shares[0]["prediction"], shares[0]["correct"]) == ("Arabic", "true")
    assert sum(float(row["share"]) for row in shares) == pytest.approx(1)


def test_on_the_page_they_stand_right_beside_wrong_ones(client: Client, culture_run: Run) -> None:
    rows = client.get(f"/runs/{culture_run.pk}/?part=arab-west+en").context["probe"]["pages"]["predictions"]
    (row,) = (row for row in rows if (row["relation"], row["culture"]) == ("P37", "Arab"))
    assert [prediction["prediction"] for prediction in row["right"]] == ["Arabic"]
    assert row["wrong"]
    assert all("West" in prediction["right_in"] for prediction in row["wrong"])


def test_a_prediction_says_in_which_culture_it_is_right(client: Client, culture_run: Run) -> None:
    content = benchmarks.read(culture_run.benchmark)
    for row in csv_rows(client, f"/runs/{culture_run.pk}/", "predictions"):
        relation = content[f"P37.arab-west.{row['language']}"]
        tags = relation.answer_tags[relation.answer_space.index(row["prediction"])]
        assert row["right_in"] == ", ".join(tags["culture"])


def test_the_benchmark_shows_items_and_entropies_of_both_cultures_side_by_side(
    client: Client, culture_run: Run
) -> None:
    rows = csv_rows(client, "/benchmarks/culture/", "entropies")
    names = ("language", "relation", "first_items", "second_items", "first_entropy")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("en", "P37", "2", "3", "0.0"),
        ("en", "all", "2", "3", "0.0"),
    ]
    assert [float(row["second_entropy"]) for row in rows] == pytest.approx([0.918296, 0.918296], abs=1e-6)
    for language in ("en", "ar"):
        *_, whole = csv_rows(client, f"/benchmarks/culture/?part=arab-west+{language}", "entropies")
        assert (whole["relation"], whole["language"]) == ("all", language)


def test_a_page_about_one_pair_has_no_columns_in_which_all_rows_are_alike(client: Client, culture_run: Run) -> None:
    page = client.get("/benchmarks/culture/").content.decode()
    table = page.partition('data-table="entropies"')[2].partition("</table>")[0]
    columns = re.findall(r'data-column="(\w+)"', table)
    assert columns[:2] == ["relation", "first_items"]
    assert {"pair", "language", "objects"}.isdisjoint(columns)


def test_the_benchmark_says_what_was_left_out(client: Client, tmp_path: Path) -> None:
    folder = DlamaFolder(tmp_path / "pairs")
    folder.facts["arab-west/dlama/ja/P37_general_ARAB_REGION.jsonl"] = [fact(79, "エジプト", {"Q13955": "アラビア語"})]
    benchmarks.install("dlama", folder.write(), "culture")
    assert "Items left out, no template in ja: 1." in client.get("/benchmarks/culture/").content.decode()


def test_a_benchmark_whose_files_cannot_be_read_has_no_entropies(
    client: Client, culture: Benchmark, data: Path
) -> None:
    assert client.get("/benchmarks/culture/").context["probe"]
    benchmarks._read_files.cache_clear()
    shutil.rmtree(data / culture.path)
    assert not client.get("/benchmarks/culture/").context["probe"]
