"""Snapshots: frozen tables have an address of their own, equal bytes for equal data, and stay as they were."""

import hashlib
import json
import re

import pytest
from django.test import Client

from leaderboard.figures import history
from leaderboard.models import Model, Score, Snapshot
from leaderboard.operations.freezing import freeze, freeze_site
from leaderboard.pages.history_pages import column_title
from probing.errors import BadInput
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
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


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("model", "Model"),
        ("bear", "BEAR"),
        ("bear_low", "BEAR, low end"),
        ("bear_standard_error", "BEAR, standard error"),
        ("n", "Items"),
        ("accuracy_cluster_high", "Accuracy, high end on other relations"),
    ],
)
def test_the_columns_of_frozen_tables_have_titles_for_people(name: str, title: str) -> None:
    assert column_title(name, {"bear": "BEAR"}) == title


def test_freezing_is_asked_in_place(client: Client, site: Site) -> None:
    html = client.get(BOARD).content.decode()
    assert re.search(r'hx-get="/snapshots/new/\?of=[^"]+"\s+hx-target="next .freeze-here"\s+hx-select="#freeze"', html)
    asked = client.get(f"/snapshots/new/?of={BOARD}").content.decode()
    assert '<div id="freeze"' in asked and "cannot be changed or removed afterwards" in asked


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


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("/nowhere/at/all/", "There is no page"),
        ("/queue/", "cannot be frozen"),
        ("/runs/{run}/items/", "cannot be frozen"),
        ("/admin/", "cannot be frozen"),
        ("/snapshots/new/", "cannot be frozen"),
        ("/benchmarks/small/?table=nonsense", "no table of that name"),
    ],
)
def test_other_pages_are_refused_with_a_reason(client: Client, site: Site, address: str, reason: str) -> None:
    address = address.format(run=site.first.pk)
    response = client.post("/snapshots/new/", {"of": address})
    assert response.status_code == 400
    assert reason in response.content.decode()
    assert not Snapshot.objects.exists()


@pytest.mark.parametrize(
    "address",
    [
        *("", "https://example.org/", "javascript:alert(1)", "//example.org/", "/\\example.org/"),
        *("/benchmarks/small/?search=%00", "/benchmarks/small/?search=\0", f"/?{'x' * 5000}"),
    ],
)
def test_addresses_elsewhere_are_not_found(client: Client, site: Site, address: str) -> None:
    assert client.get("/snapshots/new/", {"of": address}).status_code in (400, 404, 414)
    assert client.post("/snapshots/new/", {"of": address}).status_code == 404


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
