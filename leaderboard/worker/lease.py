"""Leases: a worker keeps its part, or the run that it finishes, for as long as its process lives."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from django.db import connection

from leaderboard.figures.artefacts import UNAVAILABLE, patiently
from leaderboard.models import Run, RunPart

INTERVAL = 2  # seconds between two renewals of a lease


class Ended(Exception):
    """The run was ended or made to wait by another process, or another worker has its part now."""


class LeasedPart:
    """The part that this worker has claimed, if any, and the share of its work that is done.

    A worker that has found all parts of a run done claims the run instead, in order to finish it.
    """

    def __init__(self) -> None:
        self.part: RunPart | None = None
        self.finishing: Run | None = None
        self.share = 0.0
        self.lost = False

    def take(self, part: RunPart | None) -> RunPart | None:
        """Make this the part whose lease is kept, and return it."""
        self.part, self.share, self.lost = part, 0.0, False
        return part

    def take_finish(self, run: Run) -> bool:
        """Claim a run whose parts are all done; return False if another worker finishes it."""
        if patiently(Run.objects.claim_finish, run):
            self.finishing = run
        return self.finishing is not None

    def progress(self, share: float) -> None:
        """Note the share of the part's work that is done; raise `Ended` if the part is no longer this worker's."""
        self.share = share
        self.check()

    def check(self) -> None:
        """Raise `Ended` if the run was ended, or the part is no longer this worker's."""
        if self.lost:
            raise Ended

    def lose(self) -> None:
        """End the lease because the part's process was lost; this counts as an attempt."""
        if self.part:
            patiently(RunPart.objects.lose, self.part)
        self.take(None)


@contextmanager
def heartbeat() -> Iterator[LeasedPart]:
    """Keep what is leased in a thread; at the end, give back a part that is not done and a run to be finished."""
    leased, stop = LeasedPart(), Event()
    thread = Thread(target=_keep, args=(leased, stop), daemon=True)
    thread.start()
    try:
        yield leased
    finally:
        stop.set()
        thread.join()
        with suppress(*UNAVAILABLE):  # the lease will run out
            if leased.part:
                RunPart.objects.release(leased.part)
            if leased.finishing:
                Run.objects.release_finish(leased.finishing)


def _keep(leased: LeasedPart, stop: Event) -> None:
    """Renew the lease again and again until `stop` is set, also after a time in which the database was away."""
    try:
        while not stop.wait(INTERVAL):
            try:
                if (part := leased.part) and not RunPart.objects.renew(part, int(leased.share * part.items)):
                    leased.lost = part is leased.part
                if leased.finishing:
                    Run.objects.renew_finish(leased.finishing)
            except UNAVAILABLE:
                connection.close()
    finally:
        connection.close()
