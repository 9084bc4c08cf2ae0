"""The progress of runs, the time until they have ended, the queue in its order, and the runs that ended lately.

There is one estimate of the time left (`Lane`), which all pages show. A run goes by its own pace as soon as it has one,
also between two of its parts. A run without a pace of its own goes by the runs like it that finished last.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice, zip_longest
from typing import NamedTuple

from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone

from leaderboard import schedule
from leaderboard.figures.live_workers import served_lanes
from leaderboard.figures.queued_runs import (
    PartDone,
    RecentRates,
    WorkSums,
    ends_in_line,
    own_rate,
    queued_runs,
    seconds_left,
    started_by_lane,
    work_sums,
    workers_of,
)
from leaderboard.figures.runs import OPEN, WORKING, State, measured_runs
from leaderboard.figures.scores import OVERALL_SLICE
from leaderboard.models import Run, RunEvent, RunPart, Score
from leaderboard.models.benchmark import named

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


@dataclass(frozen=True)
class Progress:
    """The number of items of a run that are done, and their share of the expected work.

    `left` is the time until the run has ended, and `rate` is in items per second, averaged over the items still to
    come; both are None before anything can be estimated. Only a run with a pace of its own has a rate. `is_held`:
    whether a worker has the run now. `has_worker`: whether a living worker takes runs from its lane.
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
class QueuedRun:
    """A row of the queue. `position` is its place among the runs that wait for a worker, 0 if it does not wait."""

    run: Run
    position: int
    progress: Progress


@dataclass(frozen=True)
class Begun:
    """A run that a worker has begun: what is done, the work left of each part, the workers, and its own pace."""

    probe: str
    kind: str
    parameters: int | None
    sums: WorkSums
    undone: Sequence[float]
    workers: int
    rate: float | None

    def seconds(self, rates: RecentRates) -> float | None:
        """Return the time that the rest of it takes, at its own pace or else at that of others."""
        if self.rate:
            return seconds_left(self.rate, self.workers, self.undone)
        return rates.seconds(self.sums.work_left, self.probe, self.kind, self.parameters)


class Queue(NamedTuple):
    """The open runs: those at work, the chosen ones of those that wait, in turn, and how many wait in all.

    Runs that wait for the hub or for disk space come last, without a position. `has_workers`: whether each lane in
    which a run waits has a living worker.
    """

    working: list[QueuedRun]
    waiting: list[QueuedRun]
    number_waiting: int
    has_workers: bool


@dataclass(frozen=True)
class Lane:
    """The open runs of a lane: those that have workers, each with their number, and those that wait for one, in turn.

    `read`: how many of those that wait have a time. `needed`: by number the seconds that a run takes which no worker
    has begun, at the pace of those that finished last (`rates`). Without a living worker of the lane (`has_worker`), no
    run that waits has a time.
    """

    name: str
    held: Mapping[int, int]
    line: Sequence[int]
    read: int | None
    begun: Mapping[int, Begun]
    needed: Mapping[int, float | None]
    rates: RecentRates
    has_worker: bool

    def working(self) -> dict[int, Progress]:
        """Return the progress of the runs that have workers."""
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
        return ends_in_line([self._needed(pk) or 0.0 for pk in self.held for _ in range(self.held[pk])], needed)

    def _with_time_left(self, pk: int) -> Progress:
        begun, seconds = self.begun[pk], self._needed(pk)
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
        lane = lane_now(run.lane, until=run.pk)
        if run.pk in lane.held:
            return lane.working()[run.pk]
        left, has_worker = lane.waiting(start=max(0, (lane.read or 0) - 1)).get(run.pk), lane.has_worker
    return replace(_progress(work_sums([run.pk])[run.pk], left), has_worker=has_worker)


def state_in_words(run: Run, now: Progress) -> str:
    """Return the state of a run; one that a worker has begun and that no worker has now is interrupted."""
    return "interrupted" if run.state in WORKING and not now.is_held else str(run.get_state_display())


def queue(start: int, stop: int) -> Queue:
    """Return the open runs, of those that wait only those from `start` to before `stop`."""
    working: dict[int, Progress] = {}
    shown: list[tuple[int, int, float | None]] = []  # number, position and time of each run to show that waits
    number = 0
    lanes, resting = open_runs(schedule.LANES, stop)
    for lane in lanes.values():
        working |= lane.working()
        first, last = max(start - number, 0), max(stop - number, 0)
        waiting = islice(lane.waiting(first).items(), last - first)
        shown += ((pk, position, left) for position, (pk, left) in enumerate(waiting, first + 1))
        number += len(lane.line)
    shown += ((pk, 0, None) for pk in resting[max(start - number, 0) : max(stop - number, 0)])
    sums = work_sums([pk for pk, *_ in shown])
    runs = Run.objects.select_related("model", "benchmark").in_bulk([*working, *sums])
    return Queue(
        [QueuedRun(runs[pk], 0, now) for pk, now in working.items() if pk in runs],
        [QueuedRun(runs[pk], position, _progress(sums[pk], left)) for pk, position, left in shown if pk in runs],
        number + len(resting),
        all(lane.has_worker for lane in lanes.values() if lane.line),
    )


def lane_now(name: str, until: int = 0) -> Lane:
    """Read which runs of a lane have workers and which wait, all of them or those up to the run `until`."""
    return open_runs([name], until=until)[0][name]


def open_runs(names: Sequence[str], stop: int | None = None, until: int = 0) -> tuple[dict[str, Lane], Sequence[int]]:
    """Read which runs of some lanes have workers and which wait, and how fast they are.

    Of those that wait in a lane, times are wanted of the first `stop`, or of those up to the run `until`. Returns as
    well the runs of all lanes that wait for the hub or for disk space.
    """
    queued = queued_runs()
    started = started_by_lane(names)
    begun = _begun([turn.run for of_lane in started.values() for turn in of_lane])
    lanes, served = {}, served_lanes()
    for name, of_lane in started.items():
        workers = {turn.run: max(turn.workers, begun[turn.run].workers) for turn in of_lane}
        held = {pk: number for pk, number in workers.items() if number}
        line = queued.line(name, of_lane)
        if held:
            line = [pk for pk in line if pk not in held]
        end = (line.index(until) + 1 if until in line else 0) if until else stop
        lanes[name] = Lane(
            name, held, line, end, begun, queued.needed, queued.rates[name], bool(held) or name in served
        )
    return lanes, queued.resting


def percent_done(runs: Collection[int]) -> dict[int, int]:
    """Map runs to the percentage of their work that is done. One query."""
    return {pk: _progress(sums).percent for pk, sums in work_sums(list(runs)).items()}


def _begun(runs: Collection[int]) -> dict[int, Begun]:
    """Return what is known of the runs that a worker has begun, by number. One query if there are any."""
    if not runs:
        return {}
    events = RunEvent.objects.filter(run=OuterRef("run"), state=State.SCORING).order_by("-time")
    rows = RunPart.objects.filter(run__in=runs).annotate(scoring=Subquery(events.values("time")[:1]))
    parts: dict[int, list[PartDone]] = {pk: [] for pk in runs}
    facts: dict[int, tuple[str, str, int | None, datetime | None]] = dict.fromkeys(runs, ("", "", None, None))
    fields = ("run__benchmark__probe", "run__model__kind", "run__model__parameters", "scoring")
    for pk, probe, kind, parameters, loaded, *values in rows.values_list("run", *fields, *PART_FIELDS):
        parts[pk].append(PartDone(*values))
        facts[pk] = probe, kind, parameters, loaded
    return {pk: _of_parts(of_run, *facts[pk], timezone.now()) for pk, of_run in parts.items()}


def _of_parts(
    parts: Sequence[PartDone],
    probe: str,
    kind: str,
    parameters: int | None,
    scoring: datetime | None,
    now: datetime,
) -> Begun:
    sums = WorkSums(
        sum(part.items for part in parts),
        sum(part.items_done for part in parts),
        sum(part.work for part in parts),
        sum(part.work_done for part in parts),
    )
    undone = [part.work - part.work_done for part in parts if not part.done]
    return Begun(probe, kind, parameters, sums, undone, workers_of(parts, now), own_rate(parts, scoring, now))


# Runs that ended lately: results with their overall scores, and runs that ended without one.


LATELY = timedelta(days=7)
MOST = 20  # rows of each list of what ended lately
NEWEST = 50  # results that `newest_results` returns


class RecentResult(NamedTuple):
    """A run that was measured lately, with its overall scores by metric."""

    run: Run
    scores: Mapping[str, Score]


def recent_results(now: datetime) -> list[RecentResult]:
    """Return the runs that were finished lately, the newest first."""
    return with_scores(measured_runs().filter(finished__gt=now - LATELY)[:MOST])


def newest_results(benchmark: str = "") -> list[RecentResult]:
    """Return the newest results, of all benchmarks or of one. Two queries."""
    runs = measured_runs()
    return with_scores((runs.filter(named(benchmark, "benchmark__")) if benchmark else runs)[:NEWEST])


def with_scores(selected: Iterable[Run]) -> list[RecentResult]:
    """Return runs with their overall scores. One query beside that for the runs, if there are any."""
    runs = list(selected)
    if not runs:
        return []
    by_run: dict[int, dict[str, Score]] = {run.pk: {} for run in runs}
    for score in Score.objects.filter(run__in=by_run, dimension=OVERALL_SLICE.dimension, group=OVERALL_SLICE.group):
        by_run[score.run_id][score.metric] = score
    return [RecentResult(run, by_run[run.pk]) for run in runs]


def recent_failures(now: datetime) -> QuerySet[Run]:
    """Return the runs that failed or were cancelled lately, the newest first."""
    ended = Run.objects.filter(state__in=(State.FAILED, State.CANCELLED), finished__gt=now - LATELY)
    return ended.select_related("model", "benchmark").order_by("-finished", "-pk")[:MOST]
