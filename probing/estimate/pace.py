"""The pace of work: how fast it has been lately, from which the time left of a run follows, here and on a site."""

from collections.abc import Sequence
from typing import NamedTuple

HALF_LIFE = 60.0  # seconds of work after which what was measured counts half
SHARE = 1 / 8  # in long runs, the half-life is this share of all the time that was worked
MOST_STRETCHES = 400  # that are remembered; beyond that, neighbours are joined


class Stretch(NamedTuple):
    """Work that took so many seconds without a break."""

    work: float
    seconds: float


def recent_rate(done: Sequence[Stretch]) -> float | None:
    """Return the work per second, given work in its order, with more weight on what was done lately; None without any.

    The weight halves with each half-life of time worked afterwards. Breaks do not count, so a run that was interrupted
    for a day goes on at the pace that it had.
    """
    half_life = max(HALF_LIFE, SHARE * sum(stretch.seconds for stretch in done))
    work = seconds = after = 0.0
    for stretch in reversed(done):
        weight = 0.5 ** ((after + stretch.seconds / 2) / half_life)
        work += weight * stretch.work
        seconds += weight * stretch.seconds
        after += stretch.seconds
    return work / seconds if work and seconds else None


class Pace:
    """The pace of the work of one process, told as it is done."""

    def __init__(self) -> None:
        self._done: list[Stretch] = []

    def add(self, work: float, seconds: float) -> None:
        """Note that so much more work has been done in so many seconds."""
        self._done.append(Stretch(work, seconds))
        if len(self._done) > MOST_STRETCHES:
            pairs = zip(self._done[::2], self._done[1::2], strict=False)
            rest = self._done[-1:] if len(self._done) % 2 else []
            self._done = [Stretch(one.work + two.work, one.seconds + two.seconds) for one, two in pairs] + rest

    @property
    def rate(self) -> float | None:
        return recent_rate(self._done)
