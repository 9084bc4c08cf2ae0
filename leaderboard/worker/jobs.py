"""The jobs of workers: measure a run, finish it, and rank a benchmark.

One run is one job. A worker of a measuring queue claims the run, measures part after part and stores their rows; then
it goes on with the runs that wait for the same model, which it need not load again. Joining, scores and ranks are jobs
of the queue `finish`, which needs no GPU. Models are loaded and scored by a process of its own (`probing.measuring`),
as they are files of strangers.

A worker may stop at any moment. Stored parts are not measured again, the run can be claimed again soon afterwards, and
it is finished only in the transaction that also writes its scores.
"""

import logging
import os
import socket
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

import pandas as pd
from django.conf import settings
from rq import get_current_job
from rq.timeouts import JobTimeoutException

from leaderboard.figures import artefacts, benchmarks
from leaderboard.figures.artefacts import UNAVAILABLE, DatabaseUnavailable, patiently
from leaderboard.figures.ranks import refresh_standings
from leaderboard.intake import hub, queue
from leaderboard.line import FINISH
from leaderboard.models import Benchmark, Model, Run, RunPart
from leaderboard.serving.logs import run_context
from leaderboard.worker.finishing import PartsOfRun, store_and_finish
from leaderboard.worker.run_states import Ended, HeldRun, held, note_recovery, reach, stop
from probing.errors import ProbingError
from probing.files.folders import space
from probing.language_model import ModelCard
from probing.measuring.failures import Crashed
from probing.measuring.limits import Limits
from probing.measuring.messages import BenchmarkFiles, Task
from probing.measuring.process import MeasuringProcess
from probing.results.joining import PartResult, joined_in_folder
from probing.results.run_json import Start
from probing.settings import Settings

log = logging.getLogger(__name__)
State = Run.State
MEASURABLE = (State.QUEUED, State.DOWNLOADING, State.SCORING)
MOST_TOGETHER = 8  # runs of one model that a worker measures before others have their turn


class TookTooLong(ProbingError):
    """The job ran past the queue's time limit."""

    code = "timeout"


def measure_run(run_id: int) -> None:
    """Measure what is left of a run, and then the runs that wait for the same model: a job of a measuring worker."""
    run = patiently(Run.objects.select_related("model", "benchmark").filter(pk=run_id).first)
    if run is None or run.state not in MEASURABLE:
        return
    runs = [run, *patiently(companions, run)]
    with LoadedModel(runs) as model:
        for one in runs:
            attempt(one, partial(measure, model=model))
            if one.state == State.AGGREGATING:  # put in only now, when the worker that finishes it can claim it
                queue.put_job(FINISH, "finish", one.pk)


def companions(run: Run) -> list[Run]:
    """Return the queued runs for which the model of this run is loaded in the same way, the oldest first."""
    same = {name: run.settings.get(name) for name in ("dtype", "quantization")}
    queued = Run.objects.filter(state=State.QUEUED, queue=run.queue, model=run.model_id).exclude(pk=run.pk)
    alike = [
        other
        for other in queued.select_related("model", "benchmark").order_by("pk")
        if {name: other.settings.get(name) for name in same} == same
    ]
    return alike[: MOST_TOGETHER - 1]


def finish_run(run_id: int) -> None:
    """Join the rows of a measured run, compute its scores and finish it."""
    run = patiently(Run.objects.select_related("model", "benchmark").filter(pk=run_id).first)
    if run is None or run.state != State.AGGREGATING:
        return
    attempt(run, finish)
    if run.state == State.FINISHED:
        queue.put_job(FINISH, "rank", run.benchmark_id)


def rank_benchmark(benchmark_id: int) -> None:
    """Renew what depends on all results of a benchmark; however many runs have finished, this is one job."""
    if benchmark := patiently(Benchmark.objects.filter(pk=benchmark_id).first):
        patiently(refresh_standings, benchmark, new_only=True)


def attempt(run: Run, work: Callable[[HeldRun], None]) -> None:
    """Claim a run and do this work with it, unless another worker has it; every error becomes the run's state."""
    try:
        with (
            run_context(run_id=run.pk, worker=worker_name()),
            space(settings.DATA),
            held(run, worker_name()) as held_run,
        ):
            if held_run:
                patiently(run.refresh_from_db, fields=["state"])
                held_run.refuse_lost()
                work(held_run)
    except Ended:
        log.info("Run %s was ended by another process.", run.pk)
    except (DatabaseUnavailable, *UNAVAILABLE) as error:
        log.warning("Run %s is queued again later: %s", run.pk, error)  # by `reconciling`
    except ProbingError as error:
        stop(run, error, getattr(error, "trace", ""))
    except JobTimeoutException:
        stop(run, TookTooLong("The run took longer than a run may take.", "Submit it again; finished parts are kept."))
    except Exception:
        log.exception("Run %s failed.", run.pk)
        unforeseen = ProbingError("An unexpected error occurred.", "Try again later, or ask the maintainers.")
        unforeseen.code = "internal"
        stop(run, unforeseen, traceback.format_exc())


def measure(held_run: HeldRun, model: "LoadedModel") -> None:
    """Measure the parts of a run that are not done; a process that crashes is started again a few times."""
    run = held_run.run
    if run.state not in MEASURABLE:
        return
    if run.state == State.QUEUED:
        reach(run, State.DOWNLOADING)
        patiently(queue.put_in_next, run.queue, run.submitter)
    while parts := patiently(list, run.parts.filter(done=False).select_related("run").order_by("pk")):
        try:
            measure_parts(held_run, model, parts)
        except Crashed as crash:
            model.end()
            if not held_run.may_lose_another():
                raise
            log.warning("Run %s: %s", run.pk, crash)
        except BaseException:
            model.end()  # it may be in the middle of a part
            raise
    reach(run, State.AGGREGATING)


def measure_parts(held_run: HeldRun, model: "LoadedModel", parts: Sequence[RunPart]) -> None:
    """Measure parts with the loaded model, one after the other, and store the rows of each."""
    process = model.process_for(held_run)
    for part in parts:
        reach(held_run.run, State.SCORING)  # first after loading: the time left is computed from the time since then
        held_run.begin(part)
        with run_context(part=str(part)):
            store(held_run, part, process.measure(part.covered, held_run.progress, positions=part.work))


class LoadedModel:
    """The process that has loaded the model of some runs: started for the first of them, kept for the others."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = runs
        self._process: MeasuringProcess | None = None
        self._ending = ExitStack()

    def __enter__(self) -> "LoadedModel":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """End the process; the next run has the model loaded again."""
        self._ending.close()
        self._process = None

    def process_for(self, held_run: HeldRun) -> MeasuringProcess:
        """Return the process, which measures parts of this run from now on; the model is downloaded if need be."""
        run = held_run.run
        benchmarks.read(run.benchmark)  # raises an error if the files were changed
        if self._process:
            card, start = self._process.turn_to(replace(self._process.task, **measured_by(run)))
        else:
            benchmarks_of_all = [benchmark_files(other) for other in self.runs]
            limits = Limits(memory=settings.MEMORY_LIMIT, isolated=settings.ISOLATION_REQUIRED)
            process = MeasuringProcess(task(run), limits, benchmarks_of_all)
            self._process = self._ending.enter_context(process)
            card, start = process.load(held_run.check)
        patiently(store_facts, run, card, start)
        patiently(note_recovery, run)
        return self._process


def task(run: Run) -> Task:
    """Download the run's model, and return what a measuring process has to do with it."""
    model = run.model
    path = hub.download(hub.find(model.base_id, model.commit))
    adapter = hub.find_adapter(model.adapter_id, model.adapter_commit) if model.adapter_id else None
    return Task(
        path,
        model.hub_id,
        model.commit,
        device=settings.DEVICE,
        adapter=hub.download_adapter(adapter) if adapter else None,
        adapter_commit=model.adapter_commit,
        **measured_by(run),
    )


def measured_by(run: Run) -> dict[str, Any]:
    """Return what a task has of a run beside its model."""
    return {"benchmark": benchmark_files(run), "settings": Settings.from_json(run.settings)}


def benchmark_files(run: Run) -> BenchmarkFiles:
    benchmark = run.benchmark
    return BenchmarkFiles(benchmark.format, benchmarks.folder_of(benchmark), benchmark.slug, benchmark.digest)


def store_facts(run: Run, card: ModelCard, start: Start) -> None:
    """Store what is known only of a loaded model, and when the run started."""
    facts = {name: getattr(card, name) for name in ("kind", "architecture", "parameters")}
    Model.objects.filter(pk=run.model_id).update(**facts)
    Run.objects.filter(pk=run.pk, started=None).update(started=start.time)


def store(held_run: HeldRun, part: RunPart, result: PartResult) -> None:
    """Store the rows of a part; drop them, and raise `Ended`, where another worker has the run now."""
    artefacts.store_part(part, result.rows)
    accuracy = share_right(result.rows, held_run.run.benchmark.correctness.column)
    if not patiently(RunPart.objects.finish, part, held_run.claim, result.record, accuracy):
        artefacts.remove_part(part)
        raise Ended


def share_right(rows: pd.DataFrame, column: str) -> float | None:
    """Return the share of right answers among the rows that count; None where answers are not right or wrong."""
    if column not in rows or rows[column].isna().all():
        return None
    return float(rows[column].dropna().astype(float).mean())


def worker_name() -> str:
    job = get_current_job()
    return (job and job.worker_name) or f"{socket.gethostname()}-{os.getpid()}"


def finish(held_run: HeldRun) -> None:
    """Check that no row of a run is missing, compute its scores and finish it."""
    run = held_run.run
    if run.state != State.AGGREGATING:
        return
    plan = benchmarks.plan_of_run(run)
    parts = PartsOfRun(patiently(list, run.parts.select_related("run")))
    with TemporaryDirectory() as scratch:
        store_and_finish(run, joined_in_folder(parts, plan, Path(scratch) / "result"))
    patiently(note_recovery, run)
