"""/api/v1/queue has the open runs of the queue page."""

import pytest
from django.test import Client

from leaderboard.api import paging
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


def test_the_address_of_the_next_page_goes_on_behind_the_last_run(
    client: Client, small: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "ENTRIES_PER_PAGE", 2)
    for number in range(3):
        make.run(make.model(f"org/waiting-{number}"), small, Run.State.QUEUED)
    first = client.get("/api/v1/queue").json()
    second = client.get(first["next"]).json()
    models = [row["model"] for answer in (first, second) for row in answer["waiting"]]
    assert models == [f"org/waiting-{number}" for number in range(3)]
    assert second["next"] is None
