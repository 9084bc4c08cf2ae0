"""The feed of the newest results."""

from xml.etree import ElementTree

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard.models import Benchmark, Run
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db

ATOM = {"atom": "http://www.w3.org/2005/Atom"}


def entries(client: Client) -> list[dict[str, str]]:
    """Return the texts of a feed's entries, with the address of their links."""
    response = client.get("/feed.atom")
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


def test_the_newest_of_all_benchmarks_come_first(client: Client) -> None:
    first, second = make.benchmark("one"), make.benchmark("two")
    make.finished(first, 0.1)
    make.finished(second, 0.2)
    make.finished(first, 0.3)
    assert [entry["title"][-5:] for entry in entries(client)] == ["0.300", "0.200", "0.100"]


def test_a_feed_takes_few_queries_however_long_it_is(client: Client) -> None:
    benchmark: Benchmark = make.benchmark()
    for _ in range(60):
        make.finished(benchmark)
    with CaptureQueriesContext(connection) as queries:
        assert len(entries(client)) == 50
    assert len(queries) <= 5
