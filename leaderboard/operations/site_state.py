"""The state of the site: the health of its parts, the workers that are alive, and figures about the queue."""

import logging
import os
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from uuid import uuid4

import django_rq
from django.core.files.base import ContentFile
from django.db import connection
from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone
from redis.exceptions import RedisError
from rq import Worker as RQWorker

from leaderboard.figures import artefacts
from leaderboard.intake import queue
from leaderboard.models import LEASE, Benchmark, Run, RunEvent, RunPart
from leaderboard.schedule import EpochSeconds

log = logging.getLogger(__name__)
TIMEOUT = 2.0  # seconds for one part
FRESH = 5.0  # seconds during which an answer is repeated
TRIAL_FOLDER = "health"  # in the artefact storage


@dataclass(frozen=True)
class Health:
    """Whether a part of the site works, with a sentence that names no secret and no address."""

    ok: bool
    message: str
    seconds: float | None = None


def database() -> Health:
    Benchmark.objects.exists()
    return Health(True, "The database answers.")


def redis() -> Health:
    if queue.reachable():
        return Health(True, "Redis answers.")
    return Health(False, "Redis does not answer. Submissions are kept, and workers look for them less often.")


def storage() -> Health:
    """Write, read and delete a small file in the artefact storage."""
    store, content = artefacts.storage(), uuid4().bytes
    name = store.save(f"{TRIAL_FOLDER}/{socket.gethostname()}-{os.getpid()}", ContentFile(content))
    try:
        with store.open(name) as file:
            equal = file.read() == content
    finally:
        store.delete(name)
    return Health(equal, "A file was written and read." if equal else "A file was read back with other content.")


def workers() -> Health:
    """Tell the age of the newest heartbeat of any worker."""
    alive = live_workers()
    if not alive:
        return Health(False, f"No worker has sent a heartbeat for {ALIVE.total_seconds() / 60:.0f} minutes.")
    age = max(0.0, (timezone.now() - alive[0].last_seen).total_seconds())
    number = f"{len(alive)} worker is" if len(alive) == 1 else f"{len(alive)} workers are"
    return Health(True, f"{number} alive; the newest heartbeat is {age:.0f} seconds old.", age)


PARTS: dict[str, Callable[[], Health]] = {
    "database": database,
    "queue": redis,
    "storage": storage,
    "workers": workers,
}


class Watch:
    """The latest answer of each part. A part that hangs occupies one thread, however often it is asked."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.threads = ThreadPoolExecutor(len(PARTS), thread_name_prefix="health")
        self.answers: dict[str, tuple[float, Future[Health]]] = {}

    def health(self) -> dict[str, Health]:
        """Return the health of every part, after two seconds at most."""
        futures = {name: self._ask(name) for name in PARTS}
        end = time.monotonic() + TIMEOUT
        return {name: _answer(name, future, end - time.monotonic()) for name, future in futures.items()}

    def _ask(self, name: str) -> "Future[Health]":
        with self.lock:
            asked_at, future = self.answers.get(name, (0.0, None))
            if future is None or (future.done() and time.monotonic() - asked_at > FRESH):
                future = self.threads.submit(_ask_and_disconnect, name)
                self.answers[name] = (time.monotonic(), future)
            return future


watch = Watch()


def _ask_and_disconnect(name: str) -> Health:
    try:
        return PARTS[name]()
    finally:
        connection.close()


def _answer(name: str, future: "Future[Health]", seconds: float) -> Health:
    try:
        return future.result(timeout=max(0.0, seconds))
    except TimeoutError:
        return Health(False, f"The part {name} has not answered within {TIMEOUT:.0f} seconds.")
    except Exception as error:  # any error of a driver or a storage is the finding of this check
        log.warning("The part %s fails: %s", name, error)
        return Health(False, f"The part {name} fails; the log says why.")


# The workers that are alive: those of RQ in Redis, and holders of leases.


ALIVE = timedelta(minutes=2)  # every worker sends a heartbeat at least every 15 seconds, busy or not


@dataclass(frozen=True)
class LiveWorker:
    """A worker with the time of its newest heartbeat.

    `lanes` are the queues that it takes jobs from, `device` is where its last part was computed, and `runs` are those
    of which it holds a part.
    """

    name: str
    last_seen: datetime
    lanes: tuple[str, ...] = ()
    device: str = ""
    runs: tuple[Run, ...] = field(default=())


def live_workers() -> list[LiveWorker]:
    """Return the workers with a heartbeat in the last two minutes, the newest first. Three queries."""
    now = timezone.now()
    workers: dict[str, LiveWorker] = {}
    for name, last_seen, lanes in _workers_of_redis():
        if now - last_seen < ALIVE:
            workers[name] = LiveWorker(name, last_seen, lanes)
    leased: dict[str, list[RunPart]] = {}
    for part in RunPart.objects.filter(done=False, lease_until__gt=now).select_related("run__model", "run__benchmark"):
        leased.setdefault(part.worker, []).append(part)
    for name, parts in leased.items():
        workers[name] = _with_parts(name, parts, workers.get(name))
    devices = _devices(workers)
    rows = [replace(worker, device=devices.get(worker.name, "")) for worker in workers.values()]
    return sorted(rows, key=lambda worker: (worker.last_seen, worker.name), reverse=True)


def _with_parts(name: str, parts: list[RunPart], worker: LiveWorker | None) -> LiveWorker:
    """Return the worker with the runs of its leased parts; a renewed lease counts as a heartbeat."""
    last_seen = max(part.lease_until - LEASE for part in parts if part.lease_until)
    runs = {part.run_id: part.run for part in parts}
    lanes = worker.lanes if worker and worker.lanes else tuple(sorted({run.lane for run in runs.values()}))
    return LiveWorker(name, max(last_seen, worker.last_seen) if worker else last_seen, lanes, runs=tuple(runs.values()))


def _workers_of_redis() -> list[tuple[str, datetime, tuple[str, ...]]]:
    """Return name, newest heartbeat and lanes of RQ's workers; nothing if Redis does not answer."""
    try:
        workers = RQWorker.all(connection=django_rq.get_connection())
    except RedisError:  # the health of the queue says so
        return []
    return [
        (worker.name, _aware(worker.last_heartbeat), tuple(worker.queue_names()))
        for worker in workers
        if worker.last_heartbeat
    ]


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _devices(names: Iterable[str]) -> dict[str, str]:
    """Return the device on which each of these workers computed its last part, where it has finished one."""
    parts = RunPart.objects.filter(worker__in=list(names), done=True).order_by("pk")
    return {name: device for name, device in parts.values_list("worker", "record__device") if device}


# Figures about the queue and its outcomes, each by one query whose cost does not depend on the pages.


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
