"""Signs of life: a worker keeps the lease of the part it has in hand for as long as its process lives."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from django.db import connection

from leaderboard.models import RunPart

BEAT = 2  # seconds between two signs of life


class LeasedPart:
    """The part that this worker has in hand, and what share of its work is done."""

    def __init__(self) -> None:
        self.part: RunPart | None = None
        self.share = 0.0

    def take(self, part: RunPart | None) -> None:
        self.part, self.share = part, 0.0

    def progress(self, share: float) -> None:
        self.share = share


@contextmanager
def heartbeat() -> Iterator[LeasedPart]:
    """A hand that is kept leased by a thread; what it still holds at the end is given back unharmed."""
    hand, over = LeasedPart(), Event()
    thread = Thread(target=_beat, args=(hand, over), daemon=True)
    thread.start()
    try:
        yield hand
    finally:
        over.set()
        thread.join()
        if hand.part:
            RunPart.objects.release(hand.part)


def _beat(hand: LeasedPart, over: Event) -> None:
    try:
        while not over.wait(BEAT):
            if part := hand.part:
                RunPart.objects.renew(part, int(hand.share * part.items))
    finally:
        connection.close()
