"""The worker's jobs: claim a part, have it measured, store its rows; after the last one, aggregate and finish the run.

Models are loaded and scored by a process of its own (`probing.measuring`), as they are files of strangers.

A worker may stop at any moment. Stored parts are not measured again, the claim to a part ends with its lease, and a run
is finished only in the transaction that also writes its scores.
"""

import logging
import os
import socket
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from rq import get_current_job
from rq.timeouts import JobTimeoutException

from leaderboard import schedule
from leaderboard.figures import artefacts, benchmarks
from leaderboard.figures.artefacts import UNAVAILABLE, DatabaseUnavailable, patiently
from leaderboard.figures.ranks import refresh_standings
from leaderboard.intake import hub, queue
from leaderboard.models import Model, Run, RunPart
from leaderboard.serving.logs import run_context
from leaderboard.worker import pushes
from leaderboard.worker.finishing import PartsOfRun, store_and_finish
from leaderboard.worker.lease import Ended, LeasedPart, heartbeat
from leaderboard.worker.run_states import ATTEMPTS, note_recovery, reach, refuse_lost, stop
from probing.errors import ProbingError
from probing.files.folders import space
from probing.measuring.failures import Crashed
from probing.measuring.limits import Limits
from probing.measuring.messages import BenchmarkFiles, Task
from probing.measuring.process import Loaded, MeasuringProcess
from probing.results.joining import PartResult, joined_in_folder
from probing.settings import Settings

log = logging.getLogger(__name__)


class TookTooLong(ProbingError):
    """The job ran past the queue's time limit."""

    code = "timeout"


def work_in_lane(lane: str) -> None:
    """Work on the run of this lane whose turn it is: the job by which the queue wakes a worker up."""
    with suppress(DatabaseUnavailable):  # the run waits for the next job of the lane
        if run := patiently(schedule.next_run, lane):
            probe_run(run.pk)


def probe_run(run_id: int) -> None:
    """Measure what is left of a run: the job of a worker. Every error becomes the run's state."""
    run = patiently(Run.objects.select_related("model", "benchmark").filter(pk=run_id).first)
    if run is None or run.state in Run.FINAL:
        return
    try:
        with run_context(run_id=run.pk, worker=worker_name()), space(settings.DATA):
            if run.state != Run.State.WAITING or Run.objects.move(run, Run.State.QUEUED, "Trying again."):
                work_on(run)
    except Ended:
        log.info("Run %s was ended by another process.", run_id)
    except (DatabaseUnavailable, *UNAVAILABLE) as error:
        log.warning("Run %s is queued again later: %s", run_id, error)  # by `queue.requeue_lost`
    except ProbingError as error:
        stop(run, error, getattr(error, "trace", ""))
    except JobTimeoutException:
        stop(run, TookTooLong("The run took longer than a run may take.", "Submit it again; finished parts are kept."))
    except Exception:
        log.exception("Run %s failed.", run_id)
        unforeseen = ProbingError("An unexpected error occurred.", "Try again later, or ask the maintainers.")
        unforeseen.code = "internal"
        stop(run, unforeseen, traceback.format_exc())


def work_on(run: Run) -> None:
    """Measure part after part while one is free; one worker that finds all of them done finishes the run."""
    with heartbeat() as leased:
        while leased.take(claim(run)):
            try:
                measure_parts(run, leased)
                break
            except Crashed as crash:
                if leased.part and leased.part.attempts >= ATTEMPTS:
                    raise
                log.warning("Run %s: %s", run.pk, crash)
                leased.lose()
        if not patiently(run.parts.filter(done=False).exists) and leased.take_finish(run):
            if run.provenance == Run.Provenance.THIRD_PARTY:
                pushes.settle(run)
                patiently(note_recovery, run)
            else:
                aggregate(run)


def measure_parts(run: Run, leased: LeasedPart) -> None:
    """Load the model once, and measure the leased part and then every other one that is free.

    A worker that shares the run leaves it between two parts for a run that has no worker at all.
    """
    if leased.part:
        refuse_lost(leased.part)
    with loaded_model(run, leased) as process:
        while part := leased.part:
            refuse_lost(part)
            reach(run, Run.State.SCORING)  # first after loading: the time left is computed from the time since then
            with run_context(part=str(part)):
                store(part, process.measure(part.covered, leased.progress, positions=part.work))
            leased.take(None if patiently(schedule.should_leave, run) else claim(run))


def claim(run: Run) -> RunPart | None:
    """Lease the run's next free part, if there is one."""
    return patiently(RunPart.objects.claim, run, worker_name())


@contextmanager
def loaded_model(run: Run, leased: LeasedPart) -> Iterator[MeasuringProcess]:
    """Download the run's model, and yield a process that has loaded it and read the benchmark."""
    benchmarks.read(run.benchmark)  # raises an error if the files were changed
    reach(run, Run.State.DOWNLOADING)
    files = downloaded(run)
    queue.enqueue_if_idle(run.pk)
    with measuring_process(files) as process:
        patiently(store_facts, run, process.load(leased.check))
        patiently(note_recovery, run)
        yield process


def downloaded(run: Run) -> Task:
    """Download the run's model, and return what a measuring process has to do with it."""
    model = run.model
    path = hub.download(hub.find(model.base_id, model.commit))
    adapter = hub.find_adapter(model.adapter_id, model.adapter_commit) if model.adapter_id else None
    return task(run, path, hub.download_adapter(adapter) if adapter else None)


def measuring_process(files: Task) -> MeasuringProcess:
    return MeasuringProcess(files, Limits(memory=settings.MEMORY_LIMIT, isolated=settings.ISOLATION_REQUIRED))


def task(run: Run, path: Path, adapter: Path | None = None) -> Task:
    """Return what the measuring process has to do, with the model's files at `path` and those of its adapter."""
    benchmark = run.benchmark
    files = BenchmarkFiles(benchmark.format, benchmarks.folder_of(benchmark), benchmark.slug, benchmark.digest)
    return Task(
        path,
        run.model.hub_id,
        run.model.commit,
        files,
        Settings.from_json(run.settings),
        device=settings.DEVICE,
        adapter=adapter,
        adapter_commit=run.model.adapter_commit,
    )


def store_facts(run: Run, loaded: Loaded) -> None:
    """Store what is known only of a loaded model, and when the run started."""
    facts = {name: getattr(loaded.card, name) for name in ("kind", "architecture", "parameters")}
    Model.objects.filter(pk=run.model_id).update(**facts)
    Run.objects.filter(pk=run.pk, started=None).update(started=loaded.start)


def store(part: RunPart, result: PartResult) -> None:
    """Store the rows of a part; drop them where another worker has the part now."""
    digest = artefacts.store_part(part, result.rows)
    if not patiently(finish_part, part, result.record, digest):
        artefacts.remove_part(part)


def finish_part(part: RunPart, record: dict[str, Any], digest: str) -> bool:
    """Mark a part as done; return True also where that was done before, and only the confirmation was lost."""
    lease = RunPart.objects.filter(pk=part.pk, worker=part.worker, attempts=part.attempts)
    finished = RunPart.objects.finish(part, record) or lease.filter(done=True).exists()
    lease.update(digest=digest)
    return finished


def worker_name() -> str:
    job = get_current_job()
    return (job and job.worker_name) or f"{socket.gethostname()}-{os.getpid()}"


def aggregate(run: Run) -> None:
    """Check that no row is missing, compute the scores and finish the run."""
    reach(run, Run.State.AGGREGATING)
    plan = benchmarks.plan_of_run(run)
    parts = PartsOfRun(patiently(list, run.parts.select_related("run")))
    with TemporaryDirectory() as scratch:
        result = joined_in_folder(parts, plan, Path(scratch) / "result")
        if store_and_finish(run, result):
            patiently(refresh_standings, run.benchmark, beside=run.pk)
