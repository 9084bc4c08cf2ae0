"""Figures about the queue and its outcomes."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from leaderboard.models import Run, RunEvent
from leaderboard.operations import site_state
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db
State = Run.State
HOUR = timedelta(hours=1)


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def test_ages_are_median_ninth_decile_and_longest() -> None:
    assert site_state.ages([]) == site_state.Ages(0, 0, 0, 0)
    assert site_state.ages([5]) == site_state.Ages(1, 5, 5, 5)
    assert site_state.ages([10, 1, 2, 3, 4, 5, 6, 7, 8, 9]) == site_state.Ages(10, 5, 9, 10)


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
        "measure": site_state.Ages(3, 7200, 10800, 10800),
        "measure-large": site_state.Ages(1, 18000, 18000, 18000),
    }


def test_a_run_that_was_submitted_again_waits_since_it_ended(now: datetime) -> None:
    run = waiting(99 * HOUR, now)
    for state, hours in ((State.FAILED, 2), (State.QUEUED, 1)):
        event = RunEvent.objects.create(run=run, state=state)
        RunEvent.objects.filter(pk=event.pk).update(time=now - hours * HOUR)
    assert site_state.waiting_ages(now)["measure"].longest == 7200


def test_success_counts_measured_runs_of_the_last_thirty_days(now: datetime) -> None:
    on = make.benchmark()
    assert site_state.outcomes(now).success is None
    for state, days in ((State.FINISHED, 1), (State.FINISHED, 2), (State.FINISHED, 31), (State.FAILED, 3)):
        make.run(make.model(), on, state, finished=now - timedelta(days=days))
    make.run(make.model(), on, State.CANCELLED, finished=now)
    make.published(on)
    assert site_state.outcomes(now) == site_state.Outcomes(2, 1)
    assert site_state.outcomes(now).success == pytest.approx(2 / 3)


def test_the_delay_before_the_start_counts_runs_that_started_lately(now: datetime) -> None:
    assert site_state.start_delays(now) == site_state.Ages()
    for minutes, days in ((10, 0), (20, 1), (99, 31)):
        begun = now - timedelta(days=days)
        waiting(timedelta(days=days, minutes=minutes), now, state=State.SCORING, started=begun)
    assert site_state.start_delays(now) == site_state.Ages(2, 600, 1200, 1200)
