"""The pace of runs on the site: what workers have done so far, and how long runs will take at a pace."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter

from probing.estimate.pace import Stretch

SHORTEST = 10.0  # seconds; of less, too little is known, as progress is stored every two seconds
PAUSE = timedelta(seconds=10)  # the longest that a worker takes between two parts, to store rows and to claim the next


@dataclass(frozen=True)
class PartDone:
    """The facts about one part of a run from which the pace follows.

    `end` and `seconds` are those of its measurement, None while it is not done.
    """

    items: int
    items_done: int
    work: float
    done: bool
    worker: str
    attempts: int
    lease_until: datetime | None
    end: str | None
    seconds: float | None

    @property
    def work_done(self) -> float:
        return self.work * self.items_done / self.items

    def leased(self, now: datetime) -> bool:
        """Tell whether a worker holds the part."""
        return not self.done and self.lease_until is not None and self.lease_until > now

    def just_ended(self, now: datetime) -> bool:
        """Tell whether the part was done so lately that its worker may be about to take the next one."""
        return self.done and bool(self.end) and now - datetime.fromisoformat(str(self.end)) < PAUSE


def work_of_workers(parts: Sequence[PartDone], scoring: datetime | None, now: datetime) -> list[Stretch]:
    """Return the work that workers have done on a run, in the order in which it ended. `scoring`: when its model was
    loaded.

    A part in progress was begun when its worker ended the one before, or when the model was loaded if it is the first
    of all. Any other part in progress is left out, because it is unknown when it was begun.
    """
    done: list[tuple[datetime, Stretch]] = []
    ends: dict[str, datetime] = {}
    for part in parts:
        if part.done and part.end and part.seconds:
            end = datetime.fromisoformat(part.end)
            done.append((end, Stretch(part.work, part.seconds)))
            ends[part.worker] = max(end, ends.get(part.worker, end))
    for part in parts:
        begin = ends.get(part.worker, None if ends or part.attempts > 1 else scoring)
        if part.leased(now) and part.items_done and begin and (now - begin).total_seconds() >= SHORTEST:
            done.append((now, Stretch(part.work_done, (now - begin).total_seconds())))
    return [stretch for _, stretch in sorted(done, key=itemgetter(0))]


def workers_of(parts: Sequence[PartDone], now: datetime) -> int:
    """Return the number of workers that are at work on a run, between two of its parts or on one."""
    return len({part.worker for part in parts if part.leased(now) or part.just_ended(now)})


def seconds_left(rate: float, workers: int, undone: Sequence[float]) -> float:
    """Return the time that the rest of a run takes.

    `rate`: of one worker. `undone`: the work that is left of each part. Workers cannot share a part, so the largest one
    is a lower bound.
    """
    return max(sum(undone) / max(workers, 1), max(undone, default=0.0)) / rate


def ends_in_line(busy: Sequence[float], seconds: Sequence[float]) -> list[float]:
    """Return in how many seconds each of the waiting runs has ended.

    `busy`: for each worker, the seconds until it is free. `seconds`: what each waiting run takes, in the order in which
    the workers take them.
    """
    free = list(busy) or [0.0]
    heapq.heapify(free)
    ends = []
    for needed in seconds:
        ends.append(free[0] + needed)
        heapq.heapreplace(free, ends[-1])
    return ends
