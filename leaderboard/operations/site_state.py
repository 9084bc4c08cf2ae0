"""The state of the site: the health of its parts, and figures about the queue."""

import logging
import os
import socket
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np
from django.core.files.base import ContentFile
from django.db import connection
from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone

from leaderboard.figures import artefacts
from leaderboard.figures.live_workers import ALIVE, live_workers
from leaderboard.intake import queue
from leaderboard.models import Benchmark, Run, RunEvent

log = logging.getLogger(__name__)
TIMEOUT = 2.0  # seconds for the health of one part
FRESH = 5.0  # seconds during which an answer about the health is repeated
TRIAL_FOLDER = "health"  # in the artefact storage
State = Run.State
PERIOD = timedelta(days=30)  # over which success and failures are counted
WAITING = (State.QUEUED, State.WAITING)


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
    return Health(False, "Redis does not answer. Submissions are kept, and measured when it is back.")


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


# Figures about the queue and its outcomes, each by one query whose cost does not depend on the pages.


def ages(seconds: Sequence[float]) -> dict[str, float]:
    """Return the `number` of times, their median (`p50`), 90th percentile (`p90`, nearest rank) and maximum.

    A time in the future counts as 0, and without any all are 0.
    """
    times = np.maximum(seconds, 0.0) if len(seconds) else np.zeros(1)
    p50, p90 = np.quantile(times, (0.5, 0.9), method="inverted_cdf").tolist()
    return {"number": len(seconds), "p50": p50, "p90": p90, "longest": float(times.max())}


def measured() -> QuerySet[Run]:
    """Return the runs that were or will be measured, without baselines and published figures."""
    return Run.objects.filter(provenance=Run.Provenance.MEASURED)


def waiting_ages(now: datetime) -> dict[str, dict[str, float]]:
    """Return for each queue how long its waiting runs have been waiting. Two queries.

    A run waits from its submission on, or from the time when it was submitted again after it had ended.
    """
    runs = measured().filter(state__in=WAITING)
    ends = RunEvent.objects.filter(run__in=runs, state__in=Run.FINAL).order_by().values_list("run")
    ended = dict(ends.annotate(last=Max("time")))
    seconds: dict[str, list[float]] = {}
    for pk, name, created in runs.values_list("pk", "queue", "created"):
        seconds.setdefault(name, []).append((now - ended.get(pk, created)).total_seconds())
    return {name: ages(seconds[name]) for name in sorted(seconds)}


def start_delays(now: datetime) -> dict[str, float]:
    """Return how long the runs that started in the period had waited since their submission."""
    runs = measured().filter(started__gte=now - PERIOD)
    times = runs.values_list("created", "started")
    return ages([(started - created).total_seconds() for created, started in times if started])


def outcomes(now: datetime) -> dict[str, Any]:
    """Return how many measured runs `finished` and `failed` in the period, and the share of the former (`success`).

    Cancelled runs do not count; the share is None if no run has ended.
    """
    ended = measured().filter(finished__gte=now - PERIOD)
    counts = ended.aggregate(
        finished=Count("pk", filter=Q(state=State.FINISHED)), failed=Count("pk", filter=Q(state=State.FAILED))
    )
    number = sum(counts.values())
    return {**counts, "success": counts["finished"] / number if number else None}
