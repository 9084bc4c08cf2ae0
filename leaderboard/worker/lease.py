"""Heartbeats: a worker keeps the lease of the part that it computes for as long as its process lives."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from django.db import connection

from leaderboard.models import RunPart

BEAT = 2  # seconds between two heartbeats


class LeasedPart:
    """The part that this worker holds at the moment, if any, and the share of its work that is done."""

    def __init__(self) -> None:
        self.part: RunPart | None = None
        self.share = 0.0

    def take(self, part: RunPart | None) -> None:
        """Hold this part from now on; None if there is no part left."""
        self.part, self.share = part, 0.0

    def progress(self, share: float) -> None:
        """Note which share of the part's work is done, from 0 to 1."""
        self.share = share


@contextmanager
def heartbeat() -> Iterator[LeasedPart]:
    """Renew the lease of the part that the block holds, from a thread.

    A part that the block still holds at its end, for example after an error, is released.
    """
    leased, ended = LeasedPart(), Event()
    thread = Thread(target=_beat, args=(leased, ended), daemon=True)
    thread.start()
    try:
        yield leased
    finally:
        ended.set()
        thread.join()
        if leased.part:
            RunPart.objects.release(leased.part)


def _beat(leased: LeasedPart, ended: Event) -> None:
    try:
        while not ended.wait(BEAT):
            if part := leased.part:
                RunPart.objects.renew(part, int(leased.share * part.items))
    finally:
        connection.close()
