"""/history/, snapshots and /board.parquet: what has changed, frozen tables at lasting addresses, and all scores."""

import hashlib
import json
import re
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from django.core.management import CommandError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard.figures import benchmarks, history
from leaderboard.figures.history import record, withdraw
from leaderboard.management.commands.rescore import stored_result
from leaderboard.models import Benchmark, Change, Model, Run, Score, Snapshot
from leaderboard.operations.freezing import freeze, freeze_site
from leaderboard.pages.history_pages import column_title
from leaderboard.worker.finishing import finish
from probing.catalog import EMBEDDED
from probing.errors import BadInput
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.management.commands.output import output_of

pytestmark = pytest.mark.django_db

BOARD = "/benchmarks/small/"


def csv(client: Client, address: str) -> str:
    return client.get(f"{address}{'&' if '?' in address else '?'}format=csv").getvalue().decode()


def frozen_page(client: Client, address: str) -> str:
    """Freeze a table as a reader does, and return the address of the snapshot."""
    response = client.post("/snapshots/new/", {"of": address})
    assert response.status_code == 302, response.content
    return response["Location"]


@pytest.mark.parametrize(
    "address", ["/", BOARD, "/benchmarks/small/relations/P30/", "/runs/{run}/", "/compare/?m={run}&m={second}"]
)
def test_a_frozen_table_is_the_csv_of_its_page(client: Client, site: Site, address: str) -> None:
    address = address.format(run=site.first.pk, second=site.second.pk)
    before = csv(client, address)
    frozen = frozen_page(client, f"{address}{'&' if '?' in address else '?'}format=csv")
    assert csv(client, frozen) == before
    page = client.get(frozen).content.decode()
    assert "Frozen on" in page
    assert f'href="{address.replace("&", "&amp;")}">The same table today' in page


def test_later_figures_leave_a_snapshot_as_it_was(client: Client, site: Site) -> None:
    frozen = frozen_page(client, BOARD)
    document, table = client.get(f"{frozen.rstrip('/')}.json").content, csv(client, frozen)
    Score.objects.filter(run=site.first).update(value=0.123)
    Model.objects.filter(pk=site.first.model.pk).update(hub_id="org/renamed")
    assert client.get(f"{frozen.rstrip('/')}.json").content == document
    assert csv(client, frozen) == table
    assert frozen_page(client, BOARD) != frozen


def test_a_comparison_of_models_is_frozen_under_their_names(client: Client, site: Site) -> None:
    frozen = frozen_page(client, "/compare/?model=org/first&model=org/second")
    assert "Comparison of org/first and org/second" in client.get(frozen).content.decode()


def test_a_frozen_table_names_model_benchmark_and_metric(client: Client, site: Site) -> None:
    board = client.get(frozen_page(client, BOARD)).content.decode()
    assert "Leaderboard of small by accuracy" in board
    run = client.get(frozen_page(client, site.first.get_absolute_url())).content.decode()
    assert f"Run {site.first.pk}: {site.first.name} on small by accuracy" in run
    both = client.get(frozen_page(client, f"/compare/?m={site.first.pk}&m={site.second.pk}")).content.decode()
    assert f"Comparison of {site.first.name} and {site.second.name} on small by accuracy" in both


def test_the_columns_of_frozen_tables_have_titles_for_people() -> None:
    titles = {
        "model": "Model",
        "bear": "BEAR",
        "bear_low": "BEAR, low end",
        "bear_standard_error": "BEAR, standard error",
        "n": "Items",
        "accuracy_cluster_high": "Accuracy, high end on other relations",
    }
    assert {name: column_title(name, {"bear": "BEAR"}) for name in titles} == titles


def test_freezing_is_asked_in_place(client: Client, site: Site) -> None:
    html = client.get(BOARD).content.decode()
    assert re.search(r'hx-get="/snapshots/new/\?of=[^"]+"\s+hx-target="next .freeze-here"\s+hx-select="#freeze"', html)
    confirmation = client.get(f"/snapshots/new/?of={BOARD}").content.decode()
    assert '<div id="freeze"' in confirmation and "cannot be changed or removed afterwards" in confirmation


def test_the_address_is_the_digest_of_the_document(client: Client, site: Site) -> None:
    frozen = frozen_page(client, BOARD)
    response = client.get(f"{frozen.rstrip('/')}.json")
    assert hashlib.sha256(response.content).hexdigest() == frozen.strip("/").split("/")[-1]
    assert "immutable" in response["Cache-Control"]
    (table,) = json.loads(response.content)["tables"]
    assert table["address"] == BOARD
    assert table["rows"] == [line.split(",") for line in csv(client, BOARD).splitlines()[1:]]


def test_the_same_data_give_the_same_bytes(client: Client, site: Site) -> None:
    first = freeze_site("first")
    Snapshot.objects.all().delete()
    again = freeze_site("second")
    assert again.digest == first.digest
    assert bytes(again.document) == bytes(first.document)
    assert freeze_site().pk == again.pk, "there is one snapshot of the same data"


def test_the_whole_site_has_the_overview_and_every_leaderboard(client: Client, site: Site) -> None:
    other = make.benchmark("another")
    make.finished(other)
    printed = output_of("snapshot", "--name", "November 2026")
    (snapshot,) = Snapshot.objects.all()
    assert snapshot.title == "Whole site: November 2026"
    assert snapshot.get_absolute_url() in printed
    assert [table.address for table in history.read_tables(snapshot)] == ["/?topic=all", "/benchmarks/another/", BOARD]
    page = client.get(snapshot.get_absolute_url()).content.decode()
    assert page.count("<table") == 3
    assert csv(client, f"{snapshot.get_absolute_url()}?table=table1") != csv(client, snapshot.get_absolute_url())
    assert "Whole site: November 2026" in client.get("/history/").content.decode()


def test_other_pages_are_refused_with_a_reason(client: Client, site: Site) -> None:
    not_frozen = ("/queue/", f"{site.first.get_absolute_url()}items/", "/admin/", "/snapshots/new/")
    reasons = dict.fromkeys(not_frozen, "cannot be frozen")
    reasons |= {"/nowhere/at/all/": "There is no page", f"{BOARD}?table=nonsense": "no table of that name"}
    for address, reason in reasons.items():
        response = client.post("/snapshots/new/", {"of": address})
        assert (response.status_code, reason in response.content.decode()) == (400, True), address
    assert not Snapshot.objects.exists()


def test_addresses_elsewhere_are_not_found(client: Client, site: Site) -> None:
    elsewhere = ("", "https://example.org/", "javascript:alert(1)", "//example.org/", "/\\example.org/")
    for address in (*elsewhere, f"{BOARD}?search=%00", f"{BOARD}?search=\0", f"/?{'x' * 5000}"):
        assert client.get("/snapshots/new/", {"of": address}).status_code in (400, 404, 414), address
        assert client.post("/snapshots/new/", {"of": address}).status_code == 404, address


def test_a_page_that_does_not_exist_is_not_frozen(client: Client, site: Site) -> None:
    assert client.post("/snapshots/new/", {"of": "/benchmarks/nothing/"}).status_code == 404
    assert client.get(f"/snapshots/{'0' * 64}/").status_code == 404
    assert client.get("/snapshots/abc/").status_code == 404


def test_one_reader_cannot_fill_the_database(client: Client, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaderboard.pages.history_pages.LIMIT_OF_ADDRESS", "2 per hour")
    answers = [client.post("/snapshots/new/", {"of": BOARD}).status_code for _ in range(3)]
    assert answers == [302, 302, 429]


def test_a_table_that_is_too_large_is_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "LARGEST", 100)
    with pytest.raises(BadInput, match="at most 100"):
        freeze([BOARD])


def test_formulas_stay_harmless_after_they_were_frozen(client: Client, small: object) -> None:
    make.finished(small, of=make.model("org/=1+1"))
    assert "=1+1" in csv(client, BOARD)
    assert csv(client, frozen_page(client, BOARD)) == csv(client, BOARD)


def test_a_snapshot_is_cited_by_its_address_and_its_day(client: Client, site: Site) -> None:
    frozen = frozen_page(client, BOARD)
    entry = client.get(f"{frozen}?format=bibtex").content.decode()
    assert f"url = {{http://testserver{frozen}}}" in entry
    assert "Leaderboard of small" in entry
    assert "urldate" not in entry, "what is frozen needs no day of access"


def test_the_former_addresses_lead_to_the_history_and_to_the_same_tables(client: Client, site: Site) -> None:
    freeze_site("November 2026")
    assert client.get("/changes/?sort=time")["Location"] == "/history/?sort=time"
    assert client.get("/snapshots/")["Location"] == "/history/?table=snapshots#snapshots"
    rows = client.get("/snapshots/?format=csv", follow=True).content.decode()
    assert "Whole site: November 2026" in rows


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
    shown = entries(client, "/feeds/changes.atom")
    withdrawn, rescored, *_ = shown
    assert withdrawn["title"] == f"{site.first.model.title} on Small questions: result withdrawn"
    assert rescored["title"] == f"{site.second.model.title} on Small questions: scores computed again"
    assert withdrawn["summary"] == "<b>Mixed up</b>"
    assert withdrawn["link"] == "http://testserver/history/"
    assert rescored["link"] == f"http://testserver/runs/{site.second.pk}/"
    assert len({entry["id"] for entry in shown}) == len(shown)


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


# /board.parquet : what pandas and DuckDB read from a running site.


def read(client: Client) -> pd.DataFrame:
    response = client.get("/board.parquet")
    assert response.status_code == 200
    return pd.read_parquet(BytesIO(response.getvalue()))


def test_each_score_of_the_api_is_a_row_with_its_run(client: Client, site: Site) -> None:
    rows = read(client)
    assert set(rows["run"]) == set(Run.objects.filter(state=Run.State.FINISHED).values_list("pk", flat=True))
    for run, scores in rows.groupby("run"):
        about = client.get(f"/api/v1/runs/{run}").json()
        names = ["metric", "dimension", "group", "value", "n", "low", "high"]
        assert scores["model"].unique() == [about["model"]["hub_id"]]
        assert scores["version"].unique() == [about["benchmark"]["version"]]
        assert json.loads(scores["settings"].iloc[0]) == about["settings"]
        assert scores["provenance"].unique() == [about["provenance"]]
        expected = pd.DataFrame(client.get(f"/api/v1/runs/{run}/scores").json()["scores"])[names]
        figures = scores[names].reset_index(drop=True)
        pd.testing.assert_frame_equal(figures, expected.astype(figures.dtypes), check_exact=False)


def test_columns_have_types_also_where_nothing_is_known(client: Client) -> None:
    make.finished(make.benchmark(), None, make.model(parameters=None))
    rows = read(client)
    assert pd.isna(rows["parameters"].iloc[0])
    assert rows["finished"].dt.tz is not None
    assert rows["value"].dtype == "float64"


def test_a_site_without_results_has_a_file_without_rows(client: Client) -> None:
    assert list(read(client).columns) == [*history.FACTS, *history.SCORES]


@pytest.mark.django_db(transaction=True)
def test_it_is_made_once_for_the_same_data_and_again_after_a_result(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = make.benchmark()
    make.finished(benchmark)
    first = client.get("/board.parquet")["ETag"]
    with monkeypatch.context() as patch:
        patch.setattr(history, "_write", None)
        assert client.get("/board.parquet", headers={"If-None-Match": first}).status_code == 304
    make.finished(benchmark)
    assert client.get("/board.parquet")["ETag"] != first
    assert read(client)["run"].nunique() == 2
    assert len(list(history.board_file().parent.glob("*.parquet"))) == 1


def test_a_part_of_it_can_be_asked_for(client: Client) -> None:
    make.finished(make.benchmark())
    whole = client.get("/board.parquet").getvalue()
    end = client.get("/board.parquet", headers={"Range": "bytes=-4"})
    assert (end.status_code, end.getvalue()) == (206, b"PAR1")
    assert end["Content-Range"] == f"bytes {len(whole) - 4}-{len(whole) - 1}/{len(whole)}"
    head = client.head("/board.parquet")
    assert (head["Content-Length"], head["Accept-Ranges"]) == (str(len(whole)), "bytes")
    assert client.get("/board.parquet", headers={"Range": f"bytes={len(whole)}-"}).status_code == 416
    assert client.post("/board.parquet").status_code == 405
