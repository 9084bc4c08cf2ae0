"""The worker's jobs: claim a part, probe it, store its rows; after the last one, aggregate and finish the run.

A worker may stop at any moment. Stored parts are not probed again, the claim to a part ends with its lease, and a run
is finished only in the transaction that also writes its scores.
"""

import logging
import os
import socket
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from django.db import transaction
from django.utils import timezone
from rq import get_current_job
from rq.timeouts import JobTimeoutException

from leaderboard import schedule
from leaderboard.intake import hub, queue, submissions
from leaderboard.models import Model, Run, RunPart, Score
from leaderboard.stored import artefacts, benchmarks
from leaderboard.worker.lease import LeasedPart, heartbeat
from probing.errors import ProbingError
from probing.language_model import LanguageModel
from probing.probes.parts import Part
from probing.results.result import Result
from probing.runner import PartResult, Start, joined, probe_part
from probing.scoring.load import load
from probing.settings import Settings

log = logging.getLogger(__name__)
ATTEMPTS = 3  # workers that may be lost on one part before its run fails
ORDER: list[str] = [Run.State.QUEUED, Run.State.DOWNLOADING, Run.State.SCORING, Run.State.AGGREGATING]


class LostWorker(ProbingError):
    """Several workers in a row were lost on the same part."""

    code = "lost-worker"


class TookTooLong(ProbingError):
    """The job ran past the queue's time limit."""

    code = "timeout"


class Ended(Exception):
    """The run was ended or made to wait by another process."""


def work_in_lane(lane: str) -> None:
    """Work on the run of this lane whose turn it is: the job by which the queue wakes a worker up."""
    if run := schedule.next_run(lane):
        probe_run(run.pk)


def probe_run(run_id: int) -> None:
    """Probe what is left of a run: the job that a worker takes from the queue. Every error becomes the run's state."""
    run = Run.objects.select_related("model", "benchmark").filter(pk=run_id).first()
    if run is None or run.state in Run.FINAL:
        return
    try:
        if run.state not in (Run.State.WAITING, Run.State.CHECKING) or submissions.recheck(run):
            work_on(run)
    except Ended:
        log.info("Run %s was ended by another process.", run_id)
    except ProbingError as error:
        stop(run, error)
    except JobTimeoutException:
        stop(run, TookTooLong("The run took longer than a run may take.", "Submit it again; finished parts are kept."))
    except Exception:
        log.exception("Run %s failed.", run_id)
        unforeseen = ProbingError("An unexpected error occurred.", "Try again later, or ask the maintainers.")
        unforeseen.code = "internal"
        stop(run, unforeseen, traceback.format_exc())


def stop(run: Run, error: ProbingError, trace: str = "") -> None:
    """End a run as failed, or let it wait where trying again later may succeed."""
    run.refresh_from_db(fields=["state"])
    if run.state in Run.FINAL:
        return
    if error.permanent:
        Run.objects.fail(run, error.code, error.message, error.next_step, trace)
    else:
        Run.objects.move(run, Run.State.WAITING, str(error))


def work_on(run: Run) -> None:
    """Probe part after part while one is free; the worker that finds all of them done finishes the run."""
    worker = worker_name()
    with heartbeat() as leased:
        part = leased.take(RunPart.objects.claim(run, worker))
        probing = Probing(run, leased, part) if part else None
        while probing and part:
            probing.probe(part)
            part = leased.take(RunPart.objects.claim(run, worker))
    if not run.parts.filter(done=False).exists():
        aggregate(run)


def worker_name() -> str:
    job = get_current_job()
    return (job and job.worker_name) or f"{socket.gethostname()}-{os.getpid()}"


def reach(run: Run, state: Run.State) -> None:
    """Move the run on to `state` unless another worker has; raise `Ended` where it was ended or made to wait."""
    if run.state in ORDER and ORDER.index(run.state) < ORDER.index(state):
        Run.objects.move(run, state)
    run.refresh_from_db(fields=["state"])
    if run.state not in ORDER:
        raise Ended


class Probing:
    """A run's model and benchmark, loaded once for all the parts that this worker takes."""

    def __init__(self, run: Run, leased: LeasedPart, first: RunPart) -> None:
        refuse_lost(first)
        self.run = run
        self.leased = leased
        self.settings = Settings.from_json(run.settings)
        self.content = benchmarks.read(run.benchmark)
        reach(run, Run.State.DOWNLOADING)
        listing = hub.find(run.model.hub_id, run.model.commit)
        path = hub.download(listing)
        queue.enqueue_if_idle(run.pk)
        start_time, begin = timezone.now(), time.perf_counter()
        self.model = load_model(path, listing, self.settings)
        self.start = Start(start_time, time.perf_counter() - begin)
        self.store_facts()
        reach(run, Run.State.SCORING)  # after loading: the time left is computed from the time since then

    def store_facts(self) -> None:
        """Store what is known only of a loaded model, and when the run started."""
        card = self.model.card
        facts = {"kind": card.kind, "architecture": card.architecture, "parameters": card.parameters}
        Model.objects.filter(pk=self.run.model_id).update(**facts)
        Run.objects.filter(pk=self.run.pk, started=None).update(started=self.start.time)

    def probe(self, part: RunPart) -> None:
        """Probe and store one part."""
        refuse_lost(part)
        reach(self.run, Run.State.SCORING)
        done = probe_part(
            self.model,
            self.content,
            self.settings,
            Part(part.relation, part.template, part.items),
            start=self.start,
            on_share=self.leased.progress,
        )
        artefacts.store_part(part, done.rows)
        RunPart.objects.finish(part, done.record)


def refuse_lost(part: RunPart) -> None:
    """Raise `LostWorker` where several workers were lost on this part before."""
    if part.attempts > ATTEMPTS:
        raise LostWorker(
            f"{ATTEMPTS} workers were lost on {part}.",
            "Most likely the machine's memory is too small for this model; ask the maintainers.",
        )


def load_model(path: Path, listing: hub.Listing, settings: Settings) -> LanguageModel:
    """Load the model from its files, under the id and commit by which it was submitted."""
    model = load(str(path), dtype=settings.dtype)
    model.card = replace(model.card, id=listing.hub_id, commit=listing.commit)
    return model


def aggregate(run: Run) -> None:
    """Check that no row is missing, compute the scores and finish the run."""
    reach(run, Run.State.AGGREGATING)
    settings, content = Settings.from_json(run.settings), benchmarks.read(run.benchmark)
    parts = list(run.parts.select_related("run").order_by("pk"))
    finished = [PartResult(artefacts.read_part(part), part.record) for part in parts]
    result = joined(finished, content, settings)
    artefacts.store_result(run, result)
    if finish(run, result):
        artefacts.remove_parts(run)


def finish(run: Run, result: Result) -> bool:
    """Write scores and state in one transaction; return False if another worker has finished the run."""
    table = result.scores.astype(object).where(result.scores.notna(), None)
    scores = cast(list[dict[str, Any]], table.to_dict("records"))
    facts = {"provenance_record": result.record, "artefact": artefacts.folder(run), "finished": timezone.now()}
    with transaction.atomic():
        if not Run.objects.move(run, Run.State.FINISHED, f"{len(result.items)} rows.", **facts):
            return False
        run.scores.all().delete()
        Score.objects.bulk_create(Score(run=run, **score) for score in scores)
    return True
