"""Sections on normalisations: the figures of a run, and the places of all models."""

import pytest
from django.test import Client

from leaderboard.models import Benchmark, Run
from leaderboard.stored import benchmarks
from probing.settings import Settings
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows

KNOWN = ["Chad is located in Africa.", "Japan is located in Asia."]


@pytest.fixture
def with_pmi(db: None, bear_folder: BearFolder) -> Benchmark:
    """The small benchmark, whose plan asks for PMI as well."""
    bear_folder.plan = {"settings": {"templates": [0], "options": {"pmi": True}}}
    return benchmarks.install("bear", bear_folder.write(), "small")[0]


def probed(on: Benchmark, hub_id: str, *known: str) -> Run:
    return make.probed(on, make.model(hub_id), FakeModel(knows=known), on.settings_with({}))


def test_a_run_shows_its_figure_under_every_normalisation(client: Client, small: Benchmark) -> None:
    run = probed(small, "org/one", *KNOWN)
    probed(small, "org/two")
    rows = csv_rows(client, f"/runs/{run.pk}/", "normalisation")
    assert [(row["normalisation"], row["own"]) for row in rows] == [
        ("sum", "true"), ("per token", "false"), ("per byte", "false"), ("per word", "false"),
    ]  # fmt: skip
    own = run.scores.get(metric="accuracy", dimension="overall").value
    assert float(rows[0]["value"]) == own
    for row in rows:
        stored = run.scores.get(metric="accuracy", dimension="normalisation", group=row["normalisation"])
        assert float(row["value"]) == stored.value
        assert float(row["difference"]) == pytest.approx(stored.value - own)
        assert row["place"] in ("1", "2")
        assert row["of"] == "2"


def test_a_run_says_which_normalisation_is_not_there_and_why(client: Client, small: Benchmark) -> None:
    page = client.get(f"/runs/{probed(small, 'org/one').pk}/").content.decode()
    assert "PMI needs the scores with the subject hidden" in page
    assert "numbers of tokens" not in page


def test_pmi_is_shown_where_the_plan_asks_for_it(client: Client, with_pmi: Benchmark) -> None:
    run = probed(with_pmi, "org/one", *KNOWN)
    assert csv_rows(client, f"/runs/{run.pk}/", "normalisation")[-1]["normalisation"] == "PMI"
    assert "PMI needs the scores" not in client.get(f"/runs/{run.pk}/").content.decode()


def test_a_benchmark_shows_the_place_of_each_model_under_each_normalisation(client: Client, small: Benchmark) -> None:
    runs = [probed(small, "org/one"), probed(small, "org/two", *KNOWN)]
    rows = csv_rows(client, "/benchmarks/small/", "normalisation")
    assert [row["model"] for row in rows] == ["org/two", "org/one"]
    for row, run in zip(rows, reversed(runs), strict=True):
        for name in ("sum", "per token", "per byte", "per word"):
            stored = run.scores.get(metric="accuracy", dimension="normalisation", group=name)
            assert float(row[name.replace(" ", "_")]) == stored.value
    assert [row["sum_place"] for row in rows] == ["1", "2"]
    assert "Order of the models by normalisation" in client.get("/benchmarks/small/").content.decode()


def test_one_model_alone_has_no_place(client: Client, small: Benchmark) -> None:
    probed(small, "org/one")
    assert b"Place by normalisation" not in client.get("/benchmarks/small/").content


def test_ranks_of_the_leaderboard_stay_those_of_the_headline(client: Client, small: Benchmark) -> None:
    probed(small, "org/one", *KNOWN)
    (row,) = (row for row in csv_rows(client, "/benchmarks/small/") if row["model"] == "org/one")
    assert not any("normalisation" in name for name in row)


def test_a_run_without_items_has_no_empty_section(client: Client, small: Benchmark) -> None:
    for run in (make.published(small, 0.5), Run.objects.get(model__hub_id="baseline/chance")):
        assert "section-normalisation" not in client.get(f"/runs/{run.pk}/").content.decode()


def test_culture_pairs_have_normalisations_of_their_candidates(client: Client, culture: Benchmark) -> None:
    run = make.probed(culture, make.model("org/one"), FakeModel(), Settings(probe="ranking"))
    rows = csv_rows(client, f"/runs/{run.pk}/", "normalisation")
    assert [row["normalisation"] for row in rows if row["own"] == "true"] == ["per token"]
    assert float(rows[1]["value"]) == run.scores.get(metric="p_at_1", dimension="overall").value
