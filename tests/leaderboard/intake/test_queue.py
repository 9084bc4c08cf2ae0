import json
import zlib
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import django_rq
import pandas as pd
import pytest
from django.db import OperationalError
from django.utils import timezone
from rq import Queue
from rq.job import Job

from leaderboard import schedule
from leaderboard.figures import artefacts, benchmarks
from leaderboard.intake import check_queue, queue
from leaderboard.intake.embedded import embedded_server
from leaderboard.intake.submissions import submit
from leaderboard.models import Benchmark, Model, Run, RunEvent, RunPart, Submission
from probing.runner import run as probe
from tests.hub.local_hub import Hub
from tests.leaderboard.workers import PATIENCE, kill, manage, until, worker

pytestmark = pytest.mark.django_db(transaction=True)


def jobs(lane: str = "default") -> list[tuple[str, list[object]]]:
    """The name of each job's function, and its arguments."""
    return [(job.func_name.rpartition(".")[2], job.args) for job in django_rq.get_queue(lane).jobs]


def make_run(benchmark: Benchmark, state: str = "queued", name: str = "name", **fields: object) -> Run:
    model, _ = Model.objects.get_or_create(hub_id=f"org/{name}")
    run = Run.objects.create(model=model, benchmark=benchmark, settings_digest=state + name, state=state, **fields)
    RunPart.objects.create(run=run, relation="P30", template=0, items=4)
    return run


WAKE_UP = ("work_in_lane", ["default"])


def test_a_job_is_json_with_the_name_of_the_lane_and_nothing_else(small: Benchmark) -> None:
    run = make_run(small)
    with embedded_server():
        queue.enqueue(run.pk)
        job = django_rq.get_queue().jobs[0]
        stored = django_rq.get_connection().hget(job.key, "data")
    assert job.serializer.__name__ == "JSONSerializer"
    assert json.loads(zlib.decompress(stored)) == ["leaderboard.worker.jobs.work_in_lane", None, ["default"], {}]


def test_there_are_as_many_wake_ups_as_runs_without_a_worker(small: Benchmark) -> None:
    runs = [make_run(small, name=name) for name in "abc"]
    with embedded_server():
        for run in [*runs, *runs]:
            assert queue.enqueue(run.pk)
        assert jobs() == [WAKE_UP] * 3


def test_a_wake_up_is_in_the_queue_of_its_lane(small: Benchmark) -> None:
    run = make_run(small, lane="large")
    with embedded_server():
        queue.enqueue(run.pk)
        assert (jobs("default"), jobs("large")) == ([], [("work_in_lane", ["large"])])


@pytest.mark.parametrize("state", Run.FINAL)
def test_an_ended_run_needs_no_job(small: Benchmark, state: str) -> None:
    run = make_run(small, state)
    with embedded_server():
        assert queue.enqueue(run.pk)
        assert queue.enqueue(12345)
        assert not jobs()


def test_a_run_that_had_to_wait_is_tried_again_by_one_job(small: Benchmark) -> None:
    run = make_run(small, "waiting")
    with embedded_server():
        assert queue.enqueue(run.pk)
        assert queue.enqueue(run.pk)
        assert jobs() == [("probe_run", [run.pk])]


@pytest.mark.parametrize(("lane", "jobs_there"), [("default", [WAKE_UP]), ("large", [])])
def test_only_an_idle_worker_of_the_lane_is_woken_up_to_share_a_run(
    small: Benchmark, lane: str, jobs_there: list[object]
) -> None:
    run = make_run(small, "scoring")
    RunPart.objects.create(run=run, relation="P31", template=0, items=4)
    RunPart.objects.claim(run, "a")
    with embedded_server():
        idle = queue.Worker([django_rq.get_queue(lane)], connection=django_rq.get_connection(), name="idle")
        idle.register_birth()
        idle.set_state("idle")
        queue.enqueue_if_idle(run.pk)
        queue.enqueue_if_idle(run.pk)
        assert jobs() == jobs_there


class CountingWorker(queue.Worker):
    """A worker that does the jobs in its own process and counts them."""

    def fork_work_horse(self, job: Job, queue: Queue) -> None:
        self.done = [*getattr(self, "done", []), job.func_name]
        run = schedule.next_run(queue.name)
        assert run is not None
        Run.objects.move(run, Run.State.FINISHED)
        self.main_work_horse(job, queue)

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        job.delete()

    def monitor_work_horse(self, job: Job, queue: Queue) -> None:
        pass


def work_off(*lanes: str) -> CountingWorker:
    """Let a worker do what there is to do."""
    queues = [django_rq.get_queue(lane) for lane in lanes]
    counting = CountingWorker(queues, connection=django_rq.get_connection(), serializer="rq.serializers.JSONSerializer")
    counting.done = []
    counting.work(burst=True)
    return counting


@pytest.mark.parametrize("lanes", [("default",), ("default", "large")])
def test_wake_ups_of_cancelled_runs_start_no_process(small: Benchmark, lanes: tuple[str, ...]) -> None:
    for number in range(418):
        make_run(small, name=f"cancelled-{number}")
    with embedded_server():
        assert queue.wake("default")
        Run.objects.update(state=Run.State.CANCELLED)
        real = make_run(small)
        queue.enqueue(real.pk)
        assert jobs() == [WAKE_UP] * 418
        counting = work_off(*lanes)
        assert counting.done == ["leaderboard.worker.jobs.work_in_lane"]
        assert not jobs()
        assert not django_rq.get_connection().keys("rq:job:*")
    real.refresh_from_db()
    assert real.state == Run.State.FINISHED


def test_a_run_that_comes_while_useless_wake_ups_are_dropped_is_not_forgotten(
    small: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled = make_run(small)
    real_wake_ups = queue._wake_ups

    def submit_meanwhile(lane: Queue) -> list[str]:
        dropped = real_wake_ups(lane)
        if not Run.objects.filter(model__hub_id="org/meanwhile"):
            make_run(small, name="meanwhile")
        return dropped

    with embedded_server():
        queue.enqueue(cancelled.pk)
        Run.objects.cancel(cancelled, "No longer wanted.")
        monkeypatch.setattr(queue, "_wake_ups", submit_meanwhile)
        assert len(work_off("default").done) == 1
    assert Run.objects.get(model__hub_id="org/meanwhile").state == Run.State.FINISHED


def test_a_worker_that_has_lost_all_wake_ups_but_one_does_every_run(small: Benchmark) -> None:
    for name in "abcd":
        make_run(small, name=name)
    with embedded_server():
        queue.wake("default")
        django_rq.get_connection().ltrim("rq:queue:default", 0, 0)
        assert len(work_off("default").done) == 4


def test_a_job_is_begun_although_the_database_does_not_answer(
    small: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(small)
    with embedded_server():
        queue.wake("default")
        monkeypatch.setattr(schedule, "has_work", raise_locked)
        assert len(work_off("default").done) == 1


def raise_locked(lane: str) -> bool:
    raise OperationalError("database is locked")


def test_a_redis_that_does_not_answer_raises_no_error(small: Benchmark) -> None:
    assert not queue.reachable()
    run = make_run(small)
    assert not queue.enqueue(run.pk)
    queue.enqueue_if_idle(run.pk)


def test_unfinished_runs_that_no_worker_has_are_enqueued_again(small: Benchmark) -> None:
    lost = [make_run(small, state) for state in ("queued", "downloading", "scoring", "waiting")]
    for state in Run.FINAL:
        make_run(small, state)
    leased = make_run(small, "scoring", "leased")
    RunPart.objects.claim(leased, "somebody")
    with embedded_server():
        assert queue.requeue_lost() == 4
        assert jobs() == [("probe_run", [lost[-1].pk]), *[WAKE_UP] * 3]


def test_a_run_whose_lease_has_run_out_is_enqueued_again(small: Benchmark) -> None:
    run = make_run(small, "scoring")
    run.parts.update(lease_until=timezone.now() - timedelta(seconds=1))
    with embedded_server():
        assert queue.requeue_lost() == 1


def test_a_waiting_run_is_left_alone_for_a_while(small: Benchmark) -> None:
    run = make_run(small, "waiting")
    event = RunEvent.objects.create(run=run, state="waiting")
    with embedded_server():
        assert queue.requeue_lost(timedelta(minutes=5)) == 0
        RunEvent.objects.filter(pk=event.pk).update(time=timezone.now() - timedelta(minutes=6))
        assert queue.requeue_lost(timedelta(minutes=5)) == 1


def test_a_check_that_killed_its_process_enqueues_no_run(small: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue.RQWorker, "handle_work_horse_killed", lambda *args: None)
    with embedded_server():
        check_queue.enqueue(7)
        checks = django_rq.get_queue("checks")
        worker = queue.Worker([checks], connection=checks.connection)
        worker.handle_work_horse_killed(checks.jobs[0], 1, 9, None)
        assert jobs() == []
        assert len(checks.jobs) == 1


def test_checks_that_kill_their_process_again_and_again_are_refused(
    small: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue.RQWorker, "handle_work_horse_killed", lambda *args: None)
    submission = Submission.objects.create(token="t", model_id="org/heavy", benchmark=small)
    with embedded_server():
        check_queue.enqueue(submission.pk)
        checks = django_rq.get_queue("checks")
        worker = queue.Worker([checks], connection=checks.connection)
        for losses in range(check_queue.LOSSES):
            submission.refresh_from_db()
            assert (submission.state, submission.losses) == (Submission.State.CHECKING, losses)
            worker.handle_work_horse_killed(checks.jobs[0], 1, 9, None)
    submission.refresh_from_db()
    assert submission.state == Submission.State.REFUSED
    assert [check["code"] for check in submission.checks] == ["lost-worker"]


def test_of_the_runs_that_wait_one_after_the_other_is_tried_again_soon(small: Benchmark) -> None:
    runs = [make_run(small, "waiting", name) for name in "abc"]
    for run, seconds in zip(runs, (40, 50, 10), strict=True):
        event = RunEvent.objects.create(run=run, state="waiting")
        RunEvent.objects.filter(pk=event.pk).update(time=timezone.now() - timedelta(seconds=seconds))
    with embedded_server():
        queue.try_longest_waiting()
        queue.try_longest_waiting()
        assert jobs() == [("probe_run", [runs[1].pk])]
        RunEvent.objects.create(run=runs[1], state="waiting")
        queue.try_longest_waiting()
        assert jobs()[1:] == [("probe_run", [runs[0].pk])]


def test_a_real_worker_measures_what_was_submitted(small: Benchmark, local_hub: Hub) -> None:
    run = submit("org/causal", small).run  # no queue server yet: the worker starts it and enqueues the run
    with worker("--burst") as process:
        output = process.communicate(timeout=PATIENCE)[0]
    run.refresh_from_db()
    assert (run.state, process.returncode) == (Run.State.FINISHED, 0), output
    assert not queue.reachable()


@pytest.mark.slow
def test_a_killed_workers_run_is_finished_by_the_next(
    local_hub: Hub, data: Path, starter: Benchmark, tiny_models: dict[str, Path]
) -> None:
    run = submit("org/causal", starter).run
    with worker() as first:
        until(lambda: run.parts.filter(done=True).count() >= 1)
        kill(first)
    done = dict(run.parts.filter(done=True).values_list("pk", "attempts"))
    assert len(done) < run.parts.count(), "it was killed too late"
    run.parts.filter(done=False, lease_until__isnull=False).update(lease_until=timezone.now())
    with worker("--burst") as second:
        output = second.communicate(timeout=PATIENCE)[0]
    run.refresh_from_db()
    assert run.state == Run.State.FINISHED, output
    assert {pk: run.parts.get(pk=pk).attempts for pk in done} == done
    whole = probe(str(tiny_models["org/causal"]), benchmarks.read(starter), **starter.settings, progress=False)
    stored = pd.read_parquet(artefacts.storage().path(f"{run.artefact}/items.parquet"))
    pd.testing.assert_frame_equal(stored, whole.items, check_exact=False, atol=1e-4)


@pytest.mark.slow
def test_four_workers_share_a_run_with_the_result_of_one(
    local_hub: Hub, starter: Benchmark, tiny_models: dict[str, Path]
) -> None:
    starter.settings = {}  # all items, so that every worker has loaded the model before the others have done its share
    starter.save()
    with embedded_server(), ExitStack() as workers:
        for name in "abcd":
            workers.enter_context(worker("--name", name))
        until(lambda: len(queue.RQWorker.all(connection=django_rq.get_connection())) == 4)
        run = submit("org/masked", starter).run
        until(lambda: Run.objects.get(pk=run.pk).state == Run.State.FINISHED)
    assert set(run.parts.values_list("worker", flat=True)) == set("abcd")
    assert set(run.parts.values_list("attempts", flat=True)) == {1}
    run.refresh_from_db()
    whole = probe(str(tiny_models["org/masked"]), benchmarks.read(starter), progress=False)
    stored = pd.read_parquet(artefacts.storage().path(f"{run.artefact}/items.parquet"))
    pd.testing.assert_frame_equal(stored, whole.items, check_exact=False, atol=1e-4)
    accuracy = whole.scores.query("metric == 'accuracy' and dimension == 'overall'")["value"].item()
    assert run.scores.get(metric="accuracy", dimension="overall").value == pytest.approx(accuracy, abs=1e-4)


def test_a_worker_without_redis_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:9")
    process = manage("rqworker")
    output = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 1
    assert "REDIS_URL" in output
    assert "Traceback" not in output
