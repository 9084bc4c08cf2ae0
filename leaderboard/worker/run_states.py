"""The states of a run while workers measure it: it goes on, fails, or waits until a fault is gone.

The worker that measures or finishes a run has a claim of it, which is renewed for as long as its process lives.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from threading import Event, Thread

from django.db import connection
from django.utils import timezone

from leaderboard.figures.artefacts import UNAVAILABLE, DatabaseUnavailable, patiently
from leaderboard.intake import queue
from leaderboard.models import Claim, Run, RunPart
from probing.errors import ProbingError, SlowDownload

LONGEST_WAIT = timedelta(days=7)  # after which a run that could not go on fails
INTERVAL = 2  # seconds between two reports
ATTEMPTS = 3  # workers, or processes, that may be lost on a run without one finished part before it fails
ORDER: list[str] = [Run.State.QUEUED, Run.State.DOWNLOADING, Run.State.SCORING, Run.State.AGGREGATING]


class Ended(Exception):
    """The run was ended or made to wait by another process, or another worker has it now."""


class LostWorker(ProbingError):
    """Several workers in a row were lost on the same part of a run."""

    code = "lost-worker"


def reach(run: Run, state: Run.State) -> None:
    """Move the run on to `state` unless another worker has; raise `Ended` where it was ended or made to wait."""
    if run.state in ORDER and ORDER.index(run.state) < ORDER.index(state):
        patiently(_move, run, state)
    patiently(run.refresh_from_db, fields=["state"])
    if run.state not in ORDER:
        raise Ended


def _move(run: Run, state: Run.State) -> None:
    """Change the state unless another worker has; `run` tells the former state even if the change was not committed."""
    former = run.state
    try:
        Run.objects.move(run, state)
    except UNAVAILABLE:
        run.state = former
        raise


def stop(run: Run, error: ProbingError, trace: str = "") -> None:
    """End a run as failed, or let it wait where trying again later may succeed."""

    def end() -> None:
        run.refresh_from_db(fields=["state"])
        if run.state in Run.FINAL:
            return
        if error.permanent or waited_enough(run, error):
            Run.objects.fail(run, error.code, error.message, error.next_step, trace, error.log)
        else:
            Run.objects.move(run, Run.State.WAITING, str(error), code=error.code)

    with suppress(DatabaseUnavailable):  # the next job of this run meets the same error
        patiently(end)


def waited_enough(run: Run, error: ProbingError) -> bool:
    """Tell whether a run whose error is temporary has been tried so often, or so long, that it fails.

    A download that is too slow is tried `ATTEMPTS` times, as the next worker would be held up as well. For a hub, a
    disk or a storage that does not answer, a run waits for `LONGEST_WAIT`.
    """
    ended = run.events.filter(state__in=Run.FINAL).order_by("-pk").values_list("pk", flat=True).first() or 0
    waits = run.events.filter(state=Run.State.WAITING, pk__gt=ended)
    if error.code == SlowDownload.code:
        return waits.count() + 1 >= ATTEMPTS
    return waits.filter(time__lt=timezone.now() - LONGEST_WAIT).exists()


def note_recovery(run: Run) -> None:
    """Note that a fault is gone for which this run had to wait; others need not wait for it any longer either."""
    if not run.code:
        return
    Run.objects.filter(pk=run.pk).update(code="")
    if run.code != SlowDownload.code:  # which is a fault of this model's files only
        queue.end_outage(run.code)
    run.code = ""


# A run that a worker has.


class HeldRun:
    """A run that this worker has: its claim, and the part that is being measured with the share that is done."""

    def __init__(self, run: Run, claim: Claim) -> None:
        self.run, self.claim = run, claim
        self.part: RunPart | None = None
        self.share = 0.0
        self.lost = False

    def begin(self, part: RunPart) -> None:
        """Note which part is measured from now on."""
        part.attempt = self.claim.number  # its rows are stored under this number
        self.part, self.share = part, 0.0

    def progress(self, share: float) -> None:
        """Note the share of the part's work that is done; raise `Ended` if the run is no longer this worker's."""
        self.share = share
        self.check()

    def check(self) -> None:
        """Raise `Ended` if the run was ended, or another worker has it."""
        if self.lost:
            raise Ended

    def may_lose_another(self) -> bool:
        """Count a measuring process that crashed, as if it were a worker; return False if that were too many."""
        patiently(Claim.objects.count_loss, self.claim)
        patiently(self.claim.refresh_from_db, fields=["losses"])
        return self.claim.losses <= ATTEMPTS

    def refuse_lost(self) -> None:
        """Raise `LostWorker` where several workers were lost on this run since its last part was done."""
        if self.claim.losses > ATTEMPTS:
            raise LostWorker(
                f"{ATTEMPTS} workers were lost on this run, one after the other, before a part of it was done.",
                "Most likely the machine's memory is too small for this model; ask the maintainers.",
            )

    def report(self) -> None:
        """Tell the database that the worker is alive and how far it is."""
        self.lost = self.lost or not Claim.objects.renew(self.claim)
        if (part := self.part) and not self.lost:
            RunPart.objects.progress(part, self.claim, int(self.share * part.items))


@contextmanager
def held(run: Run, worker: str) -> Iterator[HeldRun | None]:
    """Claim a run during the block, and report in a thread meanwhile; yield None if another worker has it."""
    claim = patiently(Claim.objects.take, run, worker)
    if claim is None:
        yield None
        return
    held_run, ended = HeldRun(run, claim), Event()
    thread = Thread(target=_report, args=(held_run, ended), daemon=True)
    thread.start()
    try:
        yield held_run
    finally:
        ended.set()
        thread.join()
        with suppress(*UNAVAILABLE):  # the claim will become stale
            Claim.objects.release(claim)


def _report(held_run: HeldRun, ended: Event) -> None:
    """Report again and again until `ended` is set, also after a time in which the database was away."""
    try:
        while not ended.wait(INTERVAL):
            try:
                held_run.report()
            except UNAVAILABLE:
                connection.close()
    finally:
        connection.close()
