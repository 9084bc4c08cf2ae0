"""What `speed.queue_load` has done in processes of a site: workers that only wait, and what is measured of them.

The workers, RQ, the database, the claims, the parts and their files are those of a real site. Only the measuring
process is none: it waits for a moment and returns a row.
"""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from rq import Queue
from rq.job import Job

from leaderboard.figures import benchmarks
from leaderboard.intake.submissions import receive_all
from leaderboard.models import Benchmark, Model, Run, RunEvent, RunPart, Submission
from leaderboard.models.run import ClaimQuerySet
from leaderboard.redis_server import embedded_server
from leaderboard.worker import jobs
from leaderboard.worker.reconciling import put_back
from leaderboard.worker.site_worker import SiteWorker
from probing.language_model import ModelCard
from probing.measuring.messages import Task
from probing.measuring.process import Loaded
from probing.plan import Part
from probing.results.joining import PartResult
from speed.stored_results import CHECKOUT
from tests.leaderboard.in_process import InProcess
from tests.tools.deployment import wait_for

PARTS = 180
SUBMITTERS = 100
BURST = 1000
PART_SECONDS = 0.05  # that a worker waits for each part
LONGEST = 3600.0  # seconds for all runs
STATES = (Run.State.AGGREGATING, *Run.FINAL)  # of runs that need no measuring worker any more


class WaitingProcess(InProcess):
    """Waits for a moment in place of each part, and needs neither a model nor a benchmark's files."""

    def _take(self, task: Task) -> None:
        self.task = task

    def load(self, on_tick: Callable[[], None] = lambda: None) -> Loaded:
        return Loaded(ModelCard("org/waiting", "causal", "None", 1), datetime.now(UTC), 0.0)

    def measure(
        self, part: Part, on_share: Callable[[float], None] = lambda share: None, *, positions: float = 0
    ) -> PartResult:
        time.sleep(PART_SECONDS)
        on_share(1)
        return PartResult(pd.DataFrame({"relation": [part.relation], "index": [0]}), {"device": "none"})


class WaitingWorker(SiteWorker):
    """The site's worker, whose jobs load no model, and which notes how long each claim takes."""

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        nothing = Path(os.devnull)
        with (
            patch.object(jobs, "MeasuringProcess", WaitingProcess),
            patch.object(jobs, "downloaded", lambda run: jobs.task(run, nothing)),
            patch.object(benchmarks, "read", lambda row: None),
            patch.object(ClaimQuerySet, "take", timed(ClaimQuerySet.take, claim_files() / self.name)),
        ):
            super().main_work_horse(job, queue)


def timed(take: Callable[..., Any], file: Path) -> Callable[..., Any]:
    """Return the function, which notes in a file how many seconds each call takes."""

    def take_and_note(*args: Any) -> Any:
        began = time.perf_counter()
        try:
            return take(*args)
        finally:
            with file.open("a") as times:
                times.write(f"{time.perf_counter() - began}\n")

    return take_and_note


def claim_files() -> Path:
    """Return the folder in which workers note how long their claims took."""
    return Path(os.environ["CLOZEBOARD_DATA"]) / "claims"


def prepare(runs: int) -> Benchmark:
    """Store so many queued runs of different models, each with its parts, of several submitters."""
    benchmark = Benchmark.objects.create(
        slug="waiting", version="v1", digest="0" * 64, title="Waiting", format="bear", probe="multiple_choice"
    )
    models = Model.objects.bulk_create(
        Model(hub_id=f"org/waiting-{number}", commit=f"{number:040x}") for number in range(runs)
    )
    rows = Run.objects.bulk_create(
        Run(
            model=model,
            benchmark=benchmark,
            settings_digest=f"{number:064x}",
            submitter=f"submitter {number % SUBMITTERS}",
            waiting_work=PARTS,
        )
        for number, model in enumerate(models)
    )
    for run in rows:
        RunPart.objects.bulk_create(
            RunPart(run=run, relation=f"P{number}", template=0, items=1) for number in range(PARTS)
        )
    return benchmark


@contextmanager
def running(*arguments: str, count: int = 1) -> Iterator[None]:
    """Run a management command in so many processes until the end of the block."""
    command = [sys.executable, "manage.py", *arguments]
    processes = [
        subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


class Reader:
    """Reads two pages of the site again and again, and notes how long each takes."""

    def __init__(self, port: int) -> None:
        self.port, self.stop = port, Event()
        self.seconds: list[float] = []
        self.thread = Thread(target=self._read, daemon=True)

    def _read(self) -> None:
        while not self.stop.wait(0.25):
            for page in ("/", "/queue/"):
                began = time.perf_counter()
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}{page}", timeout=60).read()
                self.seconds.append(time.perf_counter() - began)


def drive(workers: int, runs: int, out: str) -> None:
    """Work off the runs of an empty site with so many workers, and write what was measured to the file `out`."""
    benchmark = prepare(runs)
    port = int(os.environ["PORT"])
    claim_files().mkdir()
    worker = ("rqworker", "measure", "--worker-class", f"{__name__}.WaitingWorker")
    with embedded_server(), running("serve"), running("rqcron"), running("rqworker", "checks"):
        wait_for(f"http://127.0.0.1:{port}/healthz")
        put_back()
        with running(*worker, count=workers):
            while not RunEvent.objects.exists():
                time.sleep(0.1)
            reader, began = Reader(port), time.monotonic()
            reader.thread.start()
            while (left := Run.objects.exclude(state__in=STATES).count()) and time.monotonic() - began < LONGEST:
                time.sleep(0.5)
            seconds = time.monotonic() - began
            reader.stop.set()
            reader.thread.join()
        burst = submissions_per_second(benchmark)
    begun = RunEvent.objects.filter(state=Run.State.DOWNLOADING).count()
    claims = [float(line) for file in claim_files().iterdir() for line in file.read_text().split()]
    figures = {
        "workers": workers,
        "runs": runs,
        "parts": runs * PARTS,
        "seconds": seconds,
        "runs_left": left,
        "parts_left": RunPart.objects.filter(done=False).count(),
        "begun_twice": begun - runs,
        "runs_per_second": runs / seconds,
        "parts_per_second": runs * PARTS / seconds,
        "claim_p99": float(np.percentile(claims, 99)),
        "page_p50": float(np.percentile(reader.seconds, 50)),
        "page_p99": float(np.percentile(reader.seconds, 99)),
        "pages": len(reader.seconds),
        "submissions_per_second": burst,
    }
    Path(out).write_text(json.dumps(figures))


def submissions_per_second(benchmark: Benchmark) -> float:
    """Submit many models at once, from twenty threads; return how many are stored and enqueued in a second.

    Raises `RuntimeError` if one was lost.
    """
    began = time.monotonic()
    with ThreadPoolExecutor(20) as threads:
        list(threads.map(lambda number: receive_all(f"org/burst-{number}", [benchmark], {}), range(BURST)))
    seconds = time.monotonic() - began
    if Submission.objects.count() != BURST:
        raise RuntimeError(f"{BURST - Submission.objects.count()} submissions of {BURST} were lost.")
    return BURST / seconds
