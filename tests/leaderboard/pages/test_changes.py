"""The log of changes, each with its reason, and /feeds/ : what a feed reader gets."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from django.core.management import CommandError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard.figures import benchmarks
from leaderboard.figures.history import record, withdraw
from leaderboard.figures.rescoring import stored_result
from leaderboard.models import Benchmark, Change, Run
from leaderboard.worker.finishing import finish
from probing.known_benchmarks import EMBEDDED
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.management.commands.output import output_of

pytestmark = pytest.mark.django_db


def log() -> list[tuple[str, str, int | None]]:
    """The changes of results, the oldest first."""
    changes = Change.objects.exclude(kind=Change.Kind.VERSION).order_by("pk")
    return [(change.kind, change.model, change.run) for change in changes]


def test_a_run_that_finishes_is_added_to_the_log_once(small: Benchmark, client: Client) -> None:
    measured = make.measured(small, make.model("org/first"), skill=1)
    result = stored_result(measured)
    run = make.run(make.model("org/new"), small, Run.State.AGGREGATING)
    assert finish(run, result, "runs/new")
    assert finish(run, result, "runs/new")
    assert log() == [("added", run.model.title, run.pk)]
    page = client.get("/history/").content.decode()
    assert f'href="/runs/{run.pk}/"' in page
    assert "result added" in page


def test_a_benchmark_has_its_title_that_leads_to_it_as_long_as_it_is_here(client: Client, site: Site) -> None:
    Benchmark.objects.filter(pk=site.benchmark.pk).update(title="Small questions")
    record(Change.Kind.ADDED, site.first)
    Change.objects.create(kind=Change.Kind.VERSION, benchmark="gone")
    page = client.get("/history/?sort=benchmark").content.decode()
    assert re.search(r'href="/benchmarks/small/"[^>]*>Small questions<', page)
    assert page.index(">gone<") < page.index("Small questions")
    assert [row["benchmark"] for row in csv_rows(client, "/history/")][:2] == ["gone", "small"]


def test_a_withdrawn_result_keeps_its_line_and_its_reason(client: Client, site: Site) -> None:
    number, title = site.first.pk, site.first.model.title
    record(Change.Kind.ADDED, site.first)
    output_of("withdraw", str(number), "--reason", "The weights were mixed up.")
    assert log() == [("added", title, number), ("withdrawn", title, number)]
    assert not Run.objects.filter(pk=number).exists()
    page = client.get("/history/").content.decode()
    assert "The weights were mixed up." in page
    assert f"/runs/{number}/" not in page, "there is nothing to see any more"
    rows = csv_rows(client, "/history/")
    assert [(row["change"], row["run"]) for row in rows[:2]] == [
        ("result withdrawn", str(number)),
        ("result added", str(number)),
    ]


def test_only_finished_runs_with_a_reason_are_withdrawn(site: Site) -> None:
    for command in (["999"], [str(site.running.pk)]):
        with pytest.raises(CommandError, match="no finished runs"):
            output_of("withdraw", *command, "--reason", "A reason.")
    with pytest.raises(CommandError, match="reason is empty"):
        output_of("withdraw", str(site.first.pk), "--reason", " ")
    assert Run.objects.filter(pk=site.first.pk).exists()
    withdraw(Run.objects.filter(pk=site.running.pk), "It was never finished.")
    assert log() == [], "an unfinished run has no result that could be missed"


def test_a_new_version_of_a_benchmark_is_in_the_log(small: Benchmark, client: Client, tmp_path: Path) -> None:
    benchmarks.install("stest", EMBEDDED / "pairs", "pairs")
    benchmarks.install("stest", EMBEDDED / "pairs", "pairs")
    assert Change.objects.filter(kind=Change.Kind.VERSION, benchmark="pairs").count() == 1
    assert "new version of a benchmark" in client.get("/history/").content.decode()


def test_the_feed_has_the_newest_changes_with_their_reasons(client: Client, site: Site) -> None:
    Benchmark.objects.filter(pk=site.benchmark.pk).update(title="Small questions")
    record(Change.Kind.RESCORED, site.second, "Accuracy rose from 0.1 to 0.2 & more.")
    withdraw(Run.objects.filter(pk=site.first.pk), "<b>Mixed up</b>")
    feed = ElementTree.fromstring(client.get("/feeds/changes.atom").content)
    namespace = {"atom": "http://www.w3.org/2005/Atom"}
    entries = feed.findall("atom:entry", namespace)
    titles = [entry.findtext("atom:title", "", namespace) for entry in entries]
    assert titles[0] == f"{site.first.model.title} on Small questions: result withdrawn"
    assert titles[1] == f"{site.second.model.title} on Small questions: scores computed again"
    assert entries[0].findtext("atom:summary", "", namespace) == "<b>Mixed up</b>"
    links = [entry.find("atom:link", namespace).attrib["href"] for entry in entries[:2]]
    assert links == ["http://testserver/history/", f"http://testserver/runs/{site.second.pk}/"]
    assert len({entry.findtext("atom:id", "", namespace) for entry in entries}) == len(entries)


ATOM = {"atom": "http://www.w3.org/2005/Atom"}


def entries(client: Client, address: str = "/feeds/results.atom") -> list[dict[str, str]]:
    """Return the texts of a feed's entries, with the address of their links."""
    response = client.get(address)
    assert response.status_code == 200
    assert response["Content-Type"] == "application/atom+xml; charset=utf-8"
    feed = ElementTree.fromstring(response.content)
    return [
        {element.tag.split("}")[1]: element.text or element.attrib.get("href", "") for element in entry}
        for entry in feed.findall("atom:entry", ATOM)
    ]


def test_an_entry_says_what_was_measured_and_leads_to_it(client: Client) -> None:
    benchmark = make.benchmark("bear", title="BEAR")
    run = make.finished(benchmark, 0.5, make.model("org/small"))
    make.run(make.model(), benchmark, Run.State.SCORING)
    (entry,) = entries(client)
    assert entry["title"] == "org/small on BEAR: accuracy 0.500"
    assert entry["link"] == f"http://testserver/runs/{run.pk}/"
    assert entry["updated"].startswith("2026-11-01T12:10:00")
    assert "accuracy 0.500 (95 % interval 0.404 to 0.596)" in entry["summary"]


def test_the_title_of_an_entry_says_what_was_unusual_about_the_measurement(client: Client) -> None:
    make.finished(make.benchmark(title="BEAR"), 0.5, make.model("org/small"), settings={"dtype": "bfloat16"})
    (entry,) = entries(client)
    assert entry["title"] == "org/small on BEAR (bfloat16): accuracy 0.500"


def test_the_newest_come_first_and_a_benchmark_has_its_own_feed(client: Client) -> None:
    first, second = make.benchmark("one"), make.benchmark("two")
    make.finished(first, 0.1)
    make.finished(second, 0.2)
    make.finished(first, 0.3)
    assert [entry["title"][-5:] for entry in entries(client)] == ["0.300", "0.200", "0.100"]
    assert [entry["title"][-5:] for entry in entries(client, "/feeds/benchmarks/one.atom")] == ["0.300", "0.100"]
    assert client.get("/feeds/benchmarks/none.atom").status_code == 404


def test_published_figures_are_no_news_of_this_site(client: Client) -> None:
    make.finished(make.benchmark(), provenance=Run.Provenance.PUBLISHED)
    assert entries(client) == []


def test_text_of_strangers_is_inert(client: Client) -> None:
    make.finished(make.benchmark(title="<b>&"), 0.5, make.model("org/a\u202eb"))
    (entry,) = entries(client)
    assert "\u202e" not in entry["title"]
    assert "&lt;b&gt;&amp;" in entry["summary"]


def test_a_feed_takes_few_queries_however_long_it_is(client: Client) -> None:
    benchmark: Benchmark = make.benchmark()
    for _ in range(60):
        make.finished(benchmark)
    with CaptureQueriesContext(connection) as queries:
        assert len(entries(client)) == 50
    assert len(queries) <= 5
