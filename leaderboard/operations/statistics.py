"""Figures about the queue and its outcomes, each by one query whose cost does not depend on the pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from leaderboard.data_version import QUEUE, figures_version
from leaderboard.lists.kept_lists import KeptLists
from leaderboard.models import Run, RunEvent, RunPart, Submission
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
class Failures:
    """The runs that failed with one code in the period: their number, and the last of them."""

    code: str
    number: int
    last: Run


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


def runs_by_state_and_lane() -> dict[tuple[str, str], int]:
    """Return the number of measured runs for each state and lane that has any."""
    counts = measured().values_list("state", "lane").annotate(number=Count("pk")).order_by("state", "lane")
    return {(state, lane): number for state, lane, number in counts}


def runs_by_state() -> dict[str, int]:
    """Return the number of measured runs for each state that has any."""
    return dict(measured().order_by().values_list("state").annotate(number=Count("pk")))


# The times since which thousands of runs have been waiting take longer to read than the page that shows three of them.
_WAITING_SINCE = KeptLists[Mapping[str, Sequence[float]]](most=1)


def waiting_ages(now: datetime) -> dict[str, Ages]:
    """Return for each lane how long its waiting runs have been waiting.

    A run waits from its submission on, or from the time when it was submitted again after it had ended. One query, and
    two more where the queue has changed since they were read.
    """
    moment = now.timestamp()
    since = _WAITING_SINCE.get("since", figures_version(QUEUE), lambda _: _waiting_since())
    return {lane: ages([moment - time for time in times]) for lane, times in since.items()}


def _waiting_since() -> dict[str, list[float]]:
    """Map each lane to the times since which its waiting runs have been waiting, in seconds since 1970, in order."""
    runs = measured().filter(state__in=WAITING)
    ends = RunEvent.objects.filter(run__in=runs, state__in=Run.FINAL).order_by().values_list("run")
    ended = dict(ends.annotate(last=Max(EpochSeconds("time"))))
    since: dict[str, list[float]] = {}
    for pk, lane, created in runs.annotate(submitted=EpochSeconds("created")).values_list("pk", "lane", "submitted"):
        since.setdefault(lane, []).append(ended.get(pk, created))
    return {lane: sorted(times) for lane, times in sorted(since.items())}


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


def failures(now: datetime) -> list[Failures]:
    """Return the failures of the period by code, the newest first. Two queries."""
    failed = measured().filter(state=State.FAILED, finished__gte=now - PERIOD)
    counts = failed.values_list("code").annotate(number=Count("pk"), last=Max("pk")).order_by("-last")
    rows = list(counts)
    runs = Run.objects.select_related("model", "benchmark").in_bulk([last for *_, last in rows])
    return [Failures(code or "internal", number, runs[last]) for code, number, last in rows if last in runs]


def submissions_by_state() -> dict[str, int]:
    return dict(Submission.objects.values_list("state").annotate(number=Count("pk")).order_by("state"))


def transitions() -> dict[str, int]:
    """Return how often runs have entered each state since the site began; events are never deleted."""
    return dict(RunEvent.objects.order_by().values_list("state").annotate(number=Count("pk")))


def items_scored() -> int:
    """Return the number of items in all parts that are done."""
    total: int = RunPart.objects.filter(done=True).aggregate(total=Coalesce(Sum("items"), 0))["total"]
    return total


def forsaken_runs(now: datetime, patience: timedelta) -> list[Run]:
    """Return runs that count as being worked on while no worker holds a part and nothing has happened for a while."""
    working = (State.DOWNLOADING, State.SCORING, State.AGGREGATING)
    leased = RunPart.objects.filter(done=False, lease_until__gt=now - patience).values("run")
    runs = measured().filter(state__in=working).exclude(pk__in=leased)
    last = Coalesce(Max("events__time"), F("created"))
    return list(runs.annotate(last=last).filter(last__lt=now - patience).select_related("model").order_by("pk"))
