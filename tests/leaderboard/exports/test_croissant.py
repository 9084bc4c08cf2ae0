"""Benchmarks in the format Croissant, checked and read by its own library."""

import json
import logging
from pathlib import Path
from typing import Any

import mlcroissant
import pytest
from django.test import Client
from django.utils import timezone
from mlcroissant._src.core.rdf import make_context
from pytest_django.live_server_helper import LiveServer

from leaderboard.exports.croissant import CONTEXT, croissant
from leaderboard.figures import benchmarks
from leaderboard.figures.ranks import refresh_standings
from leaderboard.models import Benchmark
from probing.catalog import CATALOG, EMBEDDED
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows

pytestmark = pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")  # in rdflib
SHIPPED = {name: entry for name, entry in CATALOG.items() if not entry.downloads}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what the library downloads for this test only."""
    monkeypatch.setattr("mlcroissant._src.core.constants.DOWNLOAD_PATH", tmp_path / "croissant")


def description(client: Client, name: str) -> dict[str, Any]:
    response = client.get(f"/benchmarks/{name}/croissant.json")
    assert response["Content-Type"] == "application/ld+json"
    content: dict[str, Any] = json.loads(response.content)
    return content


def test_the_context_is_that_of_the_format() -> None:
    assert make_context() == CONTEXT


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("name", SHIPPED)
def test_the_library_finds_no_fault_in_any_shipped_benchmark(
    name: str, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    entry = SHIPPED[name]
    benchmarks.install(entry.format, EMBEDDED / name, name)
    with caplog.at_level(logging.WARNING):
        dataset = mlcroissant.Dataset(jsonld=description(client, name))
    assert not dataset.metadata.ctx.issues.errors
    assert dataset.metadata.name == Benchmark.objects.get(slug=name, main=True).title
    assert "croissant.json" in client.get(f"/benchmarks/{name}/").content.decode()


@pytest.mark.django_db(transaction=True)
def test_the_library_reads_the_questions(small: Benchmark, live_server: LiveServer, client: Client) -> None:
    make.measured(small, make.model(), skill=1, templates=(0,))
    make.restore_figures(small)
    refresh_standings(small)
    dataset = mlcroissant.Dataset(jsonld=f"{live_server.url}/benchmarks/small/croissant.json")
    records = list(dataset.records("questions"))
    rows = csv_rows(client, "/benchmarks/small/items/")
    assert len(records) == len(rows) == 6
    for record, row in zip(records, rows, strict=True):
        assert record["questions/question"].decode() == row["question"]
        assert record["questions/answer"].decode() == row["answer"]
        assert str(record["questions/answered"]) == row["answered"]
        assert record["questions/share"] == pytest.approx(float(row["share"]))


@pytest.mark.django_db(transaction=True)
def test_questions_that_no_model_has_answered_can_be_read(small: Benchmark, live_server: LiveServer) -> None:
    dataset = mlcroissant.Dataset(jsonld=f"{live_server.url}/benchmarks/small/croissant.json")
    assert len(list(dataset.records("questions"))) == 6


@pytest.mark.django_db
def test_a_benchmark_without_questions_here_has_no_description(client: Client) -> None:
    make.published(make.benchmark())
    assert client.get("/benchmarks/tiny/croissant.json").status_code == 404


@pytest.mark.django_db
def test_the_page_has_the_description_for_search_engines_whatever_its_title(client: Client, small: Benchmark) -> None:
    small.title, small.licence = "</script><b>", "CC0 1.0"
    small.save()
    page = client.get("/benchmarks/small/?search=x").content.decode()
    linked = json.loads(page.split('<script type="application/ld+json">')[1].split("</script>")[0])
    assert linked == description(client, "small")
    facts = {name: linked[name] for name in ("name", "url", "version", "license")}
    url = "http://testserver/benchmarks/small/"
    assert facts == {"name": "</script><b>", "url": url, "version": small.version, "license": "CC0 1.0"}
    assert len(linked["description"]) >= 50  # what search engines for data sets ask for
    questions = linked["distribution"][0]["contentUrl"].removeprefix("http://testserver")
    assert client.get(questions)["Content-Type"].startswith("text/csv")


def test_a_data_set_of_one_question_is_described_in_the_singular() -> None:
    one = croissant(Benchmark(slug="mine", probe="multiple_choice", items=1, created=timezone.now()), "", [])
    assert one["description"].endswith("A benchmark of 1 question for language models.")
