"""The runs that no worker has begun, and how long like runs took.

The list is kept until the queue changes: a queue of thousands takes longer to read and to order than the page that
shows fifty of them. What changes every few seconds, the progress of runs that are being measured, is not part of it
(`leaderboard/figures/progress.py`).
"""

import heapq
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import NamedTuple

from django.db.models import F, OuterRef, Q, Sum
from django.utils import timezone

from leaderboard import schedule
from leaderboard.data_version import QUEUE, figures_version
from leaderboard.figures.kept_lists import KeptLists
from leaderboard.figures.runs import State
from leaderboard.models import Run, RunPart
from leaderboard.turns import OpenTurn, in_turn
from probing.time_left import Step, median_pace

MOST_LINES = 4  # for as many states of the workers the order of the queue is remembered


class WorkSums(NamedTuple):
    """Sums over the parts of a run of items and of expected work, in all and done so far."""

    items: int = 0
    items_done: int = 0
    work: float = 0.0
    work_done: float = 0.0

    @property
    def work_left(self) -> float:
        return self.work - self.work_done


class DoneRun(NamedTuple):
    """The work per second of a finished run, and the number of its model's parameters."""

    rate: float
    parameters: int | None


@dataclass(frozen=True)
class RecentRates:
    """The newest finished runs of a lane by their probe and the kind of their model."""

    runs: Mapping[tuple[str, str], Sequence[DoneRun]]

    def of(self, probe: str, kind: str, parameters: int | None = None) -> float | None:
        """Return the median pace of the runs of this probe and kind, in proportion to the size of the models.

        A model whose size is not known counts as equally large. Without such runs the pace follows from the number of
        parameters alone, and is None where that is not known.
        """
        rates = [
            run.rate * (run.parameters / parameters if run.parameters and parameters else 1)
            for run in self.runs.get((probe, kind), ())
        ]
        if rates:
            return median(rates)
        return PLAIN_SPEED / parameters if parameters else None

    def seconds(self, work: float, probe: str, kind: str, parameters: int | None = None) -> float | None:
        """Return how long this much work takes, None where it is not known."""
        rate = self.of(probe, kind, parameters)
        return work / rate if rate else None


@dataclass(frozen=True, eq=False)
class QueuedRuns:
    """The runs that no worker has begun, lane by lane, and what decides about their order and their times.

    `served`: when the last run of each submitter ended. `needed`: by number the seconds of each run at the pace of the
    runs like it (`rates`), None where they are not known. `resting`: the runs that wait for the hub or for disk
    space.
    """

    turns: Mapping[str, Sequence[OpenTurn]]
    served: Mapping[str, Mapping[str, float]]
    rates: Mapping[str, RecentRates]
    needed: dict[int, float | None]
    resting: Sequence[int]
    _lines: OrderedDict[tuple[str, tuple[OpenTurn, ...]], list[int]] = field(default_factory=OrderedDict)

    def line(self, lane: str, started: Collection[OpenTurn]) -> list[int]:
        """Return the runs of a lane in turn, those among them that workers have `started`; it must not be changed."""
        key = lane, tuple(started)
        line = self._lines.get(key)
        if line is None:
            begun = {turn.run for turn in started}
            turns = [*(turn for turn in self.turns[lane] if turn.run not in begun), *started]
            line = [turn.run for turn in in_turn(turns, self.served.get(lane, {}))]
            self._lines[key] = line
            while len(self._lines) > MOST_LINES:
                self._lines.popitem(last=False)
        return line


_QUEUED = KeptLists[QueuedRuns](most=1)


def queued_runs() -> QueuedRuns:
    """Return the runs of all lanes. One query, and four or five more where the queue has changed since."""
    return _QUEUED.get("queue", figures_version(QUEUE), lambda _: _read())


def _read() -> QueuedRuns:
    of_run = ("pk", "state", "lane", "submitter", "seconds")
    fields = (*of_run, "benchmark__probe", "model__kind", "model__parameters", "waiting_work")
    runs = Run.objects.filter(state__in=(State.QUEUED, State.WAITING), lane__in=schedule.LANES).order_by("pk")
    rows = list(runs.annotate(seconds=schedule.EpochSeconds("created")).values_list(*fields))
    sums = work_sums([pk for pk, state, *_, work in rows if work is None and state == State.QUEUED])
    rates = rates_by_lane(schedule.LANES)
    turns: dict[str, list[OpenTurn]] = {lane: [] for lane in schedule.LANES}
    needed: dict[int, float | None] = {}
    like: dict[tuple[str, str, str, int | None, float], float | None] = {}  # most runs share their time with others
    resting = []
    for pk, state, lane, submitter, seconds, probe, kind, parameters, waiting_work in rows:
        if state == State.WAITING:
            resting.append(pk)
            continue
        turns[lane].append(OpenTurn(pk, submitter, seconds))
        work = sums[pk].work_left if waiting_work is None else waiting_work
        key = lane, probe, kind, parameters, work
        if key not in like:
            like[key] = rates[lane].seconds(work, probe, kind, parameters)
        needed[pk] = like[key]
    queued = QueuedRuns(turns, schedule.last_served(schedule.LANES), rates, needed, resting)
    for lane, started in started_by_lane(schedule.LANES).items():
        queued.line(lane, started)  # it is remembered for the next reader
    return queued


def started_by_lane(lanes: Collection[str]) -> dict[str, list[OpenTurn]]:
    """Map each lane to the runs that a worker has begun. One query."""
    started: dict[str, list[OpenTurn]] = {lane: [] for lane in lanes}
    for lane, turn in schedule.started_turns(lanes, timezone.now()):
        started[lane].append(turn)
    return started


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
PAUSE = timedelta(seconds=10)  # the longest that a worker takes between two parts, to store rows and to claim the next
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


def own_rate(parts: Sequence[PartDone], scoring: datetime | None, now: datetime) -> float | None:
    """Return the work per second of one worker on a run, None before it has a pace of its own.

    `scoring`: when its model was loaded. That is when the first parts were begun; they tell the pace until one is done.
    """
    done = sorted((part for part in parts if part.done and part.end and part.seconds), key=lambda part: str(part.end))
    if done:
        return median_pace([Step(part.work, part.seconds or 0.0) for part in done])
    first = [part.work_done for part in parts if part.leased(now) and part.items_done and part.attempts == 1]
    seconds = (now - scoring).total_seconds() if scoring else 0.0
    return median(first) / seconds if first and seconds >= SHORTEST else None


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


_RATES = KeptLists[RecentRates](most=2)


def recent_rates(lane: str) -> RecentRates:
    """Return the rates of the runs of a lane that finished last. One query, another one where a figure has changed."""
    return _RATES.get(lane, figures_version(), lambda _: rates_by_lane([lane])[lane])


def rates_by_lane(lanes: Collection[str]) -> dict[str, RecentRates]:
    """Map each lane to the rates of the runs that finished last, from start to end. One query."""
    total = RunPart.objects.filter(run=OuterRef("pk")).order_by().values("run").annotate(total=Sum("work"))
    measured = Run.objects.filter(
        state=Run.State.FINISHED, provenance=Run.Provenance.MEASURED, started__isnull=False
    ).order_by("-finished", "-pk")
    newest = Q()
    for lane in lanes:
        newest |= Q(pk__in=measured.filter(lane=lane).values("pk")[:NEWEST])
    fields = ("lane", "benchmark__probe", "model__kind", "model__parameters", "work", "started", "finished")
    runs: dict[str, dict[tuple[str, str], list[DoneRun]]] = {lane: {} for lane in lanes}
    # They are looked up by their numbers alone; to name their state again would read all runs in it.
    chosen = Run.objects.filter(newest).order_by("-finished", "-pk")
    rows = chosen.annotate(work=total.values("total")).values_list(*fields)
    for lane, probe, kind, parameters, work, started, finished in rows:
        like = runs[lane].setdefault((probe, kind), [])
        if work and started and finished and finished > started and len(like) < RECENT_RUNS:
            like.append(DoneRun(work / (finished - started).total_seconds(), parameters))
    return {lane: RecentRates({key: done for key, done in runs[lane].items() if done}) for lane in lanes}
