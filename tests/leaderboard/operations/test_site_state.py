"""The health of each part, which neither hangs nor piles up threads, and figures about the queue and its outcomes."""

import time
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event, active_count
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone
from rq import Worker

from leaderboard.models import Run, RunEvent
from leaderboard.operations import site_state
from leaderboard.redis_server import embedded_server
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db


def test_the_database_and_redis_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert site_state.database().ok
    assert not site_state.redis().ok
    with embedded_server():
        assert site_state.redis().ok


def test_the_storage_is_written_read_and_left_as_it_was(data: Path) -> None:
    assert site_state.storage().ok
    assert [path for path in (data / "artefacts").rglob("*") if path.is_file()] == []


def test_a_storage_that_cannot_be_written_fails(data: Path) -> None:
    (data / "artefacts").write_text("a file where the folder should be")
    parts = site_state.Watch().health()
    assert (parts["storage"].ok, parts["database"].ok) == (False, True)
    assert str(data) not in parts["storage"].message


def test_the_age_of_the_newest_worker_is_told(rq_worker: Worker) -> None:
    assert site_state.workers() == site_state.Health(False, "No worker has sent a heartbeat for 2 minutes.")
    rq_worker.register_birth()
    health_of_workers = site_state.workers()
    assert health_of_workers.ok and health_of_workers.seconds is not None and health_of_workers.seconds < 30
    assert health_of_workers.message.startswith("1 worker is alive")


def test_a_part_that_raises_fails_without_telling_strangers_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Any:
        raise OperationalError("could not connect to postgres://user:password@host/name")

    monkeypatch.setitem(site_state.PARTS, "database", fail)
    part = site_state.Watch().health()["database"]
    assert (part.ok, part.message) == (False, "The part database fails; the log says why.")


def test_a_part_that_hangs_fails_in_time_and_occupies_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    released = Event()

    def hang() -> site_state.Health:
        released.wait(60)
        return site_state.Health(True, "late")

    monkeypatch.setattr(site_state, "TIMEOUT", 0.3)
    monkeypatch.setitem(site_state.PARTS, "queue", hang)
    watch, before = site_state.Watch(), active_count()
    began = time.monotonic()
    for _ in range(6):
        assert not watch.health()["queue"].ok
    assert time.monotonic() - began < 20
    assert active_count() - before <= len(site_state.PARTS)
    released.set()
    watch.threads.shutdown()
    assert watch.health()["queue"].ok


def test_an_answer_is_given_again_for_a_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = []
    monkeypatch.setitem(site_state.PARTS, "storage", lambda: checks.append(1) or site_state.Health(True, ""))
    watch = site_state.Watch()
    for _ in range(5):
        watch.health()
    assert len(checks) == 1
    monkeypatch.setattr(site_state, "FRESH", 0)
    watch.health()
    assert len(checks) == 2


State = Run.State
HOUR = timedelta(hours=1)


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def ages_of(number: int, p50: float, p90: float, longest: float) -> dict[str, float]:
    return {"number": number, "p50": p50, "p90": p90, "longest": longest}


def test_ages_are_median_ninth_decile_and_longest() -> None:
    assert site_state.ages([]) == ages_of(0, 0, 0, 0)
    assert site_state.ages([5]) == ages_of(1, 5, 5, 5)
    assert site_state.ages([10, 1, 2, 3, 4, 5, 6, 7, 8, 9]) == ages_of(10, 5, 9, 10)


def waiting(age: timedelta, now: datetime, **fields: object) -> Run:
    run = make.run(make.model(), make.Benchmark.objects.first() or make.benchmark(), **fields)
    Run.objects.filter(pk=run.pk).update(created=now - age)
    return run


def test_the_age_of_the_queue_is_that_of_the_runs_that_wait_now_in_each_queue(now: datetime) -> None:
    for hours in (1, 2, 3):
        waiting(hours * HOUR, now)
    waiting(5 * HOUR, now, queue="measure-large", state=State.WAITING)
    waiting(99 * HOUR, now, state=State.FINISHED)
    waiting(99 * HOUR, now, state=State.SCORING)
    ages = site_state.waiting_ages(now)
    assert ages == {
        "measure": ages_of(3, 7200, 10800, 10800),
        "measure-large": ages_of(1, 18000, 18000, 18000),
    }


def test_a_run_that_was_submitted_again_waits_since_it_ended(now: datetime) -> None:
    run = waiting(99 * HOUR, now)
    for state, hours in ((State.FAILED, 2), (State.QUEUED, 1)):
        event = RunEvent.objects.create(run=run, state=state)
        RunEvent.objects.filter(pk=event.pk).update(time=now - hours * HOUR)
    assert site_state.waiting_ages(now)["measure"]["longest"] == 7200


def test_success_counts_measured_runs_of_the_last_thirty_days(now: datetime) -> None:
    on = make.benchmark()
    assert site_state.outcomes(now)["success"] is None
    for state, days in ((State.FINISHED, 1), (State.FINISHED, 2), (State.FINISHED, 31), (State.FAILED, 3)):
        make.run(make.model(), on, state, finished=now - timedelta(days=days))
    make.run(make.model(), on, State.CANCELLED, finished=now)
    make.published(on)
    assert site_state.outcomes(now) == {"finished": 2, "failed": 1, "success": pytest.approx(2 / 3)}


def test_the_delay_before_the_start_counts_runs_that_started_lately(now: datetime) -> None:
    assert site_state.start_delays(now) == ages_of(0, 0, 0, 0)
    for minutes, days in ((10, 0), (20, 1), (99, 31)):
        begun = now - timedelta(days=days)
        waiting(timedelta(days=days, minutes=minutes), now, state=State.SCORING, started=begun)
    assert site_state.start_delays(now) == ages_of(2, 600, 1200, 1200)
