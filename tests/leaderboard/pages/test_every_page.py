"""What holds for every page of a filled site, which one test visits page by page, and how much the database is asked.

A page opens with nothing inline, its tables equal their files of CSV and JSON, the points of its charts lead on, and
its links to the methods lead somewhere.
"""

import csv
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from io import StringIO
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.models import Benchmark, Run, RunEvent, Submission
from leaderboard.pages import explorer
from leaderboard.pages.methods_page import NAMES, methods_address, read_methods
from leaderboard.probes import PAGES
from leaderboard.tables import PAGE_SIZE
from leaderboard.ui import labels
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.spelled import power_of_ten
from leaderboard.ui.table_files import safe
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.pages.html_table import Tables
from tests.leaderboard.ui.charts.plotted import plotted

TYPES = {"run": re.compile(r"-?\d+"), "correct": re.compile("true|false")}
CSV = re.compile(r'href="(\?[^"]*format=csv[^"]*)"')
BEHIND = ("chance", "median", "printed")  # series that stand behind the points of a model
# Points that show no run, relation or group of items: rules of one run, and groups of equally sure answers.
PAGE_SIZES = (PAGE_SIZE, explorer.GROUPS)
WITHOUT_PAGES = {"max_softmax_bin", "softmax_margin_bin"}


@dataclass
class Visit:
    """A page that was fetched once, for all checks."""

    address: str
    response: Any
    client: Client
    text: str = field(init=False)

    def __post_init__(self) -> None:
        self.text = self.response.content.decode()


@dataclass
class Seen:
    """What the checks note of each page, for what holds of all pages together."""

    descriptions: dict[str, str] = field(default_factory=dict)
    csv_names: dict[str, str] = field(default_factory=dict)  # by the address of the file
    typed_columns: set[str] = field(default_factory=set)
    links_to_methods: set[str] = field(default_factory=set)
    pages_with_charts: set[str] = field(default_factory=set)


def read_csv(client: Client, address: str) -> list[list[str]]:
    response = client.get(address)
    assert response.status_code == 200
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.reader(StringIO(response.getvalue().decode())))


@cache
def in_words(shown: str, value: str) -> bool:
    """Whether a cell names a metric, a dimension or a group that CSV has as it is stored."""
    metrics = {pages.metric_label(value) for pages in PAGES.values()}
    return shown in metrics | {labels.dimension(value), labels.group(value)}


def same(shown: str, value: str) -> bool:
    """Whether a cell shows what CSV has in full: the text, or the figure rounded, without its interval."""
    shown = shown.split("±")[0].strip("✓✗● ")
    if shown in ("–", "not measured", "not reported", "no answer", "Measure this"):
        return value == ""
    # The spaces around a highlighted word are markup, and a question stands in place of its subject.
    if (
        in_words(shown, value)
        or ("____" in shown and value in shown)
        or shown.replace(" ", "") == value.replace(" ", "")
        or {"yes": "true", "no": "false"}.get(shown) == value
    ):
        return True
    if shown.startswith("published: "):
        return value.startswith("published: ")
    if match := re.fullmatch(r"(\d+) of \d+", shown):
        return match[1] == value
    if match := re.fullmatch(r"Wording (\d+)(,? for example .*)?", shown):
        return int(match[1]) == int(value) + 1
    if " × 10" in shown or shown == "< 0.001":
        return shown == (power_of_ten(float(value)) if float(value) else "< 0.001")
    if match := re.fullmatch(r"([\d.]+) ([KMBT])", shown):
        return float(match[1]) == pytest.approx(float(value) / 1000 ** (" KMBT".index(match[2])), rel=0.005)
    if shown.endswith((" %", " min", " h", " days", "minute")) or re.match(r"\d{4}-\d\d-\d\d ", shown):
        return value.startswith(shown.split()[0]) or value.isdecimal()
    return float(shown.replace(",", "").replace("−", "-")) == pytest.approx(float(value), abs=0.0051)


def opens_with_nothing_inline_and_no_id_twice(page: Visit, seen: Seen) -> None:
    assert page.response.status_code == 200
    assert "default-src 'self'" in page.response["Content-Security-Policy"]
    assert not re.search("<script>|<style|style=", page.text)
    ids = re.findall(r'\sid="([^"]*)"', page.text)
    assert len(ids) == len(set(ids)), [name for name in set(ids) if ids.count(name) > 1]


def sets_no_cookie_unless_it_is_the_form(page: Visit, seen: Seen) -> None:
    assert set(page.response.cookies) == ({"csrftoken"} if page.address == "/submit/" else set())
    assert all(cookie["httponly"] for cookie in page.response.cookies.values())


def describes_itself_to_those_who_search(page: Visit, seen: Seen) -> None:
    if "?" not in page.address or "/compare/" in page.address:
        (text,) = re.findall(r'<meta name="description"\s+content="([^"]+)"', page.text)
        seen.descriptions[page.address] = " ".join(text.split())


def from_one(table: list[list[str]]) -> list[list[str]]:
    """Return the lines of a CSV with wordings and questions counted from 1, as pages count them."""
    counted = [number for number, name in enumerate(table[0]) if name in ("template", "index")]
    lines = [
        [str(int(value) + 1) if number in counted else value for number, value in enumerate(line)] for line in table[1:]
    ]
    return [table[0], *lines]


def lines_of(answer: Any, header: list[str]) -> list[list[str]]:
    """Return the lines that the CSV of a table in JSON has; without rows, JSON does not name the columns."""
    assert answer["Content-Type"] == "application/json"
    rows = json.loads(answer.getvalue())
    assert all(list(row) == header for row in rows)
    return [header, *([str(safe(value)) for value in row.values()] for row in rows)]


def shows_tables_that_equal_their_csv(page: Visit, seen: Seen) -> None:
    different = {}
    for name, rows in Tables(page.text).found.items():
        joined = "&" if "?" in page.address else "?"
        full = read_csv(page.client, f"{page.address}{joined}format=csv&table={name}")
        as_json = page.client.get(f"{page.address}{joined}format=json&table={name}")
        assert lines_of(as_json, full[0]) == full, name
        full = from_one(full) if name in ("items", "questions", "disagreements") else full
        columns = [full[0].index(column) for column in rows[0]]
        assert columns == sorted(columns), name
        assert len(rows) == len(full) or (len(rows) - 1 in PAGE_SIZES and len(rows) < len(full)), name
        for shown, everything in zip(rows[1:], full[1:], strict=False):
            values = {column: everything[number] for column, number in zip(rows[0], columns, strict=True)}
            different.update({(name, *pair): values for pair in differences(name, shown, values)})
    assert different == {}


def differences(table: str, shown: list[str], values: dict[str, str]) -> list[tuple[str, str]]:
    """Return the cells of a row of which the page shows something else than CSV has, with what CSV has."""
    texts = dict(zip(values, shown, strict=True))
    assert values.get("run", "0").isdecimal()  # the page names the run, or has its number in words
    figures = [name for name in texts if name != "run"]
    named = [name for name in figures if texts[name] != labels.group(values[name])]
    if table == "overview":  # a run without a figure shows its progress in place of one
        named = [name for name in named if values[name] or not texts[name].endswith(" %")]
    return [(texts[name], values[name]) for name in named if not same(texts[name], values[name])]


def links_table_files_with_the_same_types_and_a_telling_name(page: Visit, seen: Seen) -> None:
    path = page.address.partition("?")[0]
    for link in CSV.findall(page.text):
        address = path + unescape(link)
        if address in seen.csv_names:
            continue  # another page links it as well
        response = page.client.get(address)
        for row in csv.DictReader(response.getvalue().decode("utf-8-sig").splitlines()):
            for name in row.keys() & TYPES.keys():
                seen.typed_columns.add(name)
                assert not row[name] or TYPES[name].fullmatch(row[name]), (address, row)
        file = response["Content-Disposition"].removeprefix("attachment; filename=")
        seen.csv_names[address] = file
        assert file.startswith('"clozeboard-'), address


def speaks_to_visitors(page: Visit, seen: Seen) -> None:
    """Commands stand where a reader copies them, in documents and on the pages of papers, and nowhere else."""
    if not page.address.startswith(("/methods/", "/api/", "/papers/")):
        text = re.sub(r"<(pre|script)\b.*?</\1>|<[^>]+>", " ", page.text, flags=re.DOTALL)
        assert re.findall(r".*(?:manage\.py|python -m|\s--[a-z]+|\btemplate_|\d tests?\b).*", text) == []


def has_points(trace: Any) -> bool:
    return "markers" in str(getattr(trace, "mode", ""))


def unlinked(chart: Chart) -> list[str]:
    """Return the names of the series with points that lead nowhere."""
    series = [trace for trace in plotted(chart.figure).data if has_points(trace) and trace.name not in BEHIND]
    series = [trace for trace in series if list(trace.x if trace.x is not None else ()) != [None]]  # of the legend
    return [str(trace.name) for trace in series if not all("/" in str(part) for part in trace.customdata or [""])]


def has_charts_whose_points_lead_on(page: Visit, seen: Seen) -> None:
    charts = (page.response.context or {}).get("charts") or {}
    if charts:
        seen.pages_with_charts.add(page.address)
    missing = {name: unlinked(chart) for name, chart in charts.items() if name not in WITHOUT_PAGES}
    assert not {name: series for name, series in missing.items() if series}


def leads_to_paragraphs_of_the_methods(page: Visit, seen: Seen) -> None:
    main = page.text.partition("<main")[2].partition("</main>")[0]
    links = set(re.findall(r'href="(/methods/[^"]*)"', main))
    seen.links_to_methods |= links
    pages = {methods_address(name): read_methods(name)["ids"] for name in NAMES}
    known = pages.keys() | {f"{address}#{anchor}" for address, ids in pages.items() for anchor in ids}
    assert links <= known


CHECKS: tuple[Callable[[Visit, Seen], None], ...] = (
    opens_with_nothing_inline_and_no_id_twice,
    sets_no_cookie_unless_it_is_the_form,
    describes_itself_to_those_who_search,
    speaks_to_visitors,
    shows_tables_that_equal_their_csv,
    links_table_files_with_the_same_types_and_a_telling_name,
    has_charts_whose_points_lead_on,
    leads_to_paragraphs_of_the_methods,
)


def test_every_page_passes_every_check(site: Site, subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, moment = Seen(), timezone.now()
    # A page and its table as a file are two requests, between which the time left of a run would count down.
    monkeypatch.setattr(timezone, "now", lambda: moment)
    for address in site.addresses:
        client = Client()  # as a reader who comes for the first time, without the cookie of another page
        page = Visit(address, client.get(address), client)
        for check in CHECKS:
            with subtests.test(f"{address} {check.__name__}"):
                check(page, seen)
    assert len(set(seen.descriptions.values())) == len(seen.descriptions) > 15
    assert "Nothing of its size beats" in seen.descriptions["/benchmarks/small/"]
    assert len(seen.csv_names) > 20
    assert f'"clozeboard-runs-{site.first.pk}-scores.csv"' in seen.csv_names.values()
    assert '"clozeboard-benchmarks-small-leaderboard.csv"' in seen.csv_names.values()
    assert seen.typed_columns == {"run", "correct"}
    compared = f"/compare/?m={site.first.pk}&m={site.second.pk}"
    run = site.first.get_absolute_url()
    assert seen.pages_with_charts >= {"/models/org/first/", run, compared, "/benchmarks/small/"}
    assert len(seen.links_to_methods) > 5


def test_what_strangers_wrote_is_shown_as_text(small: Benchmark, client: Client, subtests: pytest.Subtests) -> None:
    hostile = "<evil>\u202e\x07 & more"
    model = make.model("org/<evil>", revision=hostile, licence=hostile)
    run = make.measured(small, model, skill=1, templates=(0,))
    make.replace_rows(run, make.stored_rows(run).assign(prediction_label=hostile + "x" * 5000))
    make.restore_figures(small)
    failed = make.running(make.model(model.hub_id), small)
    RunEvent.objects.create(run=failed, state="failed", message=hostile)
    Run.objects.fail(failed, "internal", hostile, hostile, log=f"one\n{hostile}")
    Submission.objects.create(token="secret", model_id=model.hub_id, benchmark=small, run=failed, state="accepted")
    other = make.measured(small, make.model("org/other"), skill=2, templates=(0,))
    question = "/benchmarks/small/items/P30-1/"
    address = run.get_absolute_url()
    answers = (address, f"{address}items/", f"{question}?run={run.pk}", f"/compare/?m={run.pk}&m={other.pk}")
    written_out = (model.get_absolute_url(), failed.get_absolute_url(), "/submissions/secret/", "/queue/", question)
    of_names = ("/", "/benchmarks/small/", "/benchmarks/small/relations/P30/")
    for address in (*answers, *written_out, *of_names, "/feed.atom", "/search/?search=%3Cevi", "/models/org/<evils>/"):
        with subtests.test(address):
            text = client.get(address).content.decode()
            assert "&lt;evil&gt;" in text and "<evil>" not in text
            assert address in answers or "\u202e" not in text, "in answers, such characters can be part of the language"
            assert address not in written_out or r"&lt;evil&gt;\u202e\x07 &amp; more" in text
    assert "x" * 600 not in client.get(question).content.decode()
    assert "one\n&lt;evil&gt;" in client.get(failed.get_absolute_url()).content.decode(), "a log keeps its lines"


def test_charts_by_domain_lead_to_the_questions_of_the_domain(client: Client, site: Site) -> None:
    (trace,) = (
        trace
        for trace in plotted(client.get(site.first.get_absolute_url()).context["charts"]["breakdown"].figure).data
        if trace.name == "score"
    )
    assert client.get(trace.customdata[0]).status_code == 200
    assert all(f"/runs/{site.first.pk}/items/?domain=" in address for address in trace.customdata)


def add_rows(on: Benchmark, rows: int) -> None:
    for _ in range(rows):
        make.finished(on)
        make.published(on)
        make.running(make.model(), on)
        make.run(make.model(), on, Run.State.FAILED)


@pytest.mark.parametrize(
    ("address", "most"),
    [
        *(("/", 22), ("/queue/", 17), ("/benchmarks/", 12), ("/benchmarks/small/", 19)),
        *(("/models/org/first/", 13), ("/benchmarks/small/?format=json", 13)),
    ],
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
