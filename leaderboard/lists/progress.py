"""The progress of runs, the time that they will take, and the queue in its order."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Case, F, IntegerField, Q, QuerySet, Sum, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.utils import timezone

from leaderboard.lists.runs import OPEN, WORKING, State, measured_runs
from leaderboard.models import Run


@dataclass(frozen=True)
class Progress:
    """The number of items of a run that are done, and their share of the expected work.

    `rate` is in items per second, averaged over the items still to come; it and `left`, the time left, are None before
    anything can be estimated.
    """

    done: int
    total: int
    share: float
    rate: float | None = None
    left: timedelta | None = None

    @property
    def percent(self) -> int:
        """Whole percent, rounded down; a share that only rounding of floats keeps below 1 counts as 100."""
        return int(100 * self.share + 1e-6)


def progress(run: Run) -> Progress:
    """Return the progress of all parts; the time left follows the pace since scoring began."""
    began = run.events.filter(state=State.SCORING).order_by("-pk").values_list("time", flat=True).first()
    earlier = Q(done=True, record__end__lt=began.isoformat(timespec="seconds")) if began else Q(pk=None)
    sums = run.parts.aggregate(
        total_done=Coalesce(Sum("items_done"), 0),
        total=Coalesce(Sum("items"), 0),
        total_work=Coalesce(Sum("work"), 0.0),
        work_now=Coalesce(Sum(work_done()), 0.0),
        work_before=Coalesce(Sum("work", filter=earlier), 0.0),
    )
    work = sums["total_work"]
    share, before = (sums[name] / work if work else 0.0 for name in ("work_now", "work_before"))
    return estimate(sums["total_done"], sums["total"], share, share - before, began, timezone.now())


def estimate(done: int, total: int, share: float, gained: float, began: datetime | None, now: datetime) -> Progress:
    """Return the progress with the time left; `gained` is the share of the work that was done since `began`."""
    seconds = (now - began).total_seconds() if began else 0.0
    if gained <= 0 or seconds <= 0:
        return Progress(done, total, share)
    left = timedelta(seconds=seconds * (1 - share) / gained)
    return Progress(done, total, share, (total - done) / left.total_seconds() if left else None, left)


def work_done(prefix: str = "") -> Combinable:
    """Return the expression for a part's work so far; `prefix` leads from the query to the parts, as in "parts__"."""
    return F(f"{prefix}work") * F(f"{prefix}items_done") / F(f"{prefix}items")


@dataclass(frozen=True)
class QueuedRun:
    """A row of the queue. `position` is 0 for a run that is being worked on, else its place among those that wait."""

    run: Run
    position: int
    progress: Progress
    left: timedelta | None


class OpenRun(NamedTuple):
    """A run that has not ended, with the sums over its parts of items and of expected work, in all and done so far."""

    run: Run
    items: int
    items_done: int
    work: float
    work_done: float


def open_runs() -> list[OpenRun]:
    """Return every run that has not ended: those being worked on first, then in order of submission. One query."""
    working_first = Case(When(state__in=WORKING, then=Value(0)), default=Value(1), output_field=IntegerField())
    runs = Run.objects.filter(state__in=OPEN).select_related("model", "benchmark")
    return _with_sums(runs.order_by(working_first, "created", "pk"))


def _with_sums(runs: QuerySet[Run]) -> list[OpenRun]:
    runs_with_sums = runs.annotate(
        items=Coalesce(Sum("parts__items"), 0),
        items_done=Coalesce(Sum("parts__items_done"), 0),
        work=Coalesce(Sum("parts__work"), 0.0),
        work_done=Coalesce(Sum(work_done("parts__")), 0.0),
    )
    return [OpenRun(run, run.items, run.items_done, run.work, run.work_done) for run in runs_with_sums]


def queue() -> list[QueuedRun]:
    """Return the queue with positions and expected times: each run waits for all before it, at the recent rate."""
    rate = recent_rate()
    rows: list[QueuedRun] = []
    position, wait = 0, timedelta()
    for run, items, items_done, work, done in open_runs():
        working = run.state in WORKING
        left = timedelta(seconds=(work - done) / rate) if rate and run.state != State.WAITING else None
        wait += left or timedelta()
        position += not working
        progress = Progress(items_done, items, done / work if work else 0.0)
        rows.append(QueuedRun(run, 0 if working else position, progress, wait if left else None))
    return rows


def recent_rate(limit: int = 10) -> float | None:
    """Return the work per second of the runs that finished last, from start to end; None while there are none."""
    recent = (
        measured_runs()
        .exclude(started=None)
        .annotate(work=Coalesce(Sum("parts__work"), 0.0))
        .values_list("work", "started", "finished")[:limit]
    )
    seconds = sum((finished - started).total_seconds() for _, started, finished in recent if started and finished)
    return sum(work for work, _, _ in recent) / seconds if seconds else None
