"""Leases: a worker keeps the claim to its part for as long as its process lives."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from django.db import connection

from leaderboard.models import RunPart

INTERVAL = 2  # seconds between two renewals of a lease


class LeasedPart:
    """The part that this worker has claimed, if any, and the share of its work that is done."""

    def __init__(self) -> None:
        self.part: RunPart | None = None
        self.share = 0.0

    def take(self, part: RunPart | None) -> RunPart | None:
        """Make this the part whose lease is kept, and return it."""
        self.part, self.share = part, 0.0
        return part

    def progress(self, share: float) -> None:
        self.share = share


@contextmanager
def heartbeat() -> Iterator[LeasedPart]:
    """Keep the leased part in a thread; at the end, give back a part that is not done."""
    leased, stop = LeasedPart(), Event()
    thread = Thread(target=_keep, args=(leased, stop), daemon=True)
    thread.start()
    try:
        yield leased
    finally:
        stop.set()
        thread.join()
        if leased.part:
            RunPart.objects.release(leased.part)


def _keep(leased: LeasedPart, stop: Event) -> None:
    """Renew the lease again and again until `stop` is set."""
    try:
        while not stop.wait(INTERVAL):
            if part := leased.part:
                RunPart.objects.renew(part, int(leased.share * part.items))
    finally:
        connection.close()
