"""The health of the parts of the site, each checked in a separate thread with a time limit."""

import logging
import os
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from uuid import uuid4

from django.core.files.base import ContentFile
from django.db import connection
from django.utils import timezone

from leaderboard.intake import queue
from leaderboard.models import Benchmark
from leaderboard.operations.workers import ALIVE, live_workers
from leaderboard.stored import artefacts

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
