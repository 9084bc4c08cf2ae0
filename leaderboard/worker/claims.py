"""The claim of a run by the worker that measures or finishes it, which is renewed for as long as its process lives."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from django.db import connection

from leaderboard.figures.artefacts import UNAVAILABLE, patiently
from leaderboard.models import Claim, Run, RunPart
from probing.errors import ProbingError

INTERVAL = 2  # seconds between two reports
ATTEMPTS = 3  # workers, or processes, that may be lost on a run without one finished part before it fails


class Ended(Exception):
    """The run was ended or made to wait by another process, or another worker has it now."""


class LostWorker(ProbingError):
    """Several workers in a row were lost on the same part of a run."""

    code = "lost-worker"


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
    held_run, stop = HeldRun(run, claim), Event()
    thread = Thread(target=_report, args=(held_run, stop), daemon=True)
    thread.start()
    try:
        yield held_run
    finally:
        stop.set()
        thread.join()
        with suppress(*UNAVAILABLE):  # the claim will become stale
            Claim.objects.release(claim)


def _report(held_run: HeldRun, stop: Event) -> None:
    """Report again and again until `stop` is set, also after a time in which the database was away."""
    try:
        while not stop.wait(INTERVAL):
            try:
                held_run.report()
            except UNAVAILABLE:
                connection.close()
    finally:
        connection.close()
