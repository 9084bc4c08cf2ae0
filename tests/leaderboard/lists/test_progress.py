"""Progress of runs, and the queue: order, positions, expected times."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from leaderboard.lists import progress
from leaderboard.lists.progress import Progress, estimate
from leaderboard.models import Benchmark, Run, RunPart
from tests.leaderboard import factories as make

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def test_running_runs_come_first_without_a_position(small: Benchmark) -> None:
    waiting = [make.run(make.model(), small) for _ in range(2)]
    going = make.running(make.model(), small)
    assert [(row.run.pk, row.position) for row in progress.queue()] == [
        (going.pk, 0),
        (waiting[0].pk, 1),
        (waiting[1].pk, 2),
    ]


def test_waiting_times_add_up_at_the_speed_of_recent_runs(small: Benchmark) -> None:
    done = make.finished(small)  # 600 seconds
    RunPart.objects.create(run=done, relation="P30", template=0, items=600, work=1200, done=True)
    make.running(make.model(), small, done=40, items=100)
    later = make.run(make.model(), small)
    RunPart.objects.create(run=later, relation="P30", template=0, items=30, work=600)
    assert [row.left for row in progress.queue()] == [timedelta(seconds=30), timedelta(seconds=330)]


def test_there_is_no_waiting_time_without_a_finished_run(small: Benchmark) -> None:
    make.running(make.model(), small)
    assert progress.queue()[0].left is None


def test_a_finished_run_is_not_in_the_queue(small: Benchmark) -> None:
    make.finished(small)
    assert not Run.objects.filter(pk__in=[row.run.pk for row in progress.queue()]).exists()


def test_a_run_that_waits_for_space_adds_no_time_and_has_none(small: Benchmark) -> None:
    done = make.finished(small)  # 600 seconds
    RunPart.objects.create(run=done, relation="P30", template=0, items=600, work=600, done=True)
    stuck = make.running(make.model(), small)
    Run.objects.move(stuck, Run.State.WAITING)
    last = make.run(make.model(), small)
    RunPart.objects.create(run=last, relation="P30", template=0, items=30, work=60)
    rows = progress.queue()
    assert [(row.run.pk, row.left) for row in rows] == [(stuck.pk, None), (last.pk, timedelta(seconds=60))]


@pytest.mark.parametrize(("share", "percent"), [(0.0, 0), (0.999, 99), (0.29, 29), (1 - 1e-12, 100), (1.0, 100)])
def test_percent_is_rounded_down_except_for_errors_of_floats(share: float, percent: int) -> None:
    assert Progress(0, 0, share).percent == percent


def test_nothing_is_left_of_a_run_whose_work_is_done() -> None:
    done = estimate(150, 150, 1.0, 1.0, NOW - timedelta(seconds=10), NOW)
    assert (done.left, done.rate) == (timedelta(), None)


def test_the_time_left_goes_by_work_and_not_by_items() -> None:
    halfway = estimate(50, 150, 0.2, 0.2, NOW - timedelta(seconds=10), NOW)
    assert (halfway.rate, halfway.left, halfway.percent) == (2.5, timedelta(seconds=40), 20)


def test_work_that_was_done_before_does_not_count_for_the_pace() -> None:
    assert estimate(90, 150, 0.6, 0.1, NOW - timedelta(seconds=10), NOW).left == timedelta(seconds=40)


def test_a_run_goes_by_the_work_of_its_parts(small: Benchmark) -> None:
    run = make.running(make.model(), small, done=50, items=100)  # in the last minute
    run.events.update(time=timezone.now() - timedelta(minutes=1))
    heavy = {"template": 0, "items": 10, "work": 900}
    RunPart.objects.create(run=run, relation="P36", **heavy)
    now = progress.progress(run)
    assert (now.done, now.total, now.percent) == (50, 110, 5)
    assert now.left.total_seconds() == pytest.approx(60 * 19, rel=0.05)

    record = {"end": "2026-10-31T00:00:00+00:00"}
    RunPart.objects.create(run=run, relation="P19", **heavy, items_done=10, done=True, record=record)
    now = progress.progress(run)
    assert now.percent == 50
    assert now.left.total_seconds() == pytest.approx(60 * 19, rel=0.05), "the pace is that since scoring began"


@pytest.mark.parametrize("began", [None, NOW])
def test_there_is_no_estimate_before_anything_is_done(began: datetime | None) -> None:
    assert estimate(0, 150, 0.0, 0.0, began, NOW).left is None
