"""Metrics for Prometheus, read from the database and Redis for each request.

Nothing is counted in the memory of a process, so that every web process gives the same figures.
"""

import platform
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from threading import Lock
from typing import TypeVar

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from leaderboard.intake import queue
from leaderboard.models import Run, Submission
from leaderboard.operations import statistics
from leaderboard.operations.workers import LiveWorker, live_workers
from leaderboard.schedule import LANES

UNFINISHED = (Run.State.QUEUED, Run.State.DOWNLOADING, Run.State.SCORING, Run.State.AGGREGATING)
FRESH = 5.0  # seconds during which the same text is repeated
Labels = tuple[str, ...]
LabelsT = TypeVar("LabelsT", bound=Labels)


class SiteCollector(Collector):
    """All metrics of the site; without the database, those that do not need it."""

    def collect(self) -> Iterator[Metric]:
        yield build()
        yield disk_free()
        yield gauge("clozeboard_redis_up", "1 if Redis answers.", int(queue.reachable()))
        try:
            metrics = list(from_database())
        except DatabaseError:
            yield gauge("clozeboard_database_up", "1 if the database answers.", 0)
            return
        yield gauge("clozeboard_database_up", "1 if the database answers.", 1)
        yield from metrics


class Page:
    """The text of all metrics, computed again when it is older than a few seconds."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(SiteCollector())
        self.made = -FRESH
        self.content = b""

    def text(self) -> bytes:
        with self.lock:
            if time.monotonic() - self.made >= FRESH:
                self.content = generate_latest(self.registry)
                self.made = time.monotonic()
            return self.content


page = Page()


def build() -> Metric:
    facts = {"version": version("clozeboard"), "django": version("django"), "python": platform.python_version()}
    return InfoMetricFamily("clozeboard_build", "Versions of the site.", facts)


def disk_free() -> Metric:
    """Return the free space below the data folder; none where the folder does not exist."""
    metric = GaugeMetricFamily("clozeboard_disk_free_bytes", "Free space where a folder lies.", labels=["folder"])
    for name, folder in (("data", settings.DATA), ("hub_cache", settings.HUB_CACHE)):
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        metric.add_metric([name], shutil.disk_usage(existing).free)
    return metric


def from_database() -> Iterator[Metric]:
    """Yield the metrics that need the database, by a constant number of queries."""
    yield from queue_metrics()
    yield from outcome_metrics()
    yield from worker_metrics(live_workers())
    yield labelled(
        "clozeboard_submissions",
        "Submissions by state.",
        ["state"],
        {(state,): 0 for state in Submission.State.values}
        | {(state,): number for state, number in statistics.submissions_by_state().items()},
    )


def queue_metrics() -> Iterator[Metric]:
    runs = {(state, lane): 0 for state in Run.State.values for lane in LANES} | statistics.runs_by_state_and_lane()
    yield labelled("clozeboard_runs", "Measured runs by state and lane.", ["state", "lane"], runs)
    unfinished = sum(number for (state, _), number in runs.items() if state in UNFINISHED)
    yield gauge("clozeboard_unfinished_runs", "Runs that wait for a worker or have one, in all lanes.", unfinished)
    ages = dict.fromkeys(LANES, statistics.Ages()) | statistics.waiting_ages(timezone.now())
    help_text = "How long the runs that wait now have been waiting, by quantile."
    values: dict[Labels, float] = {}
    for lane, age in ages.items():
        values |= {(lane, "0.5"): age.p50, (lane, "0.9"): age.p90}
    yield labelled("clozeboard_queue_age_seconds", help_text, ["lane", "quantile"], values)
    oldest: dict[Labels, float] = {(lane,): age.longest for lane, age in ages.items()}
    yield labelled("clozeboard_queue_oldest_age_seconds", "Age of the run that waits longest.", ["lane"], oldest)


def outcome_metrics() -> Iterator[Metric]:
    now = timezone.now()
    outcomes = statistics.outcomes(now)
    ended = {("finished",): outcomes.finished, ("failed",): outcomes.failed}
    yield labelled("clozeboard_ended_runs", "Runs that ended in the last 30 days.", ["outcome"], ended)
    if outcomes.success is not None:
        yield gauge(
            "clozeboard_success_ratio", "Share of the runs of the last 30 days with a result.", outcomes.success
        )
    failed = {(row.code,): row.number for row in statistics.failures(now)}
    yield labelled("clozeboard_failed_runs", "Failed runs of the last 30 days by error code.", ["code"], failed)
    entered = CounterMetricFamily("clozeboard_run_transitions", "How often a run entered a state.", labels=["state"])
    for state, number in sorted(statistics.transitions().items()):
        entered.add_metric([state], number)
    yield entered
    yield CounterMetricFamily("clozeboard_items_scored", "Items of finished parts.", statistics.items_scored())


def worker_metrics(workers: list[LiveWorker]) -> Iterator[Metric]:
    lanes = dict.fromkeys(LANES, 0) | {lane: 0 for worker in workers for lane in worker.lanes}
    for worker in workers:
        for lane in worker.lanes:
            lanes[lane] += 1
    by_lane = {(lane,): number for lane, number in sorted(lanes.items())}
    yield labelled("clozeboard_workers", "Workers alive that serve a lane.", ["lane"], by_lane)
    if workers:
        age = max(0.0, (timezone.now() - workers[0].last_seen).total_seconds())
        yield gauge("clozeboard_worker_newest_heartbeat_age_seconds", "Age of the newest heartbeat.", age)


def gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value)


def labelled(name: str, text: str, labels: Iterable[str], values: Mapping[LabelsT, float]) -> Metric:
    """Return a gauge with one value for each tuple of label values."""
    metric = GaugeMetricFamily(name, text, labels=list(labels))
    for key, value in values.items():
        metric.add_metric(list(key), value)
    return metric
