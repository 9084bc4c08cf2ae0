"""/queue/ : runs that are being measured, those that wait, and recent failures."""

from django.test import Client

from leaderboard.models import Run
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
