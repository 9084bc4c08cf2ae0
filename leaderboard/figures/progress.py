"""The progress of runs, the time until they have ended, the queue in its order, and the runs that ended lately.

There is one estimate of the time left (`WorkedQueue`), which all pages show. A run goes by its own pace as soon as it
has one, also between two of its parts. A run without a pace of its own goes by the runs like it that finished last.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice, zip_longest
from typing import Any

import numpy as np
from django.db.models import Avg, Exists, Max, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from leaderboard.figures.live_workers import served_queues
from leaderboard.figures.queued_runs import (
    PartDone,
    RecentRates,
    WorkSums,
    ends_in_line,
    own_rate,
    queued_runs,
    work_sums,
)
from leaderboard.figures.runs import OPEN, WORKING, State, measured_runs
from leaderboard.line import FINISH, QUEUES
from leaderboard.models import Claim, Run, RunEvent, RunPart, Score
from probing.analysis.intervals import interval_of_shares, wilson

PART_FIELDS = (  # in the order of `PartDone`
    "items",
    "items_done",
    "work",
    "done",
    "record__end",
    "record__timing__score_seconds",
)


@dataclass(frozen=True)
class Progress:
    """The number of items of a run that are done, and their share of the expected work.

    `left` is the time until the run has ended, and `rate` is in items per second, averaged over the items still to
    come; both are None before anything can be estimated. Only a run with a pace of its own has a rate. `is_held`:
    whether a worker has the run now. `has_worker`: whether a living worker takes runs from its queue.
    """

    done: int
    total: int
    share: float
    rate: float | None = None
    left: timedelta | None = None
    is_held: bool = False
    has_worker: bool = True

    @property
    def percent(self) -> int:
        """Whole percent, rounded down; a share that only rounding of floats keeps below 1 counts as 100."""
        return int(100 * self.share + 1e-6)


@dataclass(frozen=True)
class Begun:
    """A run that a worker has begun: what is done, its own pace, and whether a worker has it now.

    A run whose parts are all done waits for the worker that finishes it (`is_measured`).
    """

    queue: str
    probe: str
    kind: str
    parameters: int | None
    sums: WorkSums
    rate: float | None
    is_held: bool
    is_measured: bool

    def seconds(self, rates: RecentRates) -> float | None:
        """Return the time that the rest of it takes, at its own pace or else at that of others."""
        if self.rate:
            return self.sums.work_left / self.rate
        return rates.seconds(self.sums.work_left, self.probe, self.kind, self.parameters)


@dataclass(frozen=True)
class WorkedQueue:
    """The open runs of a queue: those that workers have, and those that wait for one, in the order of their turns.

    `read`: how many of those that wait have a time. `needed`: by number the seconds that a run takes which no worker
    has begun, at the pace of those that finished last (`rates`). Without a living worker of the queue (`has_worker`),
    no run that waits has a time. `can_finish`: whether a living worker finishes measured runs.
    """

    held: Sequence[int]
    line: Sequence[int]
    read: int | None
    begun: Mapping[int, Begun]
    needed: Mapping[int, float | None]
    rates: RecentRates
    has_worker: bool
    can_finish: bool

    def working(self) -> dict[int, Progress]:
        return {pk: self._with_time_left(pk) for pk in self.held}

    def waiting(self, start: int = 0) -> dict[int, float | None]:
        """Return the seconds until each run has ended that waits, of those in the line from `start` to before `read`.

        Each of them waits for the worker that is free first. After one of unknown length, no other has a time.
        """
        if not self.has_worker:
            return dict.fromkeys(self.line[start : self.read])
        times = []
        for pk in self.line[: self.read]:
            if (needed := self._needed(pk)) is None:
                break
            times.append(needed)
        return dict(zip_longest(self.line[start : self.read], self._ends(times)[start:]))

    def ends_of_new(self, needed: Sequence[timedelta | None]) -> list[timedelta]:
        """Return when new runs that need this much time will have ended, if all that wait go first.

        Returns nothing if it is unknown for one of them, or if no worker is there.
        """
        if not self.has_worker:
            return []
        line = [*map(self._needed, self.line), *(None if time is None else time.total_seconds() for time in needed)]
        times = [seconds for seconds in line if seconds is not None]
        if len(times) < len(line):
            return []
        return [timedelta(seconds=end) for end in self._ends(times)[len(self.line) :]]

    def _needed(self, pk: int) -> float | None:
        """Return the seconds that a worker needs for the rest of a run."""
        return self.begun[pk].seconds(self.rates) if pk in self.begun else self.needed.get(pk)

    def _ends(self, needed: Sequence[float]) -> list[float]:
        """Return when each run of a line has ended, given the time that each of them needs."""
        measured = [pk for pk in self.held if not self.begun[pk].is_measured]
        return ends_in_line([self._needed(pk) or 0.0 for pk in measured], needed)

    def _with_time_left(self, pk: int) -> Progress:
        begun = self.begun[pk]
        if begun.is_measured:
            return replace(_progress(begun.sums), is_held=begun.is_held, has_worker=begun.is_held or self.can_finish)
        seconds = self._needed(pk)
        items = begun.sums.items - begun.sums.items_done
        rate = items / seconds if begun.rate and seconds else None
        return replace(_progress(begun.sums, seconds, rate), is_held=True)


def expected_time(
    rates: RecentRates, probe: str, work: float, kind: str = "causal", parameters: int | None = None
) -> timedelta | None:
    """Return how long this much work takes at the pace of the runs that finished last; None if it is not known."""
    seconds = rates.seconds(work, probe, kind, parameters)
    return None if seconds is None else timedelta(seconds=seconds)


def _progress(sums: WorkSums, seconds: float | None = None, rate: float | None = None) -> Progress:
    share = sums.work_done / sums.work if sums.work else 0.0
    left = None if seconds is None else timedelta(seconds=seconds)
    return Progress(sums.items_done, sums.items, share, rate, left)


def progress(run: Run) -> Progress:
    """Return the progress of a run; its time left is the same as in the queue."""
    left, has_worker = None, True
    if run.state in OPEN and run.state != State.WAITING:
        queue = worked_queue(run.queue, until=run.pk)
        if run.pk in queue.held:
            return queue.working()[run.pk]
        left, has_worker = queue.waiting(start=max(0, (queue.read or 0) - 1)).get(run.pk), queue.has_worker
    return replace(_progress(work_sums([run.pk])[run.pk], left), has_worker=has_worker)


def provisional(run: Run) -> dict[str, Any] | None:
    """Return the accuracy over the parts of a run that are done, with its interval and what it is about.

    Wordings of a relation count as one. None before a first part is done, and where answers are not right or wrong.
    """
    done = Q(done=True, accuracy__isnull=False)
    relations = run.parts.filter(done).values("relation").annotate(share=Avg("accuracy"), items=Max("items"))
    rows = list(relations.values_list("share", "items"))
    if not rows:
        return None
    shares, items = np.array(rows, dtype=float).T
    macro = run.benchmark.correctness.macro
    value = float(shares.mean() if macro else shares @ items / items.sum())
    low, high = interval_of_shares(items, shares) if macro else wilson(value, float(items.sum()))
    every = run.parts.values("relation").distinct().count()
    score = Score(run=run, metric=run.benchmark.main_metric, value=value, low=low, high=high, n=float(items.sum()))
    return {"score": score, "done": len(rows), "every": every}


def state_in_words(run: Run, now: Progress) -> str:
    """Return the state of a run; one whose measurement was begun and that no worker has now is interrupted."""
    interrupted = run.state in (State.DOWNLOADING, State.SCORING) and not now.is_held
    return "interrupted" if interrupted else str(run.get_state_display())


def queue(start: int, stop: int) -> dict[str, Any]:
    """Return the open runs: those at work (`working`), and those that wait, in turn, from `start` to before `stop`.

    A row has the `run`, its `progress`, and its `position` among the runs that wait for a worker, 0 if it does not
    wait; runs that wait for the hub or for disk space come last, without a position. `number_waiting`: how many wait in
    all. `has_workers`: whether each queue in which a run waits has a living worker.
    """
    working: dict[int, Progress] = {}
    shown: list[tuple[int, int, float | None]] = []  # number, position and time of each run to show that waits
    number = 0
    queues, resting = worked_queues(stop)
    for worked in queues.values():
        working |= worked.working()
        first, last = max(start - number, 0), max(stop - number, 0)
        waiting = islice(worked.waiting(first).items(), last - first)
        shown += ((pk, position, left) for position, (pk, left) in enumerate(waiting, first + 1))
        number += len(worked.line)
    shown += ((pk, 0, None) for pk in resting[max(start - number, 0) : max(stop - number, 0)])
    sums = work_sums([pk for pk, *_ in shown])
    runs = Run.objects.select_related("model", "benchmark").in_bulk([*working, *sums])
    at_work = [(pk, 0, now) for pk, now in working.items()]
    in_line = [(pk, position, _progress(sums[pk], left)) for pk, position, left in shown]
    rows = [
        [{"run": runs[pk], "position": position, "progress": now} for pk, position, now in part if pk in runs]
        for part in (at_work, in_line)
    ]
    return {
        "working": rows[0],
        "waiting": rows[1],
        "number_waiting": number + len(resting),
        "has_workers": all(worked.has_worker for worked in queues.values() if worked.line),
    }


def worked_queue(name: str, until: int = 0) -> WorkedQueue:
    """Read which runs of a queue have workers and which wait, all of them or those up to the run `until`."""
    return worked_queues(until=until)[0][name]


def worked_queues(stop: int | None = None, until: int = 0) -> tuple[dict[str, WorkedQueue], Sequence[int]]:
    """Read which runs have workers and which wait, and how fast they are, by queue.

    Of those that wait in a queue, times are wanted of the first `stop`, or of those up to the run `until`. Returns as
    well the runs of all queues that wait for the hub or for disk space.
    """
    queued, begun, served = queued_runs(), _begun(), served_queues()
    queues = {}
    for name in QUEUES:
        own = {pk: run for pk, run in begun.items() if run.queue == name}
        held = [pk for pk, run in own.items() if run.is_held or run.is_measured]
        # A run that was interrupted goes on before any other; one that was begun a moment ago may still be listed.
        line = [*(pk for pk in own if pk not in held), *(pk for pk in queued.lines[name] if pk not in own)]
        end = (line.index(until) + 1 if until in line else 0) if until else stop
        has_worker = name in served or any(own[pk].is_held and not own[pk].is_measured for pk in held)
        worked = WorkedQueue(held, line, end, own, queued.needed, queued.rates[name], has_worker, FINISH in served)
        queues[name] = worked
    return queues, queued.resting


def percent_done(runs: Collection[int]) -> dict[int, int]:
    """Map runs to the percentage of their work that is done. One query."""
    return {pk: _progress(sums).percent for pk, sums in work_sums(list(runs)).items()}


def _begun() -> dict[int, Begun]:
    """Return the runs that a worker has begun, by number. One query, and another one if there are any."""
    fresh = Claim.objects.fresh().filter(run=OuterRef("pk"))
    events = RunEvent.objects.filter(run=OuterRef("pk"), state=State.SCORING).order_by("-time")
    started = Run.objects.filter(state__in=WORKING, queue__in=QUEUES).order_by("pk")
    started = started.annotate(held=Exists(fresh), scoring=Subquery(events.values("time")[:1]))
    fields = ("benchmark__probe", "model__kind", "model__parameters", "held", "scoring", "claim__number")
    rows = list(started.values_list("pk", "queue", "state", *fields))
    parts: dict[int, list[PartDone]] = {pk: [] for pk, *_ in rows}
    if rows:
        for pk, *values in RunPart.objects.filter(run__in=parts).values_list("run", *PART_FIELDS):
            parts[pk].append(PartDone(*values))
    begun, now = {}, timezone.now()
    for pk, queue, state, probe, kind, parameters, held, scoring, number in rows:
        sums = _sums(parts[pk])
        rate = own_rate(parts[pk], scoring if number == 1 else None, now)
        begun[pk] = Begun(queue, probe, kind, parameters, sums, rate, held, state == State.AGGREGATING)
    return begun


def _sums(parts: Sequence[PartDone]) -> WorkSums:
    return WorkSums(
        sum(part.items for part in parts),
        sum(part.items_done for part in parts),
        sum(part.work for part in parts),
        sum(part.work_done for part in parts),
    )


# Runs that ended lately: results with their overall scores, and runs that ended without one.


LATELY = timedelta(days=7)
MOST = 20  # rows of each list of what ended lately


def recent_results(now: datetime) -> QuerySet[Run]:
    """Return the runs that were finished lately, the newest first."""
    return measured_runs().filter(finished__gt=now - LATELY)[:MOST]


def recent_failures(now: datetime) -> QuerySet[Run]:
    """Return the runs that failed or were cancelled lately, the newest first."""
    ended = Run.objects.filter(state__in=Run.UNSUCCESSFUL, finished__gt=now - LATELY)
    return ended.select_related("model", "benchmark").order_by("-finished", "-pk")[:MOST]
