"""Real worker processes: they measure, and lose Redis, are stopped, or are killed; and the GPUs that they share."""

import os
import sqlite3
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest
from django.core.management.base import CommandError
from django.db import connection
from rq import Worker
from rq.job import Job

from leaderboard import redis_server
from leaderboard.figures import artefacts, benchmarks
from leaderboard.intake import queue
from leaderboard.models import STALE, Benchmark, Claim, Run, Submission
from leaderboard.redis_server import embedded_server
from leaderboard.worker.site_worker import HEARTBEAT, MACHINE, SILENCE, SiteWorker, count_gpus, own_device, this_machine
from probing.runner import run as probe
from tests.hub.local_hub import Hub
from tests.leaderboard import factories as make
from tests.leaderboard.in_process import submit
from tests.leaderboard.test_redis_server import kill_server
from tests.leaderboard.workers import PATIENCE, scheduler, until, worker

pytestmark = pytest.mark.django_db(transaction=True)
ALL = ("measure", "finish", "checks")


def registered() -> list[str]:
    if not queue.reachable():
        return []
    return [worker.name for worker in Worker.all(connection=redis_server.connection())]


def state(run: Run) -> str:
    return Run.objects.get(pk=run.pk).state


def expect_rows_of_an_undisturbed_run(run: Run, model: Path) -> None:
    whole = probe(str(model), benchmarks.read(run.benchmark), **run.benchmark.settings, progress=False)
    stored = pd.read_parquet(artefacts.storage().path(f"{Run.objects.get(pk=run.pk).artefact}/items.parquet"))
    pd.testing.assert_frame_equal(stored, whole.items, check_exact=False, atol=1e-4)


def new_worker(name: str, queue_name: str = "measure") -> SiteWorker:
    jobs = queue.rq_queue(queue_name)
    return SiteWorker([jobs], name=name, connection=jobs.connection, serializer=jobs.serializer)


def killed_process(kind: str, number: int, stopping: bool = False) -> None:
    """Let a worker find the process of a job dead, which somebody killed, or which it killed itself as it stops."""
    site_worker = new_worker("mine", "checks" if kind == "check" else "measure")
    jobs = site_worker.queues[0]
    queue.put_job(jobs.name, kind, number)
    site_worker._stop_requested = stopping
    site_worker.handle_work_horse_killed(Job.fetch(f"{kind}-{number}", jobs.connection, jobs.serializer), 1, 9, None)


@pytest.mark.parametrize(("stopping", "losses"), [(False, 1), (True, 0)])
def test_the_run_of_a_killed_process_is_free_at_once_and_the_loss_counts_unless_the_worker_stops(
    small: Benchmark, redis: None, stopping: bool, losses: int
) -> None:
    run, other = (make.run(make.model(), small, Run.State.SCORING) for _ in range(2))
    Claim.objects.take(run, "mine"), Claim.objects.take(other, "another")
    killed_process("run", run.pk, stopping)
    assert [claim.run for claim in Claim.objects.fresh()] == [other]
    assert Claim.objects.get(run=run).losses == losses


def perform(name: str, kind: str, number: int, pid: int, machine: str) -> None:
    """Let RQ know of a worker that performs a job."""
    site_worker = new_worker(name, "checks" if kind == "check" else "measure")
    site_worker.register_birth()
    site_worker.connection.hset(site_worker.key, mapping={"pid": pid, MACHINE: machine})
    jobs = site_worker.queues[0]
    queue.put_job(jobs.name, kind, number)
    job = Job.fetch(f"{kind}-{number}", jobs.connection, jobs.serializer)
    site_worker.prepare_execution(job)
    site_worker.prepare_job_execution(job)
    jobs.remove(job)


@pytest.fixture
def ended() -> int:
    """Return the number of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


@pytest.mark.parametrize(("machine", "left"), [(this_machine(), []), ("another container", ["dead"])])
def test_a_new_worker_puts_back_first_what_the_dead_ones_of_its_machine_had(
    small: Benchmark, redis: None, ended: int, machine: str, left: list[str]
) -> None:
    lost, other, waiting = (make.run(make.model(), small, Run.State.SCORING) for _ in range(3))
    Claim.objects.take(lost, "dead"), Claim.objects.take(other, "alive")
    perform("dead", "run", lost.pk, ended, machine)
    perform("alive", "run", other.pk, os.getppid(), machine)
    queue.put_job("measure", "run", waiting.pk)
    new_worker("new").put_back_jobs_of_the_dead()
    back = [] if left else [f"run-{lost.pk}"]
    assert queue.rq_queue("measure").get_job_ids() == [*back, f"run-{waiting.pk}"]
    assert sorted(registered()) == ["alive", *left]
    assert sorted(Claim.objects.fresh().values_list("worker", flat=True)) == ["alive", *left]


def test_a_check_that_a_dead_worker_had_counts_its_loss(small: Benchmark, redis: None, ended: int) -> None:
    submission = Submission.objects.create(token="t", model_id="org/heavy", benchmark=small)
    perform("dead", "check", submission.pk, ended, this_machine())
    new_worker("new").put_back_jobs_of_the_dead()
    submission.refresh_from_db()
    assert submission.losses == 1


@pytest.mark.parametrize(("stopping", "losses"), [(False, 1), (True, 0)])
def test_a_check_whose_process_was_killed_counts_it(small: Benchmark, redis: None, stopping: bool, losses: int) -> None:
    submission = Submission.objects.create(token="t", model_id="org/heavy", benchmark=small)
    killed_process("check", submission.pk, stopping)
    submission.refresh_from_db()
    assert submission.losses == losses


def test_the_job_of_a_lost_worker_comes_back_when_its_claim_has_become_stale() -> None:
    oldest_heartbeat, latest_report = HEARTBEAT, 0  # seconds before the worker was killed
    assert SILENCE - oldest_heartbeat > STALE.total_seconds() - latest_report


@pytest.mark.slow
def test_a_worker_measures_what_was_submitted(small: Benchmark, local_hub: Hub) -> None:
    run = submit("org/causal", small).run  # no queue server yet: the worker starts it and puts the run in
    with worker("--burst") as process:
        output = process.communicate(timeout=PATIENCE)[0]
    assert (state(run), process.returncode) == (Run.State.FINISHED, 0), output
    assert run.ranks.exists()
    assert not queue.reachable()


@pytest.mark.slow
def test_one_command_runs_all_that_one_machine_needs_and_ends_it(small: Benchmark, local_hub: Hub) -> None:
    with worker() as process:
        until(lambda: len(registered()) == 2)
        submission = Submission.objects.create(token="t", model_id="org/causal", benchmark=small)
        queue.enqueue_check(submission.pk)
        until(lambda: Run.objects.filter(state=Run.State.FINISHED, ranks__isnull=False).exists())
        below = psutil.Process(process.pid).children(recursive=True)
        assert len(below) >= 3
        process.terminate()
        output = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 0, output
    assert "Traceback" not in output
    assert not [child for child in below if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    assert not queue.reachable()


@pytest.mark.slow
def test_a_worker_outlasts_its_server_and_a_queue_that_was_emptied_and_measures_the_next_run(
    small: Benchmark, local_hub: Hub, data: Path
) -> None:
    with worker(*ALL, "--name", "a") as process:
        until(lambda: "a" in registered())
        kill_server(data)
        until(lambda: "a" in registered())
        with scheduler():
            run = submit("org/causal", small).run
            redis_server.connection().flushall()
            until(lambda: "a" in registered())
            until(lambda: state(run) == Run.State.FINISHED)
        process.terminate()
        output = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 0, output
    assert "Traceback" not in output
    assert not queue.reachable()


@pytest.mark.slow
def test_a_stopped_worker_gives_its_run_back_at_once_also_after_its_file_of_sqlite_was_locked(
    local_hub: Hub, starter: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOZEBOARD_DATABASE_SECONDS", "1")
    run = submit("org/causal", starter).run
    done = run.parts.filter(done=True)
    with embedded_server():
        with worker("measure") as process:
            until(done.exists)
            if connection.vendor == "sqlite":
                lock_database(seconds=4)
            before = done.count()
            until(lambda: done.count() > before)
            process.terminate()
            output = process.communicate(timeout=PATIENCE)[0]
        assert process.returncode == 0, output
        assert "Traceback" not in output
        assert set(done.values_list("attempt", flat=True)) == {1}
        assert done.count() < run.parts.count(), "it was stopped too late"
        assert (Claim.objects.get(run=run).worker, Claim.objects.get(run=run).losses) == ("", 0)
        assert queue.rq_queue("measure").get_job_ids() == [f"run-{run.pk}"]


def lock_database(seconds: float) -> None:
    """Let nobody read or write the file of SQLite for so long."""
    connection.close()
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    time.sleep(seconds)
    other.execute("ROLLBACK")
    other.close()


@pytest.mark.slow
def test_two_workers_never_have_the_same_run(local_hub: Hub, small: Benchmark, tiny_models: dict[str, Path]) -> None:
    with embedded_server(), worker("measure", "--name", "a"), worker(*ALL, "--name", "b"):
        until(lambda: len(registered()) == 2)
        runs = [submit(name, small).run for name in ("org/causal", "org/masked")]
        until(lambda: {state(run) for run in runs} == {Run.State.FINISHED})
    assert all(set(run.parts.values_list("attempt", flat=True)) == {1} for run in runs)
    expect_rows_of_an_undisturbed_run(runs[0], tiny_models["org/causal"])


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")


def test_workers_choose_different_gpus(two_gpus: None) -> None:
    with own_device() as first, own_device() as second:
        assert (first, second) == ("cuda:0", "cuda:1")
    with own_device() as again:
        assert again == "cuda:0"


def test_a_worker_keeps_away_from_a_gpu_that_another_was_given(two_gpus: None) -> None:
    with own_device("cuda:0") as given, own_device() as chosen:
        assert (given, chosen) == ("cuda:0", "cuda:1")


def test_more_workers_than_gpus_share_them(two_gpus: None) -> None:
    with ExitStack() as workers:
        devices = [workers.enter_context(own_device()) for _ in range(3)]
    assert set(devices) == {"cuda:0", "cuda:1"}


def test_a_worker_takes_no_more_than_one_device() -> None:
    with (
        pytest.raises(CommandError, match=r"not on cuda:0,cuda:1\. Start a worker for each"),
        own_device("cuda:0,cuda:1"),
    ):
        pass


@pytest.mark.parametrize("visible", ["", "-1", "0"])
def test_there_is_nothing_to_share_out_without_several_gpus(monkeypatch: pytest.MonkeyPatch, visible: str) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    with own_device() as device:
        assert device == "auto"


def test_gpus_are_counted_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    listing = "GPU 0: A (UUID: x)\n  MIG 1g\nGPU 1: A (UUID: y)\n"

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 0, stdout=listing)

    monkeypatch.setattr(subprocess, "run", run)
    assert count_gpus() == 2


def test_a_machine_without_the_driver_has_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("PATH", "")
    assert count_gpus() == 0
