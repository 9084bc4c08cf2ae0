"""The database side of fair turns: which run a worker of a lane takes next.

Lanes keep large models out of the way of small ones. A worker serves one lane or several.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Count, Exists, FloatField, Func, Max, OuterRef, Q
from django.db.models.sql.compiler import SQLCompiler
from django.utils import timezone

from leaderboard.models import LEASE, Run, RunEvent, RunPart
from leaderboard.turns import OpenTurn, in_turn

LANES = ("default", "large")
STARTED = (Run.State.DOWNLOADING, Run.State.SCORING, Run.State.AGGREGATING)


def lane_of(weight_bytes: int | None) -> str:
    """Return the lane of a model with this many bytes of weights; one of unknown size counts as small."""
    return "large" if (weight_bytes or 0) > settings.LARGE_MODEL else "default"


def next_run(lane: str) -> Run | None:
    """Return the run that the calling worker works on next, or None if there is nothing to do in this lane.

    A queued run is moved to "downloading", so that no other worker is given it as well. A run that another worker has
    is returned only if it has free parts and no run of the lane waits.
    """
    for turn in turns(lane):
        if not turn.has_work:
            continue
        run = Run.objects.select_related("model", "benchmark").get(pk=turn.run)
        if run.state in STARTED if turn.begun else _begin(run):
            return run
    return None


def _begin(run: Run) -> bool:
    """Move a queued run on; return False if another worker was faster."""
    return run.state == Run.State.QUEUED and Run.objects.move(run, Run.State.DOWNLOADING)


def has_work(lane: str) -> bool:
    """Tell whether a worker of this lane has anything to do, including sharing a run with others."""
    queued = Run.objects.filter(lane=lane, state=Run.State.QUEUED)
    return queued.exists() or any(turn.has_work for _, turn in started_turns([lane], timezone.now()))


def without_worker(lane: str) -> int:
    """Return the number of runs of this lane that could be worked on and have no worker."""
    queued = Run.objects.filter(lane=lane, state=Run.State.QUEUED).count()
    return queued + sum(turn.has_work and not turn.workers for _, turn in started_turns([lane], timezone.now()))


def should_leave(run: Run) -> bool:
    """Tell a worker that is between two parts whether it should leave this run for one that has no worker.

    It stays if it is the run's only worker: the next one would have to load the model again.
    """
    others = run.parts.filter(done=False, lease_until__gt=timezone.now()).exists()
    return others and without_worker(run.lane) > 0


def waiting(lane: str) -> list[int]:
    """Return the keys of the runs of this lane that could be worked on and have no worker, in turn."""
    return [turn.run for turn in turns(lane) if turn.has_work and not turn.workers]


def turns(lane: str) -> list[OpenTurn]:
    """Return all runs of a lane that can be worked on or are being worked on, in turn."""
    return turns_by_lane([lane])[lane]


def turns_by_lane(lanes: Collection[str]) -> dict[str, list[OpenTurn]]:
    """Map each lane to its runs that can be worked on or are being worked on, in turn. Three queries."""
    runs: dict[str, list[OpenTurn]] = {lane: [] for lane in lanes}
    queued = Run.objects.filter(lane__in=lanes, state=Run.State.QUEUED).annotate(seconds=EpochSeconds("created"))
    for lane, pk, submitter, seconds in queued.values_list("lane", "pk", "submitter", "seconds"):
        runs[lane].append(OpenTurn(pk, submitter, seconds))
    for lane, started in started_turns(lanes, timezone.now()):
        runs[lane].append(started)
    served = last_served(lanes)
    return {lane: in_turn(runs[lane], served.get(lane, {})) for lane in lanes}


class EpochSeconds(Func):
    """A time in seconds since 1970; in a queue of thousands, it takes longer to make Python's times."""

    output_field = FloatField()

    def get_db_converters(self, connection: BaseDatabaseWrapper) -> list[Any]:
        return []  # both databases return a float, and converting thousands of them again takes as long as reading them

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any) -> Any:
        # The text of a time ends with its fraction of a second, which SQLite's own functions round to milliseconds.
        second, fraction = "substr(%(expressions)s, 1, 19)", "substr(%(expressions)s, 20)"
        template = f"(strftime('%%%%s', {second}) + CAST('0' || {fraction} AS REAL))"
        return self.as_sql(compiler, connection, template=template, **context)

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any) -> Any:
        template = "EXTRACT(EPOCH FROM %(expressions)s)::double precision"
        return self.as_sql(compiler, connection, template=template, **context)


def started_turns(lanes: Collection[str], now: datetime) -> list[tuple[str, OpenTurn]]:
    """Return the runs that a worker has begun, each with its lane and the number of workers that it has now.

    Between its first move and its first leased part, a worker holds no lease. Then it has the run for as long as a
    lease lasts. While it finishes the run, it holds a lease of the whole run.
    """
    undone = Q(parts__done=False)
    runs = Run.objects.filter(lane__in=lanes, state__in=STARTED).annotate(
        seconds=EpochSeconds("created"),
        undone=Count("parts", undone),
        leased=Count("parts", undone & Q(parts__lease_until__gt=now)),
        recent=Exists(RunEvent.objects.filter(run=OuterRef("pk"), time__gt=now - LEASE)),
    )
    fields = ("lane", "pk", "submitter", "seconds", "state", "undone", "leased", "recent", "finishing_until")
    started = []
    for lane, pk, submitter, created, state, undone_parts, leased, recent, finishing_until in runs.values_list(*fields):
        finishing = finishing_until is not None and finishing_until > now
        without_lease = finishing or (recent and state == Run.State.DOWNLOADING)
        workers = leased or int(without_lease)
        free = undone_parts > leased or (not undone_parts and not without_lease)
        started.append((lane, OpenTurn(pk, submitter, created, True, workers, free)))
    return started


def last_served(lanes: Collection[str]) -> dict[str, dict[str, float]]:
    """Return by lane when the last run ended of each submitter with open runs that had a worker. One query."""
    used = Q(started__isnull=False) | ~Q(state=Run.State.CANCELLED)
    unfinished = Run.objects.filter(lane__in=lanes, state__in=(Run.State.QUEUED, *STARTED)).order_by()
    ended = Run.objects.filter(
        used,
        provenance=Run.Provenance.MEASURED,
        lane__in=lanes,
        submitter__in=unfinished.values("submitter"),
        finished__isnull=False,
    ).order_by()
    served: dict[str, dict[str, float]] = {}
    for lane, submitter, last in ended.values_list("lane", "submitter").annotate(last=EpochSeconds(Max("finished"))):
        served.setdefault(lane, {})[submitter] = last
    return served


def working(lane: str) -> int:
    """Return the number of workers that hold a part of a run in this lane."""
    leased = RunPart.objects.filter(done=False, lease_until__gt=timezone.now(), run__lane=lane, run__state__in=STARTED)
    return leased.values("worker").distinct().count()
