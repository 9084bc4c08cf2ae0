"""The worker's side: claim a part, probe it, store its rows; with the last one, aggregate and finish.

Everything can stop at any moment. What is stored is never made again, what is claimed comes back when its lease
runs out, and a run is finished only in the one transaction that also writes its scores.
"""

import logging
import os
import socket
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone
from rq import get_current_job
from rq.timeouts import JobTimeoutException

from leaderboard.intake import hub, queue, submissions
from leaderboard.models import Model, Run, RunPart, Score
from leaderboard.stored import artefacts, benchmarks
from leaderboard.worker.lease import LeasedPart, heartbeat
from probing.errors import ProbingError
from probing.language_model import LanguageModel
from probing.probes import probe_of
from probing.results.result import Cost, Result, check_complete, join
from probing.runner import merged, probe_part, record
from probing.scoring.load import load
from probing.settings import Part, Settings

log = logging.getLogger(__name__)
ATTEMPTS = 3  # workers that one part may cost before its run fails
ORDER = [Run.State.QUEUED, Run.State.DOWNLOADING, Run.State.SCORING, Run.State.AGGREGATING]


class LostWorker(ProbingError):
    """Workers died on the same part again and again."""

    code = "lost-worker"


class TookTooLong(ProbingError):
    """The job ran past the queue's time limit."""

    code = "timeout"


class Ended(Exception):
    """Somebody else has ended the run or put it off."""


def probe_run(run_id: int) -> None:
    """The job: go on with this run as far as there is something to do. Whatever happens becomes its state."""
    run = Run.objects.select_related("model", "benchmark").filter(pk=run_id).first()
    if run is None or run.state in Run.FINAL:
        return
    try:
        if run.state not in (Run.State.WAITING, Run.State.CHECKING) or submissions.recheck(run):
            work_on(run)
    except Ended:
        log.info("Run %s was ended by somebody else.", run_id)
    except ProbingError as error:
        stop(run, error)
    except JobTimeoutException:
        stop(run, TookTooLong("The run took longer than a run may take.", "Submit it again: it goes on from here."))
    except Exception:
        log.exception("Run %s failed.", run_id)
        unforeseen = ProbingError("Something unforeseen went wrong.", "The maintainers can see what; try again later.")
        unforeseen.code = "internal"
        stop(run, unforeseen, traceback.format_exc())


def stop(run: Run, error: ProbingError, trace: str = "") -> None:
    """Failed, or waiting where trying again later may succeed."""
    run.refresh_from_db(fields=["state"])
    if run.state in Run.FINAL:
        return
    if error.permanent:
        Run.objects.fail(run, error.code, error.message, error.next_step, trace)
    else:
        Run.objects.move(run, Run.State.WAITING, str(error))


def work_on(run: Run) -> None:
    """Probe part after part while there is a free one; whoever did the last finishes the run."""
    worker = worker_name()
    with heartbeat() as hand:
        hand.take(RunPart.objects.claim(run, worker))
        probing = Probing(run, hand) if hand.part else None
        while hand.part:
            probing.probe(hand.part)
            hand.take(RunPart.objects.claim(run, worker))
    if not run.parts.filter(done=False).exists():
        aggregate(run)


def worker_name() -> str:
    job = get_current_job()
    return (job and job.worker_name) or f"{socket.gethostname()}-{os.getpid()}"


def reach(run: Run, state: Run.State) -> None:
    """Move on to `state` unless another worker has; stop where the run has been ended or put off."""
    if run.state in ORDER and ORDER.index(run.state) < ORDER.index(state):
        Run.objects.move(run, state)
    run.refresh_from_db(fields=["state"])
    if run.state not in ORDER:
        raise Ended


class Probing:
    """A run's model and benchmark, loaded once for all the parts that this worker takes."""

    def __init__(self, run: Run, hand: LeasedPart) -> None:
        refuse_poison(hand.part)
        self.run = run
        self.hand = hand
        self.settings = Settings.from_json(run.settings)
        self.content = benchmarks.read(run.benchmark)
        reach(run, Run.State.DOWNLOADING)
        listing = hub.find(run.model.hub_id, run.model.commit)
        path = hub.download(listing)
        queue.enqueue_if_idle(run.pk)
        self.start = timezone.now()
        begin = time.perf_counter()
        self.model = load_model(path, listing, self.settings)
        self.load_seconds = time.perf_counter() - begin
        self.note_facts()
        reach(run, Run.State.SCORING)  # after loading: the time left is told by the time since

    def note_facts(self) -> None:
        """What only the loaded model tells."""
        card = self.model.card
        facts = {"kind": card.kind, "architecture": card.architecture, "parameters": card.parameters}
        Model.objects.filter(pk=self.run.model_id).update(**facts)
        Run.objects.filter(pk=self.run.pk, started=None).update(started=self.start)

    def probe(self, part: RunPart) -> None:
        """Probe and store one part."""
        refuse_poison(part)
        reach(self.run, Run.State.SCORING)
        asked = Part(part.relation, part.template, part.items)
        before, begin = replace(self.model.usage), time.perf_counter()
        rows = probe_part(self.model, self.content, self.settings, asked, self.hand.progress)
        cost = Cost.since(before, self.model.usage, time.perf_counter() - begin)
        artefacts.store_part(part, rows)
        RunPart.objects.finish(part, self.record(cost, part.items))

    def record(self, cost: Cost, items: int) -> dict[str, Any]:
        return record(
            self.model,
            self.content,
            self.settings,
            cost=cost,
            start=self.start,
            load_seconds=self.load_seconds,
            items=items,
        )


def refuse_poison(part: RunPart) -> None:
    """A part that has cost several workers their lives is not given another."""
    if part.attempts > ATTEMPTS:
        raise LostWorker(
            f"{ATTEMPTS} workers were lost on {part}.",
            "Most likely the machine's memory is too small for this model; the maintainers can tell.",
        )


def load_model(path: Path, listing: hub.Listing, settings: Settings) -> LanguageModel:
    """The model from its files, under the id and commit by which it was submitted."""
    model = load(str(path), dtype=settings.dtype)
    model.card = replace(model.card, id=listing.hub_id, commit=listing.commit)
    return model


def aggregate(run: Run) -> None:
    """All parts are there: check that nothing is missing, compute the scores, finish."""
    reach(run, Run.State.AGGREGATING)
    settings, content = Settings.from_json(run.settings), benchmarks.read(run.benchmark)
    parts = list(run.parts.select_related("run").order_by("pk"))
    rows = join(map(artefacts.read_part, parts))
    check_complete(rows, content, settings)
    result = Result(rows, probe_of(settings).scores(rows), merged([part.record for part in parts]))
    artefacts.store_result(run, result)
    if finish(run, result):
        artefacts.remove_parts(run)


def finish(run: Run, result: Result) -> bool:
    """Scores and state in one transaction; False if another worker has finished the run."""
    scores = result.scores.astype(object).where(result.scores.notna(), None)
    facts = {"provenance_record": result.record, "artefact": artefacts.folder(run), "finished": timezone.now()}
    with transaction.atomic():
        if not Run.objects.move(run, Run.State.FINISHED, f"{len(result.items)} rows.", **facts):
            return False
        run.scores.all().delete()
        Score.objects.bulk_create(Score(run=run, **score) for score in scores.to_dict("records"))
    return True
