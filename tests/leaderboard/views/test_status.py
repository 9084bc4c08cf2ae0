"""/status/ : waiting times, success, workers and failures."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.models import LEASE, Benchmark, Run, RunPart, Submission
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def on() -> Benchmark:
    return make.benchmark()


def test_an_empty_site_says_that_nothing_has_happened(client: Client) -> None:
    page = client.get("/status/").content.decode()
    for words in ("no run has ended", "No worker has reported lately", "No run has failed", "Nothing has been"):
        assert words in page
    assert 'href="/status/"' in client.get("/").content.decode()


def test_the_share_of_runs_with_a_result_is_shown(client: Client, on: Benchmark) -> None:
    for state in (Run.State.FINISHED, Run.State.FINISHED, Run.State.FINISHED, Run.State.FAILED):
        make.run(make.model(), on, state, finished=timezone.now())
    page = client.get("/status/").content.decode()
    assert "75 %" in page
    assert "3 finished, 1 failed" in page


def test_waiting_times_are_those_of_each_lane_and_of_the_past(client: Client, on: Benchmark) -> None:
    now = timezone.now()
    for lane, hours in (("default", 1), ("default", 2), ("default", 3), ("large", 5)):
        run = make.run(make.model(), on, lane=lane)
        Run.objects.filter(pk=run.pk).update(created=now - timedelta(hours=hours))
    begun = make.run(make.model(), on, Run.State.SCORING, started=now)
    Run.objects.filter(pk=begun.pk).update(created=now - timedelta(minutes=10))
    rows = {row["what"]: row for row in csv_rows(client, "/status/")}
    assert rows["Waiting now, lane default"]["number"] == "3"
    assert float(rows["Waiting now, lane default"]["p50_seconds"]) == pytest.approx(7200, abs=60)
    assert float(rows["Waiting now, lane large"]["longest_seconds"]) == pytest.approx(18000, abs=60)
    assert float(rows["Before the start, last 30 days"]["p90_seconds"]) == pytest.approx(600, abs=60)


def test_a_worker_is_shown_with_what_it_works_on(client: Client, on: Benchmark) -> None:
    run = make.running(make.model("org/causal"), on)
    RunPart.objects.update(worker="host-1", lease_until=timezone.now() + LEASE)
    (row,) = csv_rows(client, "/status/", "workers")
    assert (row["worker"], row["lanes"], row["runs"]) == ("host-1", "default", "org/causal on Tiny")
    assert f'href="/runs/{run.pk}/"' in client.get("/status/").content.decode()


def test_failures_and_submissions_are_counted(client: Client, on: Benchmark) -> None:
    for code in ("timeout", "timeout", "no-space"):
        make.run(make.model(), on, Run.State.FAILED, code=code, message=f"About {code}.", finished=timezone.now())
    Submission.objects.create(token="t", model_id="org/new", benchmark=on, state=Submission.State.WAITING)
    rows = csv_rows(client, "/status/", "failures")
    assert {row["code"]: (row["number"], row["reason"]) for row in rows} == {
        "timeout": ("2", "About timeout."),
        "no-space": ("1", "About no-space."),
    }
    counts = csv_rows(client, "/status/", "counts")
    assert [tuple(row.values()) for row in counts] == [
        ("submission", "Waiting for the hub", "1"),
        ("run", "Failed", "3"),
    ]
