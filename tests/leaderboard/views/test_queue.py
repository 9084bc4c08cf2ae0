"""/queue/ : runs that are being measured, those that wait, and recent failures."""

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.models import Benchmark, Run, RunPart
from leaderboard.operations.workers import LiveWorker
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows


def test_a_running_run_has_no_position_and_the_others_count_from_one(client: Client, db: None) -> None:
    benchmark = make.benchmark()
    make.run(make.model("org/first"), benchmark)
    make.run(make.model("org/second"), benchmark)
    make.running(make.model("org/running"), benchmark, done=25)
    rows = csv_rows(client, "/queue/")
    assert [(row["model"], row["position"], row["progress"]) for row in rows] == [
        ("org/running", "", "25"),
        ("org/first", "1", "0"),
        ("org/second", "2", "0"),
    ]


def test_a_waiting_run_shows_a_range_and_csv_has_both_ends(client: Client, db: None) -> None:
    benchmark = make.benchmark()
    for work in (600, 1200):  # in ten minutes
        RunPart.objects.create(run=make.finished(benchmark), relation="P30", template=0, items=10, work=work, done=True)
    run = make.run(make.model("org/waiting"), benchmark)
    RunPart.objects.create(run=run, relation="P30", template=0, items=10, work=1200)
    (row,) = csv_rows(client, "/queue/")
    assert (row["seconds_left_low"], row["seconds_left_high"]) == ("632", "1091")
    for address in ("/queue/", run.get_absolute_url()):
        assert "11 to 18 min" in client.get(address).content.decode()


def test_the_lane_is_shown_where_there_are_several(client: Client, db: None) -> None:
    benchmark = make.benchmark()
    make.run(make.model(), benchmark)
    assert ">Lane" not in client.get("/queue/").content.decode()
    make.run(make.model(), benchmark, lane="large")
    assert ">Lane" in client.get("/queue/").content.decode()
    assert [(row["lane"], row["position"]) for row in csv_rows(client, "/queue/")] == [("default", "1"), ("large", "1")]


def test_runs_that_ended_without_a_result_say_why(client: Client, db: None) -> None:
    benchmark = make.benchmark()
    make.run(make.model("org/failed"), benchmark, Run.State.FAILED, code="no-space", message="The disk is full.")
    make.run(make.model("org/cancelled"), benchmark, Run.State.CANCELLED, message="No longer wanted.")
    rows = {row["model"]: (row["code"], row["reason"]) for row in csv_rows(client, "/queue/", "failed")}
    assert rows == {
        "org/failed": ("no-space", "The disk is full."),
        "org/cancelled": ("cancelled", "No longer wanted."),
    }


def test_the_page_refreshes_only_while_runs_are_open(client: Client, db: None) -> None:
    assert "hx-trigger" not in client.get("/queue/").content.decode()
    make.running(make.model(), make.benchmark())
    assert "hx-trigger" in client.get("/queue/").content.decode()


def test_the_page_says_when_no_worker_is_there(
    client: Client, db: None, small: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = "No worker has given a sign of life"
    assert sentence not in client.get("/queue/").content.decode(), "nothing waits"
    make.run(make.model("org/waits"), small)
    assert sentence in client.get("/queue/").content.decode()
    worker = LiveWorker("host-1", timezone.now())
    monkeypatch.setattr("leaderboard.views.queue.live_workers", lambda: [worker])
    assert sentence not in client.get("/queue/").content.decode()
