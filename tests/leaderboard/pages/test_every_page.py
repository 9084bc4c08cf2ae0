"""What holds for every page: it opens, its tables equal their CSV, it asks the database a fixed number of times."""

import csv
import re
from io import StringIO

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard.models import Benchmark, Run
from leaderboard.probes import PAGES
from leaderboard.ui import labels
from leaderboard.ui.tables import PAGE_SIZE
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.pages.html_table import Tables


def read_csv(client: Client, address: str) -> list[list[str]]:
    response = client.get(address)
    assert response.status_code == 200
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.reader(StringIO(response.getvalue().decode())))


def in_words(shown: str, value: str) -> bool:
    """Whether a cell names a metric, a dimension or a group that CSV has as it is stored."""
    metrics = {pages.metric_label(value) for pages in PAGES.values()}
    return shown in metrics | {labels.dimension(value), labels.group(value)}


def same(shown: str, value: str) -> bool:
    """Whether a cell shows what CSV has in full: the text, or the figure rounded, without its half-width."""
    shown = shown.split("±")[0].strip("✓✗● ")
    if shown in ("–", "not measured", "not reported", "no answer"):
        return value == ""
    # The spaces around a highlighted word are markup, and a question stands in place of its subject.
    if (
        in_words(shown, value)
        or ("____" in shown and value in shown)
        or shown.replace(" ", "") == value.replace(" ", "")
        or {"yes": "true", "no": "false"}.get(shown) == value
    ):
        return True
    if value.startswith("baseline/"):
        return shown.lower() == value.removeprefix("baseline/").replace("-", " ")
    if shown.startswith("published: "):
        return value.startswith("published: ")
    if match := re.fullmatch(r"(\d+) of \d+", shown):
        return match[1] == value
    if match := re.fullmatch(r"Wording (\d+)", shown):
        return int(match[1]) == int(value) + 1
    if shown == "< 0.001":
        return float(value) < 0.001
    if match := re.fullmatch(r"([\d.]+) ([KMBT])", shown):
        return float(match[1]) == pytest.approx(float(value) / 1000 ** (" KMBT".index(match[2])), rel=0.005)
    if shown.endswith((" %", " min", " h", "minute")) or re.match(r"\d{4}-\d\d-\d\d ", shown):
        return value.startswith(shown.split()[0]) or value.isdecimal()
    return float(shown.replace(",", "").replace("−", "-")) == pytest.approx(float(value), abs=0.0051)


def test_every_page_opens_with_nothing_inline_and_no_id_twice(
    client: Client, site: Site, subtests: pytest.Subtests
) -> None:
    for address in site.addresses:
        with subtests.test(address):
            response = client.get(address)
            assert response.status_code == 200
            assert "default-src 'self'" in response["Content-Security-Policy"]
            html = response.content.decode()
            assert not re.search("<script>|<style|style=", html)
            ids = re.findall(r'\sid="([^"]*)"', html)
            assert len(ids) == len(set(ids)), [name for name in set(ids) if ids.count(name) > 1]


def test_every_page_describes_itself_to_those_who_search(client: Client, site: Site) -> None:
    descriptions = {}
    for address in site.addresses:
        if "?" not in address or "/compare/" in address:
            (text,) = re.findall(r'<meta name="description"\s+content="([^"]+)"', client.get(address).content.decode())
            descriptions[address] = " ".join(text.split())
    assert len(set(descriptions.values())) == len(descriptions) > 15
    assert "Best" in descriptions["/benchmarks/small/"]


def from_one(table: list[list[str]]) -> list[list[str]]:
    """Return the lines of a CSV with wordings and questions counted from 1, as pages count them."""
    counted = [place for place, name in enumerate(table[0]) if name in ("template", "index")]
    lines = [
        [str(int(value) + 1) if place in counted else value for place, value in enumerate(line)] for line in table[1:]
    ]
    return [table[0], *lines]


def test_every_table_equals_its_csv(client: Client, site: Site, subtests: pytest.Subtests) -> None:
    for address in site.addresses:
        for name, rows in Tables(client.get(address).content.decode()).found.items():
            with subtests.test(address, table=name):
                joined = "&" if "?" in address else "?"
                full = read_csv(client, f"{address}{joined}format=csv&table={name}")
                full = from_one(full) if name in ("items", "questions", "disagreements") else full
                places = [full[0].index(name) for name in rows[0]]
                assert places == sorted(places)
                assert len(rows) == len(full) or len(rows) == 1 + PAGE_SIZE < len(full)
                for shown, everything in zip(rows[1:], full[1:], strict=False):
                    values = {name: everything[place] for name, place in zip(rows[0], places, strict=True)}
                    texts = dict(zip(rows[0], shown, strict=True))
                    assert values.get("run", "0").isdecimal()  # the page names the run, or has its number in words
                    figures = [name for name in texts if name != "run"]
                    named = [name for name in figures if texts[name] != labels.group(values[name])]
                    if name == "overview":  # a run without a figure shows its progress in place of one
                        named = [part for part in named if values[part] or not texts[part].endswith(" %")]
                    assert [(texts[n], values[n]) for n in named if not same(texts[n], values[n])] == []


def add_rows(on: Benchmark, rows: int) -> None:
    for _ in range(rows):
        make.finished(on)
        make.published(on)
        make.running(make.model(), on)
        make.run(make.model(), on, Run.State.FAILED)


@pytest.mark.parametrize(
    ("address", "most"),
    [("/", 12), ("/queue/", 17), ("/benchmarks/", 12), ("/benchmarks/small/", 12), ("/api/v1/leaderboard", 12)],
)
def test_the_number_of_queries_does_not_grow_with_rows(client: Client, site: Site, address: str, most: int) -> None:
    counts = []
    for _ in range(2):
        add_rows(site.benchmark, 10)
        client.get(address)
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= most


def test_an_unknown_address_leads_back(client: Client, db: None) -> None:
    response = client.get("/nowhere/")
    assert response.status_code == 404
    assert 'href="/"' in response.content.decode()
