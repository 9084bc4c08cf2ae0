"""Workers elsewhere as they are used: processes without any setting of the site but its address and a token."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.db import OperationalError
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from leaderboard.figures import artefacts, benchmarks
from leaderboard.intake import queue, tokens
from leaderboard.intake.submissions import submit
from leaderboard.models import Benchmark, Run
from leaderboard.worker import elsewhere
from leaderboard.worker.jobs import probe_run
from probing.runner import run as probe
from tests.hub.local_hub import Hub
from tests.leaderboard.workers import PATIENCE, until

pytestmark = pytest.mark.django_db(transaction=True)
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture(autouse=True)
def no_worker_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "enqueue", lambda run_id, *more: True)


@pytest.fixture
def queued(small: Benchmark, local_hub: Hub) -> Run:
    """A run of two parts that no worker has begun."""
    return submit("org/causal", small).run


@pytest.fixture
def long_run(starter: Benchmark, local_hub: Hub) -> Run:
    """A run of so many parts that it cannot end before a test interrupts it."""
    return submit("org/causal", starter).run


@pytest.fixture
def start(live_server: LiveServer, local_hub: Hub, tmp_path: Path) -> Iterator[Start]:
    """Start `python -m probing work` with a token of its own, in an environment with nothing of the site."""
    processes = []

    def begin(*options: str, name: str = "lab", cache: str = "cache", token: str = "") -> subprocess.Popen[str]:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "HF_ENDPOINT": local_hub.url,
            "CLOZEBOARD_TOKEN": token or tokens.create(name),
            "OMP_NUM_THREADS": "1",
        }
        command = [sys.executable, "-m", "probing", "work", live_server.url, "--cache", str(tmp_path / cache)]
        process = subprocess.Popen(
            [*command, "--device", "cpu", *options], env=environment, stderr=subprocess.PIPE, text=True
        )
        processes.append(process)
        return process

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


def output(process: subprocess.Popen[str]) -> str:
    return process.communicate(timeout=PATIENCE)[1]


def wait_for_line(process: subprocess.Popen[str], beginning: str) -> None:
    """Read what a worker says until a line begins so: it has its part then, not only the site's lease on it."""
    assert process.stderr is not None
    assert any(line.startswith(beginning) for line in process.stderr)


def test_two_workers_measure_a_run_as_one_worker_here_does(
    queued: Run, small: Benchmark, start: Start, tiny_models: dict[str, Path]
) -> None:
    first, second = start("--once", name="first"), start("--once", name="second", cache="other")
    outputs = [output(first), output(second)]
    assert [first.returncode, second.returncode] == [0, 0], outputs
    parts = list(queued.parts.order_by("pk"))
    assert [part.done for part in parts] == [True, True], outputs
    probe_run(queued.pk)
    run = Run.objects.select_related("model").get(pk=queued.pk)
    assert run.state == Run.State.FINISHED, run.message
    assert run.model.parameters > 10_000
    assert {part.record["worker"].split("/")[0] for part in parts} <= {"first", "second"}
    assert sum(run.provenance_record["workers"].values()) == 6
    stored = pd.read_parquet(artefacts.storage().path(f"{run.artefact}/items.parquet"))
    direct = probe(str(tiny_models["org/causal"]), benchmarks.read(small), progress=False)
    pd.testing.assert_frame_equal(stored, direct.items, check_exact=False, atol=1e-5)


@pytest.mark.slow
def test_when_a_worker_is_killed_another_finishes_its_run(queued: Run, start: Start) -> None:
    killed = start(name="killed")
    until(lambda: queued.parts.filter(worker__startswith="killed/").exists())
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    queued.parts.filter(worker__startswith="killed/").update(lease_until=timezone.now())  # its 30 seconds are over
    other = start("--once", name="other")
    assert other.wait(PATIENCE) == 0, output(other)
    assert list(queued.parts.values_list("done", flat=True)) == [True, True]
    probe_run(queued.pk)
    assert Run.objects.get(pk=queued.pk).state == Run.State.FINISHED


def test_a_worker_that_is_asked_to_stop_gives_its_part_back(long_run: Run, start: Start) -> None:
    worker = start()
    until(lambda: long_run.parts.exclude(lease_until=None).exists())
    worker.terminate()
    assert "given back" in output(worker)
    assert worker.returncode == 0
    assert set(long_run.parts.filter(done=False).values_list("attempts", "lease_until")) == {(0, None)}


def test_a_worker_stops_when_its_run_is_cancelled(long_run: Run, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaderboard.api.work_routes.LEASE", timedelta(seconds=0.6))  # renewed every 0.2 seconds
    worker = start("--once")
    wait_for_line(worker, f"Run {long_run.pk}: ")
    until(lambda: Run.objects.cancel(Run.objects.get(pk=long_run.pk), "No longer needed."))
    assert f"Run {long_run.pk} has ended" in output(worker)
    assert long_run.parts.filter(done=False).exists()


def outage(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let the site answer every delivery with an error; return the function that ends this."""
    real, broken = elsewhere.accept, [True]

    def accept(*args: Any) -> None:
        if broken:
            raise OperationalError("database is locked")
        real(*args)

    monkeypatch.setattr(elsewhere, "accept", accept)
    return broken.clear


def outbox(folder: Path) -> list[Path]:
    return list((folder / "cache" / "outbox").glob("*/*.json"))


@pytest.mark.slow
def test_a_site_that_is_broken_for_a_while_loses_nothing(
    queued: Run, start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repair = outage(monkeypatch)
    worker = start("--once")
    until(lambda: outbox(tmp_path))
    repair()
    assert worker.wait(PATIENCE) == 0, output(worker)
    assert list(queued.parts.values_list("done", "attempts")) == [(True, 1)] * 2
    assert not list((tmp_path / "cache" / "outbox").glob("*/*"))


@pytest.mark.slow
def test_a_minute_of_errors_loses_nothing(
    queued: Run, start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repair = outage(monkeypatch)
    worker = start("--once")
    until(lambda: outbox(tmp_path))
    time.sleep(60)
    repair()
    assert worker.wait(PATIENCE) == 0, output(worker)
    assert list(queued.parts.values_list("done", "attempts")) == [(True, 1)] * 2


@pytest.mark.slow
def test_what_a_killed_worker_has_measured_is_delivered_by_the_next(
    queued: Run, start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repair = outage(monkeypatch)
    secret = tokens.create("lab")
    killed = start(token=secret)
    until(lambda: outbox(tmp_path))
    killed.kill()
    killed.wait()
    repair()
    queued.parts.update(lease_until=timezone.now())
    measured = queued.parts.get(attempts=1)
    following = start("--once", token=secret)
    assert following.wait(PATIENCE) == 0, output(following)
    assert list(queued.parts.values_list("done", "attempts")) == [(True, 1)] * 2
    assert queued.parts.get(pk=measured.pk).worker == measured.worker


def test_a_disk_without_room_is_one_sentence(queued: Run, start: Start, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    worker = start("--once")
    log = output(worker)
    assert worker.returncode in (1, 2)
    assert log.strip().splitlines()[-1].startswith("error: ")
    assert "Traceback" not in log
