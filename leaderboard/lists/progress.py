"""The progress of runs, the time until they have ended, and the queue in its order.

There is one estimate of the time left (`Lane`), which all pages show. A run goes by its own pace as soon as it has one,
also between two of its parts. A run without a pace of its own goes by the runs that finished last, and its time is a
range: from the quickest to the slowest of them, leaving out the extremes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
from django.db.models import F, Max, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from leaderboard import schedule
from leaderboard.lists.pace import PartDone, ends_in_line, recent_rate, seconds_left, stretches, workers_of
from leaderboard.lists.runs import OPEN, State, measured_runs
from leaderboard.models import Run, RunEvent, RunPart

PART_FIELDS = (  # in the order of `PartDone`
    "items",
    "items_done",
    "work",
    "done",
    "worker",
    "attempts",
    "lease_until",
    "record__end",
    "record__timing__score_seconds",
)
RECENT_RUNS = 10
EXTREMES = (0.9, 0.1)  # quantiles of recent rates that make the quickest and the slowest plausible time


class Span(NamedTuple):
    """The time until a run has ended, from the quickest to the slowest that is plausible; both may be the same."""

    low: timedelta
    high: timedelta


NO_TIME = Span(timedelta(), timedelta())


@dataclass(frozen=True)
class Progress:
    """The number of items of a run that are done, and their share of the expected work.

    `left` is the time until the run has ended, and `rate` is in items per second, averaged over the items still to
    come; both are None before anything can be estimated. Only a run with a pace of its own has a rate.
    """

    done: int
    total: int
    share: float
    rate: float | None = None
    left: Span | None = None

    @property
    def percent(self) -> int:
        """Whole percent, rounded down; a share that only rounding of floats keeps below 1 counts as 100."""
        return int(100 * self.share + 1e-6)


@dataclass(frozen=True)
class QueuedRun:
    """A row of the queue. `position` is its place among the runs that wait for a worker, 0 if it does not wait."""

    run: Run
    position: int
    progress: Progress


class Sums(NamedTuple):
    """Sums over the parts of a run of items and of expected work, in all and done so far."""

    items: int = 0
    items_done: int = 0
    work: float = 0.0
    work_done: float = 0.0

    @property
    def progress(self) -> Progress:
        return Progress(self.items_done, self.items, self.work_done / self.work if self.work else 0.0)


class Rates(NamedTuple):
    """Work per second of quick and of slow runs among those that finished last."""

    quick: float
    slow: float


@dataclass(frozen=True)
class Begun:
    """A run that a worker has begun: what is done, the work left of each part, the workers, and its own pace."""

    sums: Sums
    undone: Sequence[float]
    workers: int
    rate: float | None


class Queue(NamedTuple):
    """The open runs: those at work, the first of those that wait, in turn, and how many wait in all.

    Runs that wait for the hub or for disk space come last, without a position.
    """

    working: list[QueuedRun]
    waiting: list[QueuedRun]
    number_waiting: int


@dataclass(frozen=True)
class Lane:
    """The runs of a lane that have workers, each with their number, and those that wait for one, in turn."""

    held: Mapping[int, int]
    line: Sequence[int]
    begun: Mapping[int, Begun]
    rates: Rates | None

    def working(self) -> dict[int, Progress]:
        """Return the progress of the runs that have workers."""
        return {pk: self._with_time_left(self.begun[pk]) for pk in self.held}

    def waiting(self, stop: int) -> dict[int, Progress]:
        """Return the progress of the first `stop` runs of the line.

        Each of them waits for the worker that is free first.
        """
        line = self.line[:stop]
        sums = self._sums(line)
        needed = self._needed(sums)
        if needed is None:
            return {pk: sums[pk].progress for pk in line}
        return {pk: replace(sums[pk].progress, left=end) for pk, end in zip(line, self._ends(needed), strict=True)}

    def takes(self, work: float) -> Span | None:
        """Return the time that a new run of so much work takes once it has begun."""
        return self._as_others(Sums(work=work))

    def ends_of_new(self, works: Sequence[float]) -> list[Span]:
        """Return when new runs of so much work will have ended if all that wait go first; nothing if nobody knows."""
        before = self._needed(self._sums(self.line))
        new = [self.takes(work) for work in works]
        return [] if before is None or None in new else self._ends([*before, *filter(None, new)])[len(before) :]

    def _sums(self, line: Sequence[int]) -> dict[int, Sums]:
        return dict.fromkeys(line, Sums()) | _sums(RunPart.objects.filter(run__in=line))

    def _needed(self, sums: Mapping[int, Sums]) -> list[Span] | None:
        """Return the time that a worker needs for the rest of each run; None where that is not known of all."""
        begun = {pk: self._with_time_left(self.begun[pk]).left for pk in sums if pk in self.begun}
        needed = [begun.get(pk) or self._as_others(rest) for pk, rest in sums.items()]
        return None if None in needed else [span for span in needed if span]

    def _ends(self, needed: Sequence[Span]) -> list[Span]:
        """Return when each run of a line has ended that needs so much time."""
        busy = [now.left or NO_TIME for pk, now in self.working().items() for _ in range(self.held[pk])]
        ends = (
            ends_in_line(
                [getattr(span, end).total_seconds() for span in busy],
                [getattr(span, end).total_seconds() for span in needed],
            )
            for end in Span._fields
        )
        return [_span(*pair) for pair in zip(*ends, strict=True)]

    def _with_time_left(self, begun: Begun) -> Progress:
        sums = begun.sums
        if not begun.rate:
            return replace(sums.progress, left=self._as_others(sums))
        left = seconds_left(begun.rate, begun.workers, begun.undone)
        rate = (sums.items - sums.items_done) / left if left else None
        return replace(sums.progress, left=_span(left, left), rate=rate)

    def _as_others(self, sums: Sums) -> Span | None:
        rest = sums.work - sums.work_done
        return _span(rest / self.rates.quick, rest / self.rates.slow) if self.rates else None


def progress(run: Run) -> Progress:
    """Return the progress of a run; its time left is the same as in the queue."""
    lane = lane_now(run.lane) if run.state in OPEN else Lane({}, [], {}, None)
    if run.pk in lane.held:
        return lane.working()[run.pk]
    if run.pk in lane.line:
        return lane.waiting(lane.line.index(run.pk) + 1)[run.pk]
    return _sums(run.parts.all()).get(run.pk, Sums()).progress


def queue(stop: int) -> Queue:
    """Return the open runs, of those that wait only the first `stop`."""
    working: dict[int, Progress] = {}
    waiting: dict[int, tuple[int, Progress]] = {}
    number = 0
    unfinished = Run.objects.filter(state__in=OPEN).order_by("pk").values_list("pk", "lane", "state")
    resting = [pk for pk, _, state in unfinished if state == State.WAITING]
    lanes = {lane for _, lane, state in unfinished if state != State.WAITING}
    for lane in (lane_now(name) for name in schedule.LANES if name in lanes):
        working |= lane.working()
        in_line = lane.waiting(max(stop - number, 0))
        waiting |= {pk: (position, now) for position, (pk, now) in enumerate(in_line.items(), 1)}
        number += len(lane.line)
    shown = resting[: max(stop - number, 0)]
    sums = dict.fromkeys(shown, Sums()) | _sums(RunPart.objects.filter(run__in=shown))
    waiting |= {pk: (0, sums[pk].progress) for pk in shown}
    runs = Run.objects.select_related("model", "benchmark").in_bulk([*working, *waiting])
    return Queue(
        [QueuedRun(runs[pk], 0, now) for pk, now in working.items() if pk in runs],
        [QueuedRun(runs[pk], position, now) for pk, (position, now) in waiting.items() if pk in runs],
        number + len(resting),
    )


def lane_now(name: str) -> Lane:
    """Read which runs of a lane have workers and which wait, and how fast they are."""
    turns = schedule.turns(name)
    begun = _begun([turn.run for turn in turns if turn.begun])
    workers = {turn.run: max(turn.workers, begun[turn.run].workers) for turn in turns if turn.begun}
    held = {pk: number for pk, number in workers.items() if number}
    line = [turn.run for turn in turns if turn.run not in held]
    return Lane(held, line, begun, recent_rates(name) if turns else None)


def _span(low: float, high: float) -> Span:
    return Span(timedelta(seconds=low), timedelta(seconds=high))


def _sums(parts: QuerySet[RunPart]) -> dict[int, Sums]:
    """Return the sums over these parts by run."""
    done = F("work") * F("items_done") / F("items")
    sums = {"all_items": Sum("items"), "all_done": Sum("items_done"), "all_work": Sum("work"), "work_done": Sum(done)}
    rows = parts.order_by().values("run").annotate(**sums).values_list("run", *sums)
    return {pk: Sums(*values) for pk, *values in rows}


def recent_rates(lane: str) -> Rates | None:
    """Return the rates of the runs of a lane that finished last, from start to end; None while there are none."""
    recent = (
        measured_runs()
        .filter(lane=lane, started__isnull=False)
        .annotate(work=Coalesce(Sum("parts__work"), 0.0))
        .values_list("work", "started", "finished")[:RECENT_RUNS]
    )
    rates = []
    for work, started, finished in recent:
        if work and started and finished and finished > started:
            rates.append(work / (finished - started).total_seconds())
    return Rates(*np.quantile(rates, EXTREMES).tolist()) if rates else None


def _begun(runs: Collection[int]) -> dict[int, Begun]:
    """Return what is known of the runs that a worker has begun, by number."""
    scoring = dict(
        RunEvent.objects.filter(run__in=runs, state=State.SCORING)
        .order_by()
        .values_list("run")
        .annotate(latest=Max("time"))
    )
    parts: dict[int, list[PartDone]] = {pk: [] for pk in runs}
    for pk, *values in RunPart.objects.filter(run__in=runs).values_list("run", *PART_FIELDS):
        parts[pk].append(PartDone(*values))
    return {pk: _of_parts(of_run, scoring.get(pk), timezone.now()) for pk, of_run in parts.items()}


def _of_parts(parts: Sequence[PartDone], scoring: datetime | None, now: datetime) -> Begun:
    sums = Sums(
        sum(part.items for part in parts),
        sum(part.items_done for part in parts),
        sum(part.work for part in parts),
        sum(part.work_done for part in parts),
    )
    undone = [part.work - part.work_done for part in parts if not part.done]
    return Begun(sums, undone, workers_of(parts, now), recent_rate(stretches(parts, scoring, now)))
