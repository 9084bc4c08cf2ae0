"""The runs that no worker has begun, and how long like runs took."""

import heapq
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import NamedTuple

from django.db.models import F, OuterRef, Q, Sum

from leaderboard.figures.runs import State
from leaderboard.line import QUEUES, Waiting, in_line
from leaderboard.models import Run, RunPart
from probing.time_left import median_pace


class WorkSums(NamedTuple):
    """Sums over the parts of a run of items and of expected work, in all and done so far."""

    items: int = 0
    items_done: int = 0
    work: float = 0.0
    work_done: float = 0.0

    @property
    def work_left(self) -> float:
        return self.work - self.work_done


DoneRun = tuple[float, int | None]  # the work per second of a finished run, and the number of its model's parameters


@dataclass(frozen=True)
class RecentRates:
    """The newest finished runs of a queue by their probe and the kind of their model."""

    runs: Mapping[tuple[str, str], Sequence[DoneRun]]

    def of(self, probe: str, kind: str, parameters: int | None = None) -> float | None:
        """Return the median pace of the runs of this probe and kind, in proportion to the size of the models.

        A model whose size is not known counts as equally large. Without such runs the pace follows from the number of
        parameters alone, and is None where that is not known.
        """
        rates = [
            rate * (size / parameters if size and parameters else 1) for rate, size in self.runs.get((probe, kind), ())
        ]
        if rates:
            return median(rates)
        return PLAIN_SPEED / parameters if parameters else None

    def seconds(self, work: float, probe: str, kind: str, parameters: int | None = None) -> float | None:
        """Return how long this much work takes, None where it is not known."""
        rate = self.of(probe, kind, parameters)
        return work / rate if rate else None


@dataclass(frozen=True)
class QueuedRuns:
    """The runs that no worker has begun, and what decides about their times.

    `lines`: the runs of each queue, in the order in which workers begin them. `needed`: by number the seconds of each
    run at the pace of the runs like it (`rates`), None where they are not known. `resting`: the runs that wait for the
    hub or for disk space.
    """

    lines: Mapping[str, Sequence[int]]
    rates: Mapping[str, RecentRates]
    needed: Mapping[int, float | None]
    resting: Sequence[int]


def queued_runs() -> QueuedRuns:
    """Return the runs of all queues. Three queries at most."""
    of_run = ("pk", "state", "queue", "submitter", "standing_since")
    fields = (*of_run, "benchmark__probe", "model__kind", "model__parameters", "waiting_work")
    runs = Run.objects.filter(state__in=(State.QUEUED, State.WAITING), queue__in=QUEUES).order_by("created", "pk")
    rows = list(runs.values_list(*fields))
    sums = work_sums([pk for pk, state, *_, work in rows if work is None and state == State.QUEUED])
    rates = rates_by_queue(QUEUES)
    waiting: dict[str, list[Waiting]] = {queue: [] for queue in QUEUES}
    needed: dict[int, float | None] = {}
    like: dict[tuple[str, str, str, int | None, float], float | None] = {}  # most runs share their time with others
    resting = []
    for pk, state, queue, submitter, standing, probe, kind, parameters, waiting_work in rows:
        if state == State.WAITING:
            resting.append(pk)
            continue
        waiting[queue].append(Waiting(pk, submitter, standing))
        work = sums[pk].work_left if waiting_work is None else waiting_work
        key = queue, probe, kind, parameters, work
        if key not in like:
            like[key] = rates[queue].seconds(work, probe, kind, parameters)
        needed[pk] = like[key]
    return QueuedRuns({queue: in_line(waiting[queue]) for queue in QUEUES}, rates, needed, resting)


def work_sums(runs: Sequence[int]) -> dict[int, WorkSums]:
    """Return the sums over the parts of each run; those of a run without parts are 0. One query if there are runs."""
    if not runs:
        return {}
    done = F("work") * F("items_done") / F("items")
    sums = {"all_items": Sum("items"), "all_done": Sum("items_done"), "all_work": Sum("work"), "work_done": Sum(done)}
    rows = RunPart.objects.filter(run__in=runs).order_by().values("run").annotate(**sums).values_list("run", *sums)
    return dict.fromkeys(runs, WorkSums()) | {pk: WorkSums(*values) for pk, *values in rows}


# How fast runs are on the site: one that is being measured by its own parts, one that waits by the runs like it.
#
# The work of a run is counted in token positions. What one of them costs depends on the probe, because short statements
# fill a processor worse than long ones, and on the kind of model, and it grows with the number of parameters.


SHORTEST = 10.0  # seconds; of less, too little is known, as progress is stored every two seconds
NEWEST = 100  # finished runs that are looked at
RECENT_RUNS = 10  # of each probe and kind of model
# Positions a second, times parameters, where no run like a waiting one has finished: those of SmolLM2-135M on one core
# of a processor, which is the least that a worker has.
PLAIN_SPEED = 6e10


@dataclass(frozen=True)
class PartDone:
    """The facts about one part of a run from which the pace follows.

    `end` and `seconds` are those of its measurement, None while it is not done.
    """

    items: int
    items_done: int
    work: float
    done: bool
    end: str | None
    seconds: float | None

    @property
    def work_done(self) -> float:
        return self.work * self.items_done / self.items


def own_rate(parts: Sequence[PartDone], scoring: datetime | None, now: datetime) -> float | None:
    """Return the work per second of a run, None before it has a pace of its own.

    `scoring`: when its model was loaded, None where another worker did so. That is when the first part was begun; it
    tells the pace until it is done.
    """
    done = sorted((part for part in parts if part.done and part.end and part.seconds), key=lambda part: str(part.end))
    if done:
        return median_pace([(part.work, part.seconds or 0.0) for part in done])
    first = sum(part.work_done for part in parts)
    seconds = (now - scoring).total_seconds() if scoring else 0.0
    return first / seconds if first and seconds >= SHORTEST else None


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


def rates_by_queue(queues: Collection[str]) -> dict[str, RecentRates]:
    """Map each queue to the rates of the runs that finished last, from start to end. One query."""
    total = RunPart.objects.filter(run=OuterRef("pk")).order_by().values("run").annotate(total=Sum("work"))
    measured = Run.objects.filter(
        state=Run.State.FINISHED, provenance=Run.Provenance.MEASURED, started__isnull=False
    ).order_by("-finished", "-pk")
    newest = Q()
    for queue in queues:
        newest |= Q(pk__in=measured.filter(queue=queue).values("pk")[:NEWEST])
    fields = ("queue", "benchmark__probe", "model__kind", "model__parameters", "work", "started", "finished")
    runs: dict[str, dict[tuple[str, str], list[DoneRun]]] = {queue: {} for queue in queues}
    # They are looked up by their numbers alone; to name their state again would read all runs in it.
    chosen = Run.objects.filter(newest).order_by("-finished", "-pk")
    rows = chosen.annotate(work=total.values("total")).values_list(*fields)
    for queue, probe, kind, parameters, work, started, finished in rows:
        like = runs[queue].setdefault((probe, kind), [])
        if work and started and finished and finished > started and len(like) < RECENT_RUNS:
            like.append((work / (finished - started).total_seconds(), parameters))
    return {queue: RecentRates({key: done for key, done in runs[queue].items() if done}) for queue in queues}
