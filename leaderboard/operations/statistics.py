"""Figures about the queue and its outcomes, each by one query whose cost does not depend on the pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, Q, QuerySet

from leaderboard.models import Run, RunEvent
from leaderboard.schedule import EpochSeconds

State = Run.State
PERIOD = timedelta(days=30)  # over which success and failures are counted
WAITING = (State.QUEUED, State.WAITING)


@dataclass(frozen=True)
class Ages:
    """Times in seconds: the median, the 90th percentile and the longest of `number` of them; 0 if there are none."""

    number: int = 0
    p50: float = 0.0
    p90: float = 0.0
    longest: float = 0.0


@dataclass(frozen=True)
class Outcomes:
    """The numbers of measured runs that ended in the period with and without a result; cancelled runs do not count."""

    finished: int
    failed: int

    @property
    def success(self) -> float | None:
        """The share of runs that ended with a result, None if no run has ended."""
        ended = self.finished + self.failed
        return self.finished / ended if ended else None


def ages(seconds: Sequence[float]) -> Ages:
    """Return median, 90th percentile (nearest rank) and maximum; a time in the future counts as 0."""
    if not seconds:
        return Ages()
    ordered = sorted(max(0.0, value) for value in seconds)
    p50, p90 = (ordered[-(-len(ordered) * percent // 100) - 1] for percent in (50, 90))
    return Ages(len(ordered), p50, p90, ordered[-1])


def measured() -> QuerySet[Run]:
    """Return the runs that were or will be measured, without baselines and published figures."""
    return Run.objects.filter(provenance=Run.Provenance.MEASURED)


def waiting_ages(now: datetime) -> dict[str, Ages]:
    """Return for each lane how long its waiting runs have been waiting. Two queries.

    A run waits from its submission on, or from the time when it was submitted again after it had ended.
    """
    runs = measured().filter(state__in=WAITING)
    ends = RunEvent.objects.filter(run__in=runs, state__in=Run.FINAL).order_by().values_list("run")
    ended = dict(ends.annotate(last=Max(EpochSeconds("time"))))
    seconds: dict[str, list[float]] = {}
    for pk, lane, created in runs.annotate(submitted=EpochSeconds("created")).values_list("pk", "lane", "submitted"):
        seconds.setdefault(lane, []).append(now.timestamp() - ended.get(pk, created))
    return {lane: ages(seconds[lane]) for lane in sorted(seconds)}


def start_delays(now: datetime) -> Ages:
    """Return how long the runs that started in the period had waited since their submission."""
    runs = measured().filter(started__gte=now - PERIOD)
    return ages(list(runs.values_list(EpochSeconds("started") - EpochSeconds("created"), flat=True)))


def outcomes(now: datetime) -> Outcomes:
    ended = measured().filter(finished__gte=now - PERIOD)
    counts = ended.aggregate(
        finished=Count("pk", filter=Q(state=State.FINISHED)), failed=Count("pk", filter=Q(state=State.FAILED))
    )
    return Outcomes(**counts)
