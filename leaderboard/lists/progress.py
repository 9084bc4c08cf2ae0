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

from django.db.models import F, OuterRef, Q, Subquery, Sum
from django.utils import timezone
from django.utils.functional import cached_property

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


class Seconds(NamedTuple):
    """A `Span` in seconds, as thousands of them are computed for a queue."""

    low: float
    high: float

    @property
    def span(self) -> Span:
        return Span(timedelta(seconds=self.low), timedelta(seconds=self.high))


NO_TIME = Seconds(0.0, 0.0)
LONG = 500  # runs; to name more of them in a query takes longer than to read all open runs


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
    def work_left(self) -> float:
        return self.work - self.work_done

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
    """What the pace of a run depends on, and the work that is left of it."""

    probe: str
    parameters: int | None
    work: float


@dataclass(frozen=True)
class Lane:
    """The open runs of a lane: those that have workers, each with their number, and those that wait for one, in turn.

    `kinds`: of those that have been read, by number, which are those at work and the first that wait.
    """

    name: str
    kinds: Mapping[int, RunKind]
    held: Mapping[int, int]
    line: Sequence[int]
    begun: Mapping[int, Begun]

    @cached_property
    def rates(self) -> RecentRates:
        """How fast the runs of the lane were that finished last. One query, where anything asks for them."""
        return recent_rates(self.name)

    def working(self) -> dict[int, Progress]:
        """Return the progress of the runs that have workers."""
        return {pk: self._with_time_left(pk) for pk in self.held if pk in self.kinds}

    def waiting(self) -> dict[int, Seconds | None]:
        """Return the time until each run has ended that waits, as far as they have been read.

        Each of them waits for the worker that is free first. After one of which nobody knows how long it takes, no
        other has a time.
        """
        line = [pk for pk in self.line if pk in self.kinds]
        needed_times = list(takewhile(bool, map(self._needed, line)))
        return dict(zip_longest(line, self._ends([needed for needed in needed_times if needed])))

    def ends_of_new(self, needed: Sequence[Span | None]) -> list[Span]:
        """Return when new runs will have ended that need so much time, if all that wait go first.

        Returns nothing if nobody knows that of one of them.
        """
        new = [span and Seconds(*(time.total_seconds() for time in span)) for span in needed]
        line = [*(self._needed(pk) for pk in self.line if pk in self.kinds), *new]
        times = [seconds for seconds in line if seconds]
        return [end.span for end in self._ends(times)[len(line) - len(new) :]] if len(times) == len(line) else []

    def _needed(self, pk: int) -> Seconds | None:
        """Return the time that a worker needs for the rest of a run."""
        return self._own_time(self.begun[pk]) or self._as_others(pk) if pk in self.begun else self._as_others(pk)

    def _ends(self, needed: Sequence[Seconds]) -> list[Seconds]:
        """Return when each run of a line has ended that needs so much time."""
        held = [self._needed(pk) or NO_TIME for pk in self.held if pk in self.kinds for _ in range(self.held[pk])]
        lows, highs = (
            ends_in_line([seconds[end] for seconds in held], [seconds[end] for seconds in needed]) for end in (0, 1)
        )
        return list(map(Seconds, lows, highs))

    def _with_time_left(self, pk: int) -> Progress:
        begun, left = self.begun[pk], self._needed(pk)
        now = replace(begun.sums.progress, left=left.span if left else None)
        if not (begun.rate and left and left.low):
            return now
        return replace(now, rate=(begun.sums.items - begun.sums.items_done) / left.low)

    def _own_time(self, begun: Begun) -> Seconds | None:
        """Return the time that a run needs by its own pace, None before it has one."""
        if not begun.rate:
            return None
        left = seconds_left(begun.rate, begun.workers, begun.undone)
        return Seconds(left, left)

    def _as_others(self, pk: int) -> Seconds | None:
        kind = self.kinds[pk]
        return _needed_seconds(self.rates, kind.probe, kind.work, kind.parameters)


def expected_time(rates: RecentRates, probe: str, work: float, parameters: int | None = None) -> Span | None:
    """Return how long so much work takes at the pace of the runs that finished last; None where there are none."""
    needed = _needed_seconds(rates, probe, work, parameters)
    return needed.span if needed else None


def _needed_seconds(rates: RecentRates, probe: str, work: float, parameters: int | None) -> Seconds | None:
    pace = rates.of(probe, parameters)
    return Seconds(work / pace.quick, work / pace.slow) if pace else None


def progress(run: Run) -> Progress:
    """Return the progress of a run; its time left is the same as in the queue."""
    left = None
    if run.state in OPEN and run.state != State.WAITING:
        lane = lane_now(run.lane, until=run.pk)
        if run.pk in lane.held:
            return lane.working()[run.pk]
        left = lane.waiting().get(run.pk)
    return replace(_sums([run.pk])[run.pk].progress, left=left.span if left else None)


def queue(start: int, stop: int) -> Queue:
    """Return the open runs, of those that wait only those from `start` to before `stop`."""
    working: dict[int, Progress] = {}
    places: list[tuple[int, int, Seconds | None]] = []  # number, position and time of each run to show that waits
    number = 0
    lanes, resting = open_runs(schedule.LANES, stop)
    for lane in lanes.values():
        working |= lane.working()
        here = max(start - number, 0), max(stop - number, 0)
        places += ((pk, place, left) for place, (pk, left) in islice(enumerate(lane.waiting().items(), 1), *here))
        number += len(lane.line)
    places += ((pk, 0, None) for pk in resting[max(start - number, 0) : max(stop - number, 0)])
    sums = _sums([pk for pk, *_ in places])
    runs = Run.objects.select_related("model", "benchmark").in_bulk([*working, *sums])
    return Queue(
        [QueuedRun(runs[pk], 0, now) for pk, now in working.items() if pk in runs],
        [
            QueuedRun(runs[pk], place, replace(sums[pk].progress, left=left.span if left else None))
            for pk, place, left in places
            if pk in runs
        ],
        number + len(resting),
    )


def lane_now(name: str, until: int = 0) -> Lane:
    """Read which runs of a lane have workers and which wait, all of them or those up to the run `until`."""
    return open_runs([name], until=until)[0][name]


def open_runs(names: Sequence[str], stop: int | None = None, until: int = 0) -> tuple[dict[str, Lane], list[int]]:
    """Read which runs of some lanes have workers and which wait, and how fast they are.

    Of those that wait in a lane, only the first `stop` are read, or those up to the run `until`. Returns as well the
    runs of all lanes that wait for the hub or for disk space.
    """
    turns = schedule.turns_by_lane(names)
    begun = _begun([turn.run for of_lane in turns.values() for turn in of_lane if turn.begun])
    lanes = {}
    for name, of_lane in turns.items():
        workers = {turn.run: max(turn.workers, begun[turn.run].workers) for turn in of_lane if turn.begun}
        held = {pk: number for pk, number in workers.items() if number}
        line = [turn.run for turn in of_lane if turn.run not in held]
        lanes[name] = held, line, (line.index(until) + 1 if until in line else 0) if until else stop
    kinds, resting = _kinds([pk for held, line, end in lanes.values() for pk in (*held, *line[:end])], begun)
    by_lane = {
        name: Lane(name, {pk: kinds[pk] for pk in (*held, *line[:end]) if pk in kinds}, held, line, begun)
        for name, (held, line, end) in lanes.items()
    }
    return by_lane, resting


def _kinds(runs: Collection[int], begun: Mapping[int, Begun]) -> tuple[dict[int, RunKind], list[int]]:
    """Return the kinds of runs by number, with the work that is left of each, and the runs that rest.

    One query, and another one where the work of a run has to be summed up from its parts.
    """
    fields = ("pk", "state", "benchmark__probe", "model__parameters", "waiting_work")
    chosen = Q(pk__in=runs) | Q(state=State.WAITING) if len(runs) <= LONG else Q(state__in=OPEN)
    rows = list(Run.objects.filter(chosen).values_list(*fields))
    work_left = {pk: now.sums.work_left for pk, now in begun.items()}
    unknown = [pk for pk, state, _, _, work in rows if work is None and state != State.WAITING and pk not in begun]
    work_left |= {pk: sums.work_left for pk, sums in _sums(unknown).items()}
    kinds, resting = {}, []
    for pk, state, probe, parameters, work in rows:
        if state == State.WAITING:
            resting.append(pk)
        else:
            kinds[pk] = RunKind(probe, parameters, work_left.get(pk, work))
    return kinds, sorted(resting)


def _sums(runs: Sequence[int]) -> dict[int, Sums]:
    """Return the sums over the parts of each run; those of a run without parts are 0. One query if there are runs."""
    if not runs:
        return {}
    done = F("work") * F("items_done") / F("items")
    sums = {"all_items": Sum("items"), "all_done": Sum("items_done"), "all_work": Sum("work"), "work_done": Sum(done)}
    rows = RunPart.objects.filter(run__in=runs).order_by().values("run").annotate(**sums).values_list("run", *sums)
    return dict.fromkeys(runs, Sums()) | {pk: Sums(*values) for pk, *values in rows}


def percent_done(runs: Collection[int]) -> dict[int, int]:
    """Map runs to the percentage of their work that is done. One query."""
    return {pk: sums.progress.percent for pk, sums in _sums(list(runs)).items()}


def _begun(runs: Collection[int]) -> dict[int, Begun]:
    """Return what is known of the runs that a worker has begun, by number."""
    events = RunEvent.objects.filter(run=OuterRef("run"), state=State.SCORING).order_by("-time")
    rows = RunPart.objects.filter(run__in=runs).annotate(scoring=Subquery(events.values("time")[:1]))
    parts: dict[int, list[PartDone]] = {pk: [] for pk in runs}
    scoring: dict[int, datetime | None] = {}
    for pk, loaded, *values in rows.values_list("run", "scoring", *PART_FIELDS):
        parts[pk].append(PartDone(*values))
        scoring[pk] = loaded
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
