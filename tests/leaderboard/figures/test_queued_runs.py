"""The runs that wait, kept until the queue changes, and in the order in which workers begin them."""

import time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.figures import progress
from leaderboard.figures.queued_runs import queued_runs
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


def test_the_queue_is_read_again_only_after_it_has_changed(tiny: Benchmark) -> None:
    run = waiting(tiny)
    assert number_of_queries() > 1
    assert number_of_queries() == 1
    RunPart.objects.update(items_done=1)
    make.claimed(make.run(make.model(), tiny, Run.State.SCORING)).delete()
    assert number_of_queries() <= 4
    assert number_of_queries() == 1
    Run.objects.put_in(run)
    assert number_of_queries() > 1
    Run.objects.filter(pk=run.pk).delete()
    assert number_of_queries() > 1


def test_pages_have_the_order_in_which_workers_begin_runs(tiny: Benchmark) -> None:
    runs = [waiting(tiny, submitter=submitter) for submitter in ("a", "a", "a", "b", "a", "c")]
    large = waiting(tiny, queue="measure-large")
    for run in (runs[5], runs[0]):
        Run.objects.put_in(run)
        time.sleep(0.01)  # SQLite's times have milliseconds
    assert queued_runs().lines == {
        "measure": [runs[number].pk for number in (5, 0, 1, 3, 2, 4)],
        "measure-large": [large.pk],
    }
    assert Run.objects.move(runs[5], Run.State.DOWNLOADING)
    assert queued_runs().lines["measure"] == [runs[number].pk for number in (0, 1, 3, 2, 4)]


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
