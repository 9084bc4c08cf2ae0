"""A worker process that loses Redis, is stopped, or is killed."""

import os
import signal
import sqlite3
import time
from pathlib import Path

import django_rq
import psutil
import pytest
from django.db import connection

from leaderboard.intake import queue
from leaderboard.intake.embedded import embedded_server
from leaderboard.intake.submissions import submit
from leaderboard.models import Benchmark, Run
from tests.hub.local_hub import Hub
from tests.leaderboard.intake.test_embedded import kill_server
from tests.leaderboard.workers import PATIENCE, until, worker

pytestmark = pytest.mark.django_db(transaction=True)


def registered() -> list[str]:
    if not queue.reachable():
        return []
    return [worker.name for worker in queue.RQWorker.all(connection=django_rq.get_connection())]


def state(run: Run) -> str:
    return Run.objects.get(pk=run.pk).state


@pytest.mark.slow
def test_a_worker_outlasts_its_server_and_measures_the_next_run(small: Benchmark, local_hub: Hub, data: Path) -> None:
    with worker("default", "--name", "a") as process:
        until(lambda: "a" in registered())
        kill_server(data)
        until(lambda: "a" in registered())
        run = submit("org/causal", small).run
        until(lambda: state(run) == Run.State.FINISHED)
        process.terminate()
        output = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 0, output
    assert "Traceback" not in output
    assert not queue.reachable()


@pytest.mark.slow
def test_a_worker_restores_a_queue_that_was_emptied(small: Benchmark, local_hub: Hub) -> None:
    with embedded_server(), worker("default", "--name", "a"):
        until(lambda: "a" in registered())
        django_rq.get_connection().flushall()
        run = Run.objects.get(pk=submit("org/causal", small).run.pk)
        django_rq.get_connection().flushall()
        until(lambda: "a" in registered())
        until(lambda: state(run) == Run.State.FINISHED)


@pytest.mark.slow
def test_a_stopped_worker_gives_its_part_back_at_once(local_hub: Hub, starter: Benchmark) -> None:
    run = submit("org/causal", starter).run
    with worker("default") as process:
        until(lambda: run.parts.filter(done=True).exists())
        process.terminate()
        output = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 0, output
    assert not run.parts.filter(lease_until__isnull=False).exists()
    assert not run.parts.filter(done=False, attempts__gt=0).exists()
    assert "Traceback" not in output


@pytest.mark.slow
def test_a_killed_worker_leaves_no_process_and_no_file(local_hub: Hub, starter: Benchmark, data: Path) -> None:
    run = submit("org/causal", starter).run
    with embedded_server(), worker("default") as process:
        until(lambda: run.parts.filter(done=True).exists())
        below = psutil.Process(process.pid).children(recursive=True)
        assert len(below) >= 2, "the process of the job and the measuring process"
        os.kill(process.pid, signal.SIGKILL)
        psutil.wait_procs(below, timeout=10)
        assert not [child for child in below if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
        assert [path for path in (data / "scratch").iterdir() if path.is_dir()]
        with worker("default", "--burst") as second:
            second.communicate(timeout=PATIENCE)
        assert not [path for path in (data / "scratch").iterdir() if path.is_dir()]


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor != "sqlite", reason="locks the file of SQLite")
def test_a_worker_outlasts_a_locked_database(
    local_hub: Hub, starter: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOZEBOARD_DATABASE_SECONDS", "1")
    run = submit("org/causal", starter).run
    with worker("default", "--burst") as process:
        until(lambda: run.parts.filter(done=True).exists())
        connection.close()
        other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        time.sleep(5)
        other.execute("ROLLBACK")
        other.close()
        output = process.communicate(timeout=PATIENCE)[0]
    assert state(run) == Run.State.FINISHED, output
    assert "Traceback" not in output
    assert set(run.parts.values_list("attempts", flat=True)) == {1}
