"""The runs that wait, kept until the queue changes, and in the order in which workers take them."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard import schedule
from leaderboard.figures import progress
from leaderboard.figures.queued_runs import queued_runs, started_by_lane
from leaderboard.models import Benchmark, Model, Run, RunPart
from tests.leaderboard import factories as make


@pytest.fixture
def tiny(transactional_db: None) -> Benchmark:
    return make.benchmark()


def waiting(benchmark: Benchmark, **fields: object) -> Run:
    run = make.run(make.model(), benchmark, **{"waiting_work": 60, **fields})
    RunPart.objects.create(run=run, relation="P30", template=0, items=30, work=60)
    return run


def number_of_queries() -> int:
    with CaptureQueriesContext(connection) as captured:
        queued_runs()
    return len(captured)


def kept_line(lane: str = "default") -> list[int]:
    return queued_runs().line(lane, started_by_lane([lane])[lane])


def line_of_workers(lane: str = "default") -> list[int]:
    """Return the runs of a lane as workers read them from the database."""
    return [turn.run for turn in schedule.turns(lane)]


def test_the_queue_is_read_again_only_after_it_has_changed(tiny: Benchmark) -> None:
    run = waiting(tiny)
    assert number_of_queries() > 1
    assert number_of_queries() == 1
    RunPart.objects.update(items_done=1)
    assert number_of_queries() == 1
    Run.objects.filter(pk=run.pk).delete()
    assert number_of_queries() > 1


def test_pages_have_the_order_in_which_workers_take_runs(tiny: Benchmark) -> None:
    """The order that is kept agrees with the database after every step of the life of a queue."""
    runs = [waiting(tiny, submitter=submitter) for submitter in ("a", "a", "b", "a", "c")]
    waiting(tiny, lane="large")
    assert kept_line() == line_of_workers()
    now = timezone.now()
    steps = (
        lambda: Run.objects.move(runs[0], Run.State.DOWNLOADING),
        lambda: Run.objects.move(runs[0], Run.State.SCORING),
        lambda: runs[0].parts.update(worker="w", lease_until=now + timedelta(minutes=1)),
        lambda: runs[0].parts.update(lease_until=None, done=True),
        lambda: Run.objects.move(runs[0], Run.State.AGGREGATING),
        lambda: Run.objects.move(runs[0], Run.State.FINISHED, started=now, finished=now),
        lambda: Run.objects.fail(runs[2], "lost-worker", "Its worker was lost."),
        lambda: Run.objects.restart(runs[2]),
        lambda: runs[3].delete(),
        lambda: waiting(tiny, submitter="d"),
    )
    for number, step in enumerate(steps):
        step()
        for lane in schedule.LANES:
            assert kept_line(lane) == line_of_workers(lane), f"after step {number}"


def test_a_run_that_has_begun_since_stands_in_the_line_once(tiny: Benchmark) -> None:
    run, other = waiting(tiny), waiting(tiny)
    queued = queued_runs()
    assert Run.objects.move(run, Run.State.DOWNLOADING)
    assert sorted(queued.line("default", started_by_lane(["default"])["default"])) == [run.pk, other.pk]


def test_the_time_that_a_run_needs_follows_what_is_known_of_its_model(tiny: Benchmark) -> None:
    done = make.finished(tiny, of=make.model(parameters=10**9))
    RunPart.objects.create(run=done, relation="P30", template=0, items=600, work=600, done=True)
    run = waiting(tiny)
    Model.objects.filter(pk=run.model_id).update(parameters=10**9)
    assert queued_runs().needed[run.pk] == 60.0
    Model.objects.filter(pk=run.model_id).update(parameters=2 * 10**9)
    assert queued_runs().needed[run.pk] == 120.0


def test_the_place_of_a_run_is_right_at_once_for_every_reader(tiny: Benchmark) -> None:
    first, second = waiting(tiny), waiting(tiny)
    positions = {row.run.pk: row.position for row in progress.queue(0, 10).waiting}
    assert positions == {first.pk: 1, second.pk: 2}
    first.delete()
    assert [(row.run.pk, row.position) for row in progress.queue(0, 10).waiting] == [(second.pk, 1)]


def test_what_waits_for_the_hub_has_no_place(tiny: Benchmark) -> None:
    resting = waiting(tiny, state=Run.State.WAITING)
    assert queued_runs().resting == [resting.pk]
    assert kept_line() == []
