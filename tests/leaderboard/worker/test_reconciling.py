"""The job that makes RQ agree with the database after anything that Redis or a worker may have lost."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings
from rq import Worker

from leaderboard import redis_server
from leaderboard.figures.ranks import refresh_ranks
from leaderboard.intake import queue
from leaderboard.models import Benchmark, Run, RunEvent, Submission
from leaderboard.worker.reconciling import put_back, reconcile, try_longest_waiting
from tests.leaderboard import factories as make
from tests.leaderboard.intake.test_queue import jobs, make_run

pytestmark = pytest.mark.django_db(transaction=True)


def begun_by_rq(job_name: str, worker: Worker, ttl: int) -> None:
    """Take a job out of its queue, as a worker does when it begins it; it sends no heartbeat for `ttl` seconds."""
    (job,) = (job for job in queue.rq_queue("measure").jobs if job.id == job_name)
    queue.rq_queue("measure").remove(job)
    worker.get_heartbeat_ttl = lambda job: ttl
    worker.prepare_execution(job)
    job.prepare_for_execution(worker.name, redis_server.connection().pipeline())


def test_runs_that_no_worker_has_and_no_queue_are_put_in_again(small: Benchmark, redis: None) -> None:
    lost = [make_run(small, state) for state in ("queued", "downloading", "scoring", "waiting")]
    finishing = make_run(small, "aggregating")
    for state in Run.FINAL:
        make_run(small, state)
    make.claimed(make_run(small, "scoring", "held"))
    make.claimed(make_run(small, "downloading", "silent"), seconds_ago=60)
    silent = Run.objects.get(model__hub_id="org/silent")
    put_back()
    assert set(jobs()) == {f"run-{run.pk}" for run in (*lost, silent)}
    assert jobs("finish") == [f"finish-{finishing.pk}"]
    redis_server.connection().flushall()
    put_back()
    assert set(jobs()) == {f"run-{run.pk}" for run in (*lost, silent)}, "they stand there as far as the database knows"


def test_what_is_in_its_queue_or_has_a_worker_is_left_alone(small: Benchmark, rq_worker: Worker) -> None:
    waiting, going = make_run(small, name="a"), make_run(small, name="b")
    for run in (waiting, going):
        queue.enqueue(run.pk)
    begun_by_rq(f"run-{going.pk}", rq_worker, ttl=60)
    assert put_back() == 2
    assert jobs() == [f"run-{waiting.pk}"]


def test_the_job_of_a_worker_without_heartbeats_is_put_back_by_rq(small: Benchmark, rq_worker: Worker) -> None:
    run = make_run(small)
    queue.enqueue(run.pk)
    begun_by_rq(f"run-{run.pk}", rq_worker, ttl=0)
    put_back()
    assert jobs() == [f"run-{run.pk}"]


def test_a_job_that_rq_gave_up_is_put_in_again_as_the_database_decides(small: Benchmark, redis: None) -> None:
    run = make_run(small)
    queue.enqueue(run.pk)
    (job,) = queue.rq_queue("measure").jobs
    queue.rq_queue("measure").remove(job)
    queue.rq_queue("measure").failed_job_registry.add(job, ttl=60)
    put_back()
    assert jobs() == [f"run-{run.pk}"]


def test_a_place_that_became_free_is_taken_by_the_next_run(small: Benchmark, redis: None) -> None:
    runs = [make_run(small, name=name, submitter="a") for name in "abc"]
    Run.objects.filter(pk=runs[0].pk).update(state=Run.State.CANCELLED)
    put_back()
    assert jobs() == [f"run-{run.pk}" for run in runs[1:]]


def test_runs_that_wait_are_tried_again_after_a_while(small: Benchmark, redis: None) -> None:
    run = make_run(small, "waiting")
    event = RunEvent.objects.create(run=run, state="waiting")
    assert put_back(timedelta(minutes=5)) == 0
    RunEvent.objects.filter(pk=event.pk).update(time=timezone.now() - timedelta(minutes=6))
    assert put_back(timedelta(minutes=5)) == 1
    assert Run.objects.get(pk=run.pk).state == Run.State.QUEUED


def test_of_what_waits_one_after_the_other_is_tried_again_soon(small: Benchmark, redis: None) -> None:
    runs = [make_run(small, "waiting", name) for name in "abc"]
    for run, seconds in zip(runs, (40, 50, 10), strict=True):
        event = RunEvent.objects.create(run=run, state="waiting")
        RunEvent.objects.filter(pk=event.pk).update(time=timezone.now() - timedelta(seconds=seconds))
    checked = timezone.now() - timedelta(minutes=1)
    submission = Submission.objects.create(
        token="t", model_id="org/a", benchmark=small, state="waiting", checked=checked
    )
    try_longest_waiting()
    assert (jobs(), jobs("checks")) == ([f"run-{runs[1].pk}"], [f"check-{submission.pk}"])
    try_longest_waiting()
    try_longest_waiting()
    assert jobs() == [f"run-{runs[1].pk}", f"run-{runs[0].pk}"]


def test_checks_that_were_lost_are_enqueued_again_in_turn(small: Benchmark, redis: None) -> None:
    long_ago, facts = timezone.now() - timedelta(minutes=1), {"model_id": "org/a", "benchmark": small}
    first, second = (Submission.objects.create(token=token, group="g", **facts) for token in "ab")
    new = Submission.objects.create(token="new", **facts)
    Submission.objects.exclude(pk=new.pk).update(created=long_ago)
    put_back()
    assert jobs("checks") == [f"check-{first.pk}"], "the second follows after the first, and the new one is not lost"
    Submission.objects.filter(pk=second.pk).update(group="")
    put_back()
    assert jobs("checks") == [f"check-{first.pk}", f"check-{second.pk}"]


def test_results_without_a_rank_are_ranked_by_one_job(small: Benchmark, redis: None) -> None:
    runs = [make.measured(small, make.model(), skill) for skill in (0, 1)]
    make.restore_figures(small)
    put_back()
    assert jobs("finish") == [f"rank-{small.pk}"]
    refresh_ranks(small, new_only=True)
    redis_server.connection().flushall()
    put_back()
    assert jobs("finish") == []
    assert all(run.ranks.exists() for run in runs)


def test_earlier_steps_of_a_training_need_no_rank(small: Benchmark, redis: None) -> None:
    for step in (1, 2):
        model = make.model("org/trained", step=step)
        make.measured(small, model, 0)
    make.restore_figures(small)
    refresh_ranks(small)
    put_back()
    assert jobs("finish") == []


def test_without_redis_nothing_happens(small: Benchmark) -> None:
    make_run(small)
    assert put_back() == 0
    reconcile()


def test_submissions_that_led_to_nothing_are_forgotten(small: Benchmark, settings: Settings) -> None:
    facts = {"model_id": "org/a", "benchmark": small}
    for state in Submission.State.values:
        for token in ("old", "new"):
            Submission.objects.create(token=f"{state} {token}", state=state, **facts)
    Submission.objects.filter(token__endswith="old").update(created=timezone.now() - timedelta(days=91))
    settings.REFUSED_DAYS = 0
    reconcile()
    assert Submission.objects.count() == 10
    settings.REFUSED_DAYS = 90
    reconcile()
    gone = {"refused old", "withdrawn old"}
    assert set(Submission.objects.values_list("token", flat=True)).isdisjoint(gone)
    assert Submission.objects.count() == 8
