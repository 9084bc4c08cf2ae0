"""The progress of runs, the time until they have ended, and the queue in its order.

There is one estimate of the time left (`Lane`), which all pages show. A run goes by its own pace as soon as it has one,
also between two of its parts. A run without a pace of its own goes by the runs of its probe that finished last, and its
time is a range: from the quickest to the slowest of them, leaving out the extremes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice, takewhile, zip_longest
from typing import NamedTuple

from django.db.models import Count, F, Max, Sum
from django.utils import timezone

from leaderboard import schedule
from leaderboard.lists.pace import PartDone, ends_in_line, recent_rate, seconds_left, stretches, workers_of
from leaderboard.lists.rates import RecentRates, recent_rates
from leaderboard.lists.runs import OPEN, State
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


@dataclass(frozen=True)
class Begun:
    """A run that a worker has begun: what is done, the work left of each part, the workers, and its own pace."""

    sums: Sums
    undone: Sequence[float]
    workers: int
    rate: float | None


class Queue(NamedTuple):
    """The open runs: those at work, the chosen ones of those that wait, in turn, and how many wait in all.

    Runs that wait for the hub or for disk space come last, without a position.
    """

    working: list[QueuedRun]
    waiting: list[QueuedRun]
    number_waiting: int


class RunKind(NamedTuple):
    """What the pace of a run depends on besides its work."""

    probe: str
    parameters: int | None


@dataclass(frozen=True)
class Lane:
    """The open runs of a lane: those that have workers, each with their number, and those that wait for one, in turn.

    `kinds`: of those that have been read, by number, which are those at work and the first that wait.
    """

    kinds: Mapping[int, RunKind]
    held: Mapping[int, int]
    line: Sequence[int]
    begun: Mapping[int, Begun]
    rates: RecentRates

    def working(self) -> dict[int, Progress]:
        """Return the progress of the runs that have workers."""
        return {pk: self._with_time_left(pk) for pk in self.held if pk in self.kinds}

    def waiting(self) -> dict[int, Progress]:
        """Return the progress of the runs that wait, as far as they have been read.

        Each of them waits for the worker that is free first. After one of which nobody knows how long it takes, no
        other has a time.
        """
        line = [pk for pk in self.line if pk in self.kinds]
        sums = _sums(line)
        ends = self._ends(list(takewhile(bool, (self._needed(pk, sums[pk]) for pk in line))))
        return {pk: replace(sums[pk].progress, left=end) for pk, end in zip_longest(line, ends)}

    def ends_of_new(self, needed: Sequence[Span | None]) -> list[Span]:
        """Return when new runs will have ended that need so much time, if all that wait go first.

        Returns nothing if nobody knows that of one of them.
        """
        line = [pk for pk in self.line if pk in self.kinds]
        sums = _sums(line)
        all_runs = [*(self._needed(pk, sums[pk]) for pk in line), *needed]
        return [] if None in all_runs else self._ends(all_runs)[len(line) :]

    def _needed(self, pk: int, sums: Sums) -> Span | None:
        """Return the time that a worker needs for the rest of a run."""
        return self._with_time_left(pk).left if pk in self.begun else self._as_others(pk, sums)

    def _ends(self, needed: Sequence[Span | None]) -> list[Span]:
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

    def _with_time_left(self, pk: int) -> Progress:
        begun, sums = self.begun[pk], self.begun[pk].sums
        if not begun.rate:
            return replace(sums.progress, left=self._as_others(pk, sums))
        left = seconds_left(begun.rate, begun.workers, begun.undone)
        rate = (sums.items - sums.items_done) / left if left else None
        return replace(sums.progress, left=_span(left, left), rate=rate)

    def _as_others(self, pk: int, sums: Sums) -> Span | None:
        kind = self.kinds[pk]
        return expected_time(self.rates, kind.probe, sums.work - sums.work_done, kind.parameters)


def expected_time(rates: RecentRates, probe: str, work: float, parameters: int | None = None) -> Span | None:
    """Return how long so much work takes at the pace of the runs that finished last; None where there are none."""
    pace = rates.of(probe, parameters)
    return _span(work / pace.quick, work / pace.slow) if pace else None


def progress(run: Run) -> Progress:
    """Return the progress of a run; its time left is the same as in the queue."""
    if run.state in OPEN and run.state != State.WAITING:
        lane = lane_now(run.lane, until=run.pk)
        estimates = lane.working() if run.pk in lane.held else lane.waiting()
        if run.pk in estimates:
            return estimates[run.pk]
    return _sums([run.pk])[run.pk].progress


def queue(start: int, stop: int) -> Queue:
    """Return the open runs, of those that wait only those from `start` to before `stop`."""
    unfinished = Run.objects.filter(state__in=OPEN).order_by().values_list("lane", "state").annotate(Count("pk"))
    lanes = {lane for lane, state, _ in unfinished if state != State.WAITING}
    number_resting = sum(number for _, state, number in unfinished if state == State.WAITING)
    working: dict[int, Progress] = {}
    waiting: dict[int, tuple[int, Progress]] = {}
    number = 0
    for lane in (lane_now(name, max(stop - number, 0)) for name in schedule.LANES if name in lanes):
        working |= lane.working()
        places = enumerate(lane.waiting().items(), 1)
        waiting |= {pk: (place, now) for place, (pk, now) in islice(places, max(start - number, 0), None)}
        number += len(lane.line)
    if number_resting:
        resting = Run.objects.filter(state=State.WAITING).order_by("pk").values_list("pk", flat=True)
        sums = _sums(list(resting[max(start - number, 0) : max(stop - number, 0)]))
        waiting |= {pk: (0, sums[pk].progress) for pk in sums}
    runs = Run.objects.select_related("model", "benchmark").in_bulk([*working, *waiting])
    return Queue(
        [QueuedRun(runs[pk], 0, now) for pk, now in working.items() if pk in runs],
        [QueuedRun(runs[pk], *row) for pk, row in waiting.items() if pk in runs],
        number + number_resting,
    )


def lane_now(name: str, stop: int | None = None, until: int = 0) -> Lane:
    """Read which runs of a lane have workers and which wait, and how fast they are.

    Of those that wait, only the first `stop` are read, or those up to the run `until`.
    """
    turns = schedule.turns(name)
    begun = _begun([turn.run for turn in turns if turn.begun])
    workers = {turn.run: max(turn.workers, begun[turn.run].workers) for turn in turns if turn.begun}
    held = {pk: number for pk, number in workers.items() if number}
    line = [turn.run for turn in turns if turn.run not in held]
    if until:
        stop = line.index(until) + 1 if until in line else 0
    return Lane(_kinds([*held, *line[:stop]]), held, line, begun, recent_rates(name))


def _kinds(runs: Sequence[int]) -> dict[int, RunKind]:
    rows = Run.objects.filter(pk__in=runs).values_list("pk", "benchmark__probe", "model__parameters")
    return {pk: RunKind(probe, parameters) for pk, probe, parameters in rows}


def _span(low: float, high: float) -> Span:
    return Span(timedelta(seconds=low), timedelta(seconds=high))


def _sums(runs: Sequence[int]) -> dict[int, Sums]:
    """Return the sums over the parts of each run; those of a run without parts are 0."""
    done = F("work") * F("items_done") / F("items")
    sums = {"all_items": Sum("items"), "all_done": Sum("items_done"), "all_work": Sum("work"), "work_done": Sum(done)}
    rows = RunPart.objects.filter(run__in=runs).order_by().values("run").annotate(**sums).values_list("run", *sums)
    return dict.fromkeys(runs, Sums()) | {pk: Sums(*values) for pk, *values in rows}


def percent_done(runs: Collection[int]) -> dict[int, int]:
    """Map runs to the percentage of their work that is done. One query."""
    return {pk: sums.progress.percent for pk, sums in _sums(list(runs)).items()}


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
