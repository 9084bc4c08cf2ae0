"""Which run a worker takes next, decided by the database."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django.fixtures import Settings

from leaderboard import schedule
from leaderboard.models import LEASE, Benchmark, Run, RunEvent, RunPart
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark(db: None) -> Benchmark:
    return make.benchmark()


def queued(benchmark: Benchmark, submitter: str = "", state: Run.State = Run.State.QUEUED, parts: int = 2, **fields):
    run = make.run(make.model(), benchmark, state, submitter=submitter, **fields)
    for number in range(parts):
        RunPart.objects.create(run=run, relation=f"P{number}", template=0, items=10)
    return run


def next_pk(lane: str = "default") -> int | None:
    """Take the next run with all its parts, so that nobody can share it."""
    run = schedule.next_run(lane)
    while run and RunPart.objects.claim(run, "somebody"):
        continue
    return run and run.pk


def test_the_lane_goes_by_the_bytes_of_the_weights(settings: Settings) -> None:
    settings.LARGE_MODEL = 100
    assert [schedule.lane_of(size) for size in (None, 0, 100, 101)] == ["default", "default", "default", "large"]


def test_every_lane_is_a_queue(settings: Settings) -> None:
    assert {*schedule.LANES, "checks"} == set(settings.RQ_QUEUES)


def test_submitters_take_turns(benchmark: Benchmark) -> None:
    first, second, third = (queued(benchmark, "flood") for _ in range(3))
    light = queued(benchmark, "light")
    assert [next_pk() for _ in range(5)] == [first.pk, light.pk, second.pk, third.pk, None]


def test_a_submitter_who_was_just_served_comes_after_one_who_waits(benchmark: Benchmark) -> None:
    flood, light = queued(benchmark, "flood"), queued(benchmark, "light")
    queued(benchmark, "flood", Run.State.FINISHED, finished=timezone.now())
    assert [next_pk(), next_pk()] == [light.pk, flood.pk]


def test_a_run_that_was_cancelled_before_it_had_a_worker_is_no_turn(benchmark: Benchmark) -> None:
    first = queued(benchmark, "a")
    queued(benchmark, "b")
    queued(benchmark, "a", Run.State.CANCELLED, finished=timezone.now())
    assert next_pk() == first.pk


def test_lanes_do_not_see_each_other(benchmark: Benchmark) -> None:
    large, small = queued(benchmark, lane="large"), queued(benchmark)
    assert (next_pk("default"), next_pk("default")) == (small.pk, None)
    assert next_pk("large") == large.pk


@pytest.mark.parametrize("state", ["waiting", "finished", "cancelled", "failed"])
def test_runs_that_cannot_go_on_are_not_given_to_workers(benchmark: Benchmark, state: Run.State) -> None:
    queued(benchmark, state=state)
    assert not schedule.has_work("default")
    assert next_pk() is None


def test_a_queued_run_is_given_to_one_worker_only(benchmark: Benchmark) -> None:
    run = queued(benchmark, parts=1)
    taken = schedule.next_run("default")
    assert (taken.pk, taken.state) == (run.pk, "downloading")
    RunPart.objects.claim(run, "a")
    assert next_pk() is None
    assert not schedule.has_work("default")


def test_an_idle_worker_shares_a_run_only_if_none_waits(benchmark: Benchmark) -> None:
    taken = queued(benchmark)
    schedule.next_run("default")
    RunPart.objects.claim(taken, "a")
    assert schedule.has_work("default")
    assert not schedule.without_worker("default")
    waiting = queued(benchmark)
    assert schedule.without_worker("default") == 1
    assert next_pk() == waiting.pk
    assert next_pk() == taken.pk


def test_of_shared_runs_the_one_with_the_fewest_workers_comes_first(benchmark: Benchmark) -> None:
    many, few = queued(benchmark, parts=4), queued(benchmark, parts=4)
    for run, worker in ((many, "a"), (many, "b"), (few, "c")):
        RunPart.objects.claim(run, worker)
    Run.objects.update(state="scoring")
    assert next_pk() == few.pk


def test_a_run_whose_worker_is_lost_waits_again(benchmark: Benchmark) -> None:
    run = queued(benchmark, state=Run.State.SCORING, parts=1)
    RunPart.objects.claim(run, "a")
    assert next_pk() is None
    run.parts.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert schedule.without_worker("default") == 1
    assert next_pk() == run.pk


def test_a_worker_without_a_lease_keeps_its_run_as_long_as_a_lease_lasts(benchmark: Benchmark) -> None:
    run = queued(benchmark, state=Run.State.DOWNLOADING, parts=1)
    event = RunEvent.objects.create(run=run, state="downloading")
    assert not schedule.without_worker("default")
    RunEvent.objects.filter(pk=event.pk).update(time=timezone.now() - LEASE - timedelta(seconds=1))
    assert schedule.without_worker("default") == 1
    assert next_pk() == run.pk


@pytest.mark.parametrize("state", ["scoring", "aggregating"])
def test_one_worker_finishes_a_run_for_as_long_as_it_takes(benchmark: Benchmark, state: str) -> None:
    run = queued(benchmark, state=state, parts=1)
    run.parts.update(done=True)
    assert schedule.without_worker("default") == 1, "nobody finishes it yet"
    assert Run.objects.claim_finish(run)
    assert not Run.objects.claim_finish(run)
    assert not schedule.has_work("default")
    Run.objects.update(finishing_until=timezone.now() - timedelta(seconds=1))
    assert next_pk() == run.pk, "its worker was lost"
    assert Run.objects.claim_finish(run)
    Run.objects.release_finish(run)
    Run.objects.renew_finish(run)
    assert schedule.has_work("default"), "its worker gave up"


def test_a_worker_leaves_a_shared_run_for_one_that_waits(benchmark: Benchmark) -> None:
    run = queued(benchmark)
    schedule.next_run("default")
    assert not schedule.should_leave(run), "nobody else works on it"
    RunPart.objects.claim(run, "other")
    assert not schedule.should_leave(run), "no run waits"
    queued(benchmark, lane="large")
    assert not schedule.should_leave(run), "the run that waits is in another lane"
    other = queued(benchmark)
    assert schedule.should_leave(run)
    assert schedule.waiting("default") == [other.pk]


@pytest.mark.django_db(transaction=True)
def test_workers_that_ask_at_the_same_time_get_different_runs(benchmark: Benchmark) -> None:
    runs = {queued(benchmark, f"{number}").pk for number in range(8)}

    def take(_: int) -> int | None:
        try:
            run = schedule.next_run("default")
            return run and run.pk
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(take, range(8))) == runs


def test_the_number_of_queries_does_not_depend_on_the_number_of_runs(
    benchmark: Benchmark, django_assert_num_queries
) -> None:
    for number in range(20):
        queued(benchmark, f"{number % 5}", state=Run.State.SCORING if number % 2 else Run.State.QUEUED)
    with django_assert_num_queries(3):
        schedule.turns("default")


@pytest.mark.django_db
def test_the_last_half_millisecond_of_a_second_does_not_count_as_the_next_second() -> None:
    run = make.run(make.model(), make.benchmark())
    time = datetime(2026, 1, 1, 12, 0, 7, 999_700, tzinfo=UTC)
    Run.objects.filter(pk=run.pk).update(created=time)
    (seconds,) = Run.objects.values_list(schedule.EpochSeconds("created"), flat=True)
    assert seconds == pytest.approx(time.timestamp(), abs=1e-4)
