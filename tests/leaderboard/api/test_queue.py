"""/api/v1/queue has the open runs of the queue page."""

import pytest
from django.test import Client

from leaderboard.api import parameters
from leaderboard.api import submission_routes as queue_route
from leaderboard.models import Benchmark, Run
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows


def test_open_runs_have_the_rows_of_the_pages_csv(client: Client, small: Benchmark) -> None:
    make.run(make.model("org/working"), small, Run.State.SCORING)
    for number in range(3):
        make.run(make.model(f"org/waiting-{number}"), small, Run.State.QUEUED)
    answer = client.get("/api/v1/queue").json()
    rows = [*answer["working"], *answer["waiting"]]
    assert [row["model"] for row in rows] == [row["model"] for row in csv_rows(client, "/queue/")]
    assert (answer["number_waiting"], answer["next"]) == (len(answer["waiting"]), None)


def test_the_queue_is_read_once(client: Client, small: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    read, places = queue_route.queue, []
    monkeypatch.setattr(queue_route, "queue", lambda *place: places.append(place) or read(*place))
    make.run(make.model(), small, Run.State.QUEUED)
    assert len(client.get("/api/v1/queue").json()["waiting"]) == 1
    assert places == [(0, 200)]


@pytest.mark.parametrize("page", [3, 10**30])
def test_a_page_beyond_the_last_one_is_the_last(
    client: Client, small: Benchmark, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(parameters, "ENTRIES_PER_PAGE", 2)
    for number in range(3):
        make.run(make.model(f"org/waiting-{number}"), small, Run.State.QUEUED)
    answer = client.get(f"/api/v1/queue?page={page}").json()
    assert answer == client.get("/api/v1/queue?page=2").json()
    assert (answer["page"], len(answer["waiting"])) == (2, 1)


def test_the_address_of_the_next_page_goes_on_behind_the_last_run(
    client: Client, small: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parameters, "ENTRIES_PER_PAGE", 2)
    for number in range(3):
        make.run(make.model(f"org/waiting-{number}"), small, Run.State.QUEUED)
    first = client.get("/api/v1/queue").json()
    second = client.get(first["next"]).json()
    models = [row["model"] for answer in (first, second) for row in answer["waiting"]]
    assert models == [f"org/waiting-{number}" for number in range(3)]
    assert second["next"] is None
