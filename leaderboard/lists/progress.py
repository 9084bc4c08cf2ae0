"""The progress of runs, the time until they have ended, and the queue in its order.

A run in progress goes by its own pace. A run without a pace of its own goes by the runs that finished last, and its
time is a range: from the quickest to the slowest of them, leaving out the extremes.
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
from leaderboard.lists.pace import PartDone, ends_in_line, recent_rate, seconds_left, stretches
from leaderboard.lists.runs import OPEN, WORKING, State, measured_runs
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


def progress(run: Run) -> Progress:
    """Return the progress of a run; its time left is the same as in the queue."""
    if run.state in OPEN:
        if run.state in WORKING and (own := _own_progress([run.pk])[run.pk]).left:
            return own
        for row in queue():
            if row.run.pk == run.pk:
                return row.progress
    return _sums(run.parts.all()).get(run.pk, Sums()).progress


def queue() -> list[QueuedRun]:
    """Return every open run: those with a worker, those that wait in turn, and those that cannot go on now."""
    runs = {run.pk: run for run in Run.objects.filter(state__in=OPEN).select_related("model", "benchmark")}
    sums = dict.fromkeys(runs, Sums()) | _sums(RunPart.objects.filter(run__state__in=OPEN))
    rows = [row for lane in schedule.LANES for row in _lane(lane, runs, sums)]
    listed = {row.run.pk for row in rows}
    resting = [QueuedRun(run, 0, sums[pk].progress) for pk, run in sorted(runs.items()) if pk not in listed]
    return sorted(rows, key=lambda row: row.position > 0) + resting


def _lane(lane: str, runs: Mapping[int, Run], sums: Mapping[int, Sums]) -> list[QueuedRun]:
    """Return the rows of a lane: the runs that have workers, and then those that wait for one, in turn."""
    turns = [turn for turn in schedule.turns(lane) if turn.run in runs]
    rates = recent_rates(lane)
    own = _own_progress({turn.run for turn in turns if turn.workers})
    held, busy = [], []
    for turn in turns:
        if turn.workers:
            done = _or_as_others(own[turn.run], sums[turn.run], rates)
            held.append(QueuedRun(runs[turn.run], 0, done))
            busy += [done.left] * turn.workers
    line = [turn.run for turn in turns if not turn.workers]
    waiting = [
        QueuedRun(runs[pk], position, replace(sums[pk].progress, left=left))
        for position, (pk, left) in enumerate(zip(line, _waits(busy, [sums[pk] for pk in line], rates), strict=True), 1)
    ]
    return held + waiting


def _or_as_others(own: Progress, sums: Sums, rates: Rates | None) -> Progress:
    """Return the progress of a run that has a worker, by the rates of others while it has no pace of its own."""
    if own.left or not rates:
        return own
    rest = sums.work - sums.work_done
    return replace(own, left=_span(rest / rates.quick, rest / rates.slow))


def _waits(busy: Sequence[Span | None], line: Sequence[Sums], rates: Rates | None) -> Sequence[Span | None]:
    """Return the time until each run of the line has ended. `busy`: the time for which each worker has other work."""
    if not rates:
        return [None] * len(line)
    work = [sums.work - sums.work_done for sums in line]
    spans = [span or Span(timedelta(), timedelta()) for span in busy]
    low = ends_in_line([span.low.total_seconds() for span in spans], work, rates.quick)
    high = ends_in_line([span.high.total_seconds() for span in spans], work, rates.slow)
    return [_span(*ends) for ends in zip(low, high, strict=True)]


def _span(low: float, high: float) -> Span:
    return Span(timedelta(seconds=low), timedelta(seconds=high))


def _sums(parts: QuerySet[RunPart]) -> dict[int, Sums]:
    """Return the sums over these parts by run."""
    done = F("work") * F("items_done") / F("items")
    sums = {"all_items": Sum("items"), "all_done": Sum("items_done"), "all_work": Sum("work"), "work_done": Sum(done)}
    rows = parts.order_by().values("run").annotate(**sums).values_list("run", *sums)
    return {pk: Sums(*values) for pk, *values in rows}


def percent_done(runs: Collection[int]) -> dict[int, int]:
    """Map runs to the percentage of their work that is done. One query."""
    return {pk: sums.progress.percent for pk, sums in _sums(RunPart.objects.filter(run__in=runs)).items()}


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


def _own_progress(runs: Collection[int]) -> dict[int, Progress]:
    """Return the progress of runs, by number; those with a worker and a pace of their own have a time left."""
    scoring = dict(
        RunEvent.objects.filter(run__in=runs, state=State.SCORING)
        .order_by()
        .values_list("run")
        .annotate(latest=Max("time"))
    )
    parts: dict[int, list[PartDone]] = {pk: [] for pk in runs}
    for pk, *values in RunPart.objects.filter(run__in=runs).values_list("run", *PART_FIELDS):
        parts[pk].append(PartDone(*values))
    return {pk: _at_own_pace(of_run, scoring.get(pk), timezone.now()) for pk, of_run in parts.items()}


def _at_own_pace(parts: Sequence[PartDone], scoring: datetime | None, now: datetime) -> Progress:
    sums = Sums(
        sum(part.items for part in parts),
        sum(part.items_done for part in parts),
        sum(part.work for part in parts),
        sum(part.work_done for part in parts),
    )
    undone = [part.work - part.work_done for part in parts if not part.done]
    workers = len({part.worker for part in parts if part.leased(now)})
    rate = recent_rate(stretches(parts, scoring, now))
    if not rate or (undone and not workers):
        return sums.progress
    left = seconds_left(rate, workers, undone)
    return replace(sums.progress, left=_span(left, left), rate=(sums.items - sums.items_done) / left if left else None)
