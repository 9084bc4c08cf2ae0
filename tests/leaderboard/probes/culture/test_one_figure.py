"""One run has one figure: that of one pair of cultures in one language, the same on all pages and in the API."""

import pytest
from django.test import Client

from leaderboard.models import Benchmark, Run
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows

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
    (row,) = [
        row for row in client.get("/api/v1/leaderboard?benchmark=culture").json()["rows"] if row["run"] == usual_run.pk
    ]
    run = client.get(f"/api/v1/runs/{usual_run.pk}").json()
    headline = client.get(usual_run.get_absolute_url()).context["headline"]
    texts = [model["score"], profile["score"], overview["culture"], standing["p_at_1"]]
    values = [row["score"]["value"], run["score"]["value"], headline.score.value]
    assert {*map(float, texts), *values} == {stored.value}


def test_the_headline_of_a_run_names_its_part_and_follows_the_reader(client: Client, usual_run: Run) -> None:
    address = usual_run.get_absolute_url()
    english, arabic = (client.get(f"{address}{query}").context["headline"] for query in ("", "?part=arab-west+ar"))
    assert (english.part, arabic.part) == ("Arab and West, asked in English", "Arab and West, asked in Arabic")
    assert arabic.score == usual_run.scores.get(metric="p_at_1", dimension=PART[0], group="arab-west ar")
    assert (english.rank, english.wordings) == ("", None)
    assert english.chance == usual_run.scores.get(metric="chance", dimension=PART[0], group=PART[1]).value


def test_citation_and_picture_and_feed_name_the_part(client: Client, usual_run: Run) -> None:
    text = client.get(f"{usual_run.get_absolute_url()}?export=citation").content.decode()
    assert "P@1, Arab and West, asked in English" in text
    assert client.get(f"/runs/{usual_run.pk}/picture.png").status_code == 200
    assert "asked in English" in client.get("/feeds/results.atom").content.decode()


def test_a_comparison_is_about_one_part(client: Client, culture: Benchmark, usual_run: Run) -> None:
    other = make.probed(culture, make.model("org/other"), FakeModel(knows=KNOWN[:1]), culture.settings_with({}))
    address = f"/compare/?m={usual_run.pk}&m={other.pk}"
    stored = usual_run.scores.get(metric="p_at_1", dimension=PART[0], group=PART[1])
    differences = csv_rows(client, address)
    overall = next(row for row in differences if row["dimension"] == "Overall" or row["dimension"] == "overall")
    assert (float(overall["first"]), float(overall["n"])) == (stored.value, stored.n)
    answer = client.get(f"/api/v1/compare?m={usual_run.pk}&m={other.pk}").json()
    assert (answer["part"], answer["runs"][0]["value"]) == (PART[1], stored.value)
    arabic = client.get(f"/api/v1/compare?m={usual_run.pk}&m={other.pk}&part=arab-west+ar").json()
    assert arabic["part"] == "arab-west ar"
