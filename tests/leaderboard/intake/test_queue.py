"""What is put into RQ, and when: runs in turn, checks, and nothing twice."""

import json
import zlib

import pytest
from rq.job import JobStatus

from leaderboard import redis_server
from leaderboard.intake import queue
from leaderboard.models import Benchmark, Model, Run, RunPart, Submission
from leaderboard.redis_server import embedded_server

pytestmark = pytest.mark.django_db(transaction=True)


def jobs(name: str = "measure") -> list[str]:
    return queue.rq_queue(name).get_job_ids()


def make_run(benchmark: Benchmark, state: str = "queued", name: str = "name", **fields: object) -> Run:
    model, _ = Model.objects.get_or_create(hub_id=f"org/{name}")
    run = Run.objects.create(model=model, benchmark=benchmark, settings_digest=state + name, state=state, **fields)
    RunPart.objects.create(run=run, relation="P30", template=0, items=4)
    return run


def test_a_job_is_json_with_the_number_of_its_run_and_nothing_else(small: Benchmark, redis: None) -> None:
    run = make_run(small)
    assert queue.enqueue(run.pk)
    (job,) = queue.rq_queue("measure").jobs
    stored = redis_server.connection().hget(job.key, "data")
    assert (job.id, job.serializer.__name__) == (f"run-{run.pk}", "JSONSerializer")
    assert job.result_ttl == 1, "once it is done, its name is free"
    assert json.loads(zlib.decompress(stored)) == ["leaderboard.worker.jobs.measure_run", None, [run.pk], {}]


def test_a_run_is_there_once_however_often_it_is_enqueued(small: Benchmark, redis: None) -> None:
    run = make_run(small)
    for _ in range(3):
        assert queue.enqueue(run.pk)
    assert jobs() == [f"run-{run.pk}"]


def test_two_runs_of_a_submitter_stand_in_a_queue_and_the_next_follows_when_one_begins(
    small: Benchmark, redis: None
) -> None:
    flood = [make_run(small, name=name, submitter="flood") for name in "abcd"]
    large = make_run(small, name="large", submitter="flood", queue="measure-large")
    light = make_run(small, name="light", submitter="light")
    for run in (*flood, large, light):
        assert queue.enqueue(run.pk)
    assert jobs() == [f"run-{run.pk}" for run in (flood[0], flood[1], light)]
    assert jobs("measure-large") == [f"run-{large.pk}"]
    flood[0].refresh_from_db()
    assert flood[0].standing_since
    assert Run.objects.move(flood[0], Run.State.DOWNLOADING)
    queue.put_in_next("measure", "flood")
    assert jobs()[-1] == f"run-{flood[2].pk}"
    assert not Run.objects.get(pk=flood[0].pk).standing_since


@pytest.mark.parametrize("state", Run.FINAL)
def test_an_ended_run_needs_no_job(small: Benchmark, redis: None, state: str) -> None:
    run = make_run(small, state)
    assert queue.enqueue(run.pk)
    assert queue.enqueue(12345)
    assert not jobs()


@pytest.mark.parametrize(("state", "name", "job"), [("scoring", "measure", "run"), ("aggregating", "finish", "finish")])
def test_a_run_that_was_begun_goes_on_where_it_was(
    small: Benchmark, redis: None, state: str, name: str, job: str
) -> None:
    run = make_run(small, state)
    assert queue.enqueue(run.pk)
    assert jobs(name) == [f"{job}-{run.pk}"]


def test_a_run_that_had_to_wait_is_tried_again_at_once(small: Benchmark, redis: None) -> None:
    run = make_run(small, "waiting", code="no-space")
    assert queue.enqueue(run.pk)
    run.refresh_from_db()
    assert (run.state, run.code, run.events.last().message) == ("queued", "no-space", "Trying again.")
    assert jobs() == [f"run-{run.pk}"]


def test_the_end_of_an_outage_lets_all_go_on_that_waited_for_it(small: Benchmark, redis: None) -> None:
    waited, other = make_run(small, "waiting", "a", code="source-unavailable"), make_run(small, "waiting", "b")
    submission = Submission.objects.create(token="t", model_id="org/a", benchmark=small, state="waiting")
    queue.end_outage("source-unavailable")
    assert [Run.objects.get(pk=run.pk).state for run in (waited, other)] == ["queued", "waiting"]
    assert (jobs(), jobs("checks")) == ([f"run-{waited.pk}"], [f"check-{submission.pk}"])


def test_a_redis_that_does_not_answer_raises_no_error_and_the_database_knows_what_stands(small: Benchmark) -> None:
    assert not queue.reachable()
    run = make_run(small)
    assert not queue.enqueue(run.pk)
    assert Run.objects.get(pk=run.pk).standing_since
    with embedded_server():
        assert queue.reachable()


def test_what_rq_has_kept_of_a_failed_job_is_in_nobodys_way(small: Benchmark, redis: None) -> None:
    queue.put_job("measure", "run", 7)
    (job,) = queue.rq_queue("measure").jobs
    queue.rq_queue("measure").remove(job)
    job.set_status(JobStatus.FAILED)
    assert queue.put_job("measure", "run", 7)
    assert not jobs(), "it is known already"
    assert queue.put_job("measure", "run", 7, again=True)
    assert jobs() == ["run-7"]


def test_checks_that_kill_their_process_again_and_again_are_refused(small: Benchmark) -> None:
    submission = Submission.objects.create(token="t", model_id="org/heavy", benchmark=small)
    for losses in range(queue.LOSSES):
        submission.refresh_from_db()
        assert (submission.state, submission.losses) == (Submission.State.CHECKING, losses)
        queue.note_lost_check(submission.pk)
    submission.refresh_from_db()
    assert submission.state == Submission.State.REFUSED
    assert [check["code"] for check in submission.checks] == ["lost-worker"]


def test_enqueueing_opens_no_new_connection_each_time(redis: None) -> None:
    """RQ remembers a script for every connection that ever enqueued a job, so that memory would grow for ever."""
    assert queue.rq_queue("measure").connection is queue.rq_queue("finish").connection
