"""Lists of the API come in pages, and a cursor goes on where a reader stopped."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from leaderboard.api import parameters
from leaderboard.models import Run
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site


@pytest.fixture(autouse=True)
def _two_entries_per_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parameters, "ENTRIES_PER_PAGE", 2)


def pages(client: Client, address: str) -> Iterator[dict[str, Any]]:
    """Yield every page of a list, from one to the `next`."""
    following: str | None = address
    while following:
        answer = client.get(following).json()
        yield answer
        following = answer["next"]


@pytest.mark.parametrize(
    ("route", "entries"),
    [
        ("runs", "runs"),
        ("changes", "changes"),
        ("overview?sort=-small", "rows"),
        ("benchmarks/small/items?order=file", "items"),
        ("runs/{run}/items", "items"),
        ("runs/{run}/items?relation=P36", "items"),
    ],
)
def test_pages_by_cursor_are_pages_by_number(client: Client, site: Site, route: str, entries: str) -> None:
    address = f"/api/v1/{route.format(run=site.first.pk)}"
    by_cursor = list(pages(client, address))
    assert len(by_cursor) > 1 or entries == "changes"
    for number, answer in enumerate(by_cursor, start=1):
        same = client.get(f"{address}{'&' if '?' in address else '?'}page={number}").json()
        assert (answer["page"], answer[entries]) == (number, same[entries])
        assert len(answer[entries]) == 2 or number == len(by_cursor)


def test_a_run_that_is_added_in_the_meantime_moves_nothing(client: Client, site: Site) -> None:
    before = [run["run"] for page in pages(client, "/api/v1/runs") for run in page["runs"]]
    first = client.get("/api/v1/runs").json()
    make.run(make.model("org/added"), site.benchmark, Run.State.QUEUED)
    rest = [run["run"] for page in pages(client, first["next"]) for run in page["runs"]]
    assert [run["run"] for run in first["runs"]] + rest == before


@pytest.mark.parametrize("route", ["runs", "overview", "runs/{run}/items", "benchmarks/small/items"])
@pytest.mark.parametrize("cursor", ["nothing", "9" * 30, "9" * 200, "-1"])
def test_a_cursor_that_names_nothing_is_refused(client: Client, site: Site, route: str, cursor: str) -> None:
    response = client.get(f"/api/v1/{route.format(run=site.first.pk)}", {"cursor": cursor})
    assert response.status_code == 400
    assert response.json()["error"]["next_step"] == "Begin again without cursor."


def test_a_page_and_a_cursor_are_refused_together(client: Client, site: Site) -> None:
    response = client.get("/api/v1/runs?cursor=3&page=2")
    assert (response.status_code, response.json()["error"]["next_step"]) == (400, "Send one of them.")
