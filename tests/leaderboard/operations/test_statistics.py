"""Figures about the queue and its outcomes."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from leaderboard.models import Run, RunEvent, RunPart
from leaderboard.operations import statistics
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db
State = Run.State
HOUR = timedelta(hours=1)


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def test_ages_are_median_ninth_decile_and_longest() -> None:
    assert statistics.ages([]) == statistics.Ages(0, 0, 0, 0)
    assert statistics.ages([5]) == statistics.Ages(1, 5, 5, 5)
    assert statistics.ages([10, 1, 2, 3, 4, 5, 6, 7, 8, 9]) == statistics.Ages(10, 5, 9, 10)


def waiting(age: timedelta, now: datetime, **fields: object) -> Run:
    run = make.run(make.model(), make.Benchmark.objects.first() or make.benchmark(), **fields)
    Run.objects.filter(pk=run.pk).update(created=now - age)
    return run


def test_the_age_of_the_queue_is_that_of_the_runs_that_wait_now_in_each_lane(now: datetime) -> None:
    for hours in (1, 2, 3):
        waiting(hours * HOUR, now)
    waiting(5 * HOUR, now, lane="large", state=State.WAITING)
    waiting(99 * HOUR, now, state=State.FINISHED)
    waiting(99 * HOUR, now, state=State.SCORING)
    ages = statistics.waiting_ages(now)
    assert ages == {"default": statistics.Ages(3, 7200, 10800, 10800), "large": statistics.Ages(1, 18000, 18000, 18000)}


def test_a_run_that_was_submitted_again_waits_since_it_ended(now: datetime) -> None:
    run = waiting(99 * HOUR, now)
    for state, hours in ((State.FAILED, 2), (State.QUEUED, 1)):
        event = RunEvent.objects.create(run=run, state=state)
        RunEvent.objects.filter(pk=event.pk).update(time=now - hours * HOUR)
    assert statistics.waiting_ages(now)["default"].longest == 7200


def test_success_counts_measured_runs_of_the_last_thirty_days(now: datetime) -> None:
    on = make.benchmark()
    assert statistics.outcomes(now).success is None
    for state, days in ((State.FINISHED, 1), (State.FINISHED, 2), (State.FINISHED, 31), (State.FAILED, 3)):
        make.run(make.model(), on, state, finished=now - timedelta(days=days))
    make.run(make.model(), on, State.CANCELLED, finished=now)
    make.published(on)
    assert statistics.outcomes(now) == statistics.Outcomes(2, 1)
    assert statistics.outcomes(now).success == pytest.approx(2 / 3)


def test_failures_are_counted_by_code_with_the_last_run(now: datetime) -> None:
    on = make.benchmark()
    runs = [
        make.run(make.model(), on, State.FAILED, code=code, finished=now)
        for code in ("no-space", "timeout", "no-space")
    ]
    rows = statistics.failures(now)
    assert [(row.code, row.number, row.last) for row in rows] == [("no-space", 2, runs[2]), ("timeout", 1, runs[1])]


def test_a_run_in_progress_that_nobody_works_on_is_forsaken(now: datetime) -> None:
    on = make.benchmark()
    held, lost = make.running(make.model(), on), make.running(make.model(), on)
    RunEvent.objects.update(time=now - HOUR)
    RunPart.objects.filter(run=lost).update(lease_until=None)
    RunPart.objects.filter(run=held).update(lease_until=now + timedelta(seconds=20), worker="here")
    assert statistics.forsaken_runs(now, timedelta(minutes=10)) == [lost]


def test_items_of_finished_parts_count_as_scored() -> None:
    run = make.running(make.model(), make.benchmark(), done=50, items=100)
    RunPart.objects.create(run=run, relation="P31", template=0, items=70, done=True)
    assert statistics.items_scored() == 70
