"""Rate limits: how often one name may do something within a period, counted for all web processes together.

The counts lie in Redis, where one script checks and counts in a single step, so that requests at the same moment cannot
pass a limit together. While Redis does not answer, every process counts for itself.
"""

import logging
import threading
import time
from collections.abc import Callable
from functools import cache
from math import ceil
from typing import TypeVar

from django.conf import settings
from limits import RateLimitItem, parse
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import MovingWindowRateLimiter
from redis import ConnectionPool
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

log = logging.getLogger(__name__)
AnswerT = TypeVar("AnswerT")
TIMEOUT = 0.5  # seconds that a request waits for Redis
PAUSE = 10  # seconds without another attempt after Redis did not answer
MAX_OWN_KEYS = 10_000  # names that a process counts on its own; beyond, it starts over, so that memory stays bounded

_creation = threading.Lock()


class Counters:
    """The counts in Redis, and those of this process for the time in which Redis does not answer."""

    def __init__(self, url: str) -> None:
        pool = ConnectionPool.from_url(
            url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT, retry=Retry(NoBackoff(), 0)
        )
        self._shared = MovingWindowRateLimiter(RedisStorage("redis://", connection_pool=pool))
        self._own_storage = MemoryStorage()
        self._own = MovingWindowRateLimiter(self._own_storage)
        self._lock = threading.Lock()
        self._retry_at = 0.0  # on the monotonic clock; 0 while Redis answers

    def ask(self, question: Callable[[MovingWindowRateLimiter], AnswerT]) -> AnswerT:
        """Ask the counts in Redis, or else those of this process."""
        if self._may_ask_redis():
            try:
                answer = question(self._shared)
            except RedisError as error:
                log.warning("Rate limits hold for each process by itself, as Redis does not answer: %s", error)
                self._retry_at = time.monotonic() + PAUSE
            else:
                self._retry_at = 0.0
                return answer
        with self._lock:
            if len(self._own_storage.events) > MAX_OWN_KEYS:
                self._own_storage.reset()
            return question(self._own)

    def _may_ask_redis(self) -> bool:
        """Return whether to ask Redis; after a failure, one request in `PAUSE` seconds tries again."""
        if not self._retry_at:
            return True
        with self._lock:
            now = time.monotonic()
            if now < self._retry_at:
                return False
            self._retry_at = now + PAUSE
            return True


@cache
def _new_counters(url: str) -> Counters:
    return Counters(url)


def _counters(url: str) -> Counters:
    """Return the counters of a server, the same for all threads, also if several ask for the first time."""
    with _creation:
        return _new_counters(url)


@cache
def _parsed(limit: str) -> RateLimitItem:
    return parse(limit)


def allow(name: str, key: str, limit: str) -> bool:
    """Count one use and return True, unless the limit is reached; a refused use is not counted.

    `name` says what is limited ("checks"), `key` who does it (an address), and `limit` how often, as in "30 per minute"
    or "10 per 5 minutes".
    """
    return _counters(settings.REDIS_URL).ask(lambda counts: counts.hit(_parsed(limit), name, key))


def retry_after(name: str, key: str, limit: str) -> int:
    """Return the seconds until `allow` with the same arguments returns True again, at least 1."""
    stats = _counters(settings.REDIS_URL).ask(lambda counts: counts.get_window_stats(_parsed(limit), name, key))
    return max(1, ceil(stats.reset_time - time.time()))
