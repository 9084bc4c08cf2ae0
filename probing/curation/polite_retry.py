"""The rules by which a request is repeated, those of urllib3 with what operators of busy servers ask for.

A module of its own, as urllib3 comes with the extra `curation`: `http_cache` loads it when it first asks a server.
"""

from typing import Self

from urllib3 import BaseHTTPResponse, Retry
from urllib3.exceptions import InvalidHeader, MaxRetryError

# Pause after a status 429 without Retry-After, in first pauses: a minute, as Wikidata's operators ask for.
THROTTLED, THROTTLED_PAUSES = 429, 30


class PoliteRetry(Retry):
    """A retry policy that pauses before the first retry too and ignores an unreadable Retry-After."""

    def get_backoff_time(self) -> float:
        """Return the seconds of the next pause, which double with every attempt."""
        return float(min(self.backoff_max, self.backoff_factor * 2 ** (len(self.history) - 1)))

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        """Return the seconds that the Retry-After header gives as a number or a date; a minute if 429 has none."""
        try:
            seconds = super().get_retry_after(response)
        except InvalidHeader:
            seconds = None
        if seconds is None and response.status == THROTTLED:
            return THROTTLED_PAUSES * self.backoff_factor
        return seconds

    def next_attempt(self, server: str) -> Self | None:
        """Return the policy of the next attempt, or None after the last one."""
        try:
            return self.increment(url=server)
        except MaxRetryError:
            return None
