"""A disk cache of HTTP answers, with a polite client for the answers that it lacks.

Requests are spaced out, repeated after a pause while a server is busy, and never repeated once they are answered.
"""

import hashlib
import http.client
import json
import logging
import os
import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import requests
from urllib3 import BaseHTTPResponse, Retry
from urllib3.exceptions import HTTPError, InvalidHeader, MaxRetryError

from probing.errors import BadInput, NoSpace, SourceUnavailable
from probing.files.folders import space

logger = logging.getLogger(__name__)

CLIENT, PURPOSE = "Clozeboard/0.1", "benchmark curation; knowledge probing of language models"
CONTACT = re.compile(r"[\w.+-]+@[\w.-]+\.\w+|https?://[\w.-]+[\w./~%:@-]*", re.ASCII)  # an e-mail address or a web page
REQUEST_INTERVAL = 1.0  # seconds from the end of one request to the next
ANSWER_TIMEOUT = 75.0  # seconds to wait for an answer
LONGEST_PAUSE = 300.0  # seconds; the curation stops if a server asks for more
BUSY = (429, 500, 502, 503, 504)
# Pause after a status 429 without Retry-After, in first pauses: a minute, as Wikidata's operators ask for.
FORBIDDEN, THROTTLED, THROTTLED_PAUSES = 403, 429, 30
ENGINE_TIMEOUT = "TimeoutException"  # Wikidata's query engine writes this into an answer that it gives up
# A proxy in front of the engine stopped waiting: the query may be too wide, or the server overloaded.
GATEWAY_TIMEOUT = "status 504"
# SPARQLWrapper raises the errors of urllib, requests those of urllib3, both of them OSError; ValueError is for content.
TRANSIENT = (HTTPError, http.client.HTTPException, OSError, ValueError)

Parsed = TypeVar("Parsed")


class QueryTimedOut(SourceUnavailable):
    """A query timed out twice at the server; a narrower query may succeed."""


class OverTimeLimit(QueryTimedOut):
    """The query engine itself reported its time limit, so the same query will never succeed."""


class PageNotFound(BadInput):
    """The API answers in JSON that it has no such page; at a wrong address a server answers with HTML instead."""


class PoliteRetry(Retry):
    """A retry policy of urllib3 that pauses before the first retry too and ignores an unreadable Retry-After."""

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


class HttpCache:
    """Answers of servers in an SQLite file, each stored as soon as it arrives, so that interruptions lose nothing.

    `interval`: seconds from the end of one request to the next. `attempts`: requests for one answer before giving up.
    `first_pause`: seconds before the second request, doubled before each further one, unless the server sends
    Retry-After. `timeout`: seconds to wait for an answer. `contact`: an e-mail address or web page of the user, which
    Wikimedia's policy on user agents demands.
    """

    def __init__(
        self,
        path: Path,
        *,
        interval: float = REQUEST_INTERVAL,
        attempts: int = 6,
        first_pause: float = 2.0,
        timeout: float = ANSWER_TIMEOUT,
        contact: str = "",
    ) -> None:
        if path.is_dir():
            raise BadInput(f"{path} is a folder, which cannot hold answers.", "Give --cache the name of a file.")
        self.agent = user_agent(contact)
        self.interval, self.attempts, self.first_pause, self.timeout = interval, attempts, first_pause, timeout
        self.session = requests.Session()
        self.session.headers["User-Agent"] = self.agent
        self._answer_times: set[str] = set()
        self._last_request = float("-inf")
        try:
            with space(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                self._database = sqlite3.connect(path)
                self._database.execute("PRAGMA journal_mode = WAL")
                self._database.execute("PRAGMA synchronous = NORMAL")
                self._database.execute(
                    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, at TEXT, answer TEXT)"
                )
        except (OSError, sqlite3.DatabaseError) as error:
            raise BadInput(f"{path} cannot hold answers ({error}).", "Remove it or choose another --cache.") from error

    def __enter__(self) -> "HttpCache":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.session.close()
        self._database.close()

    def get(self, key: str) -> Any | None:
        """Return the stored answer, or None if there is none."""
        row = self._database.execute("SELECT at, answer FROM answers WHERE key = ?", (_digest(key),)).fetchone()
        if row is None:
            return None
        self._answer_times.add(row[0])
        return json.loads(row[1])

    def put(self, key: str, answer: Any) -> None:
        """Store an answer, which must be representable as JSON."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._answer_times.add(now)
        try:
            with self._database:
                self._database.execute("REPLACE INTO answers VALUES (?, ?, ?)", (_digest(key), now, json.dumps(answer)))
        except sqlite3.OperationalError as error:
            raise NoSpace(f"The answer could not be stored ({error}).", "Free some space and try again.") from error

    def fetch(self, send: Callable[[], BaseHTTPResponse], parse: Callable[[Any], Parsed], server: str) -> Parsed:
        """Return what `parse` makes of the JSON that the server answers. Nothing is stored.

        Busy servers, broken connections and answers that `parse` rejects with a ValueError are asked again. Raises
        `QueryTimedOut` after the second timeout at the server, and `SourceUnavailable` after the last attempt.
        """
        retry = PoliteRetry(total=self.attempts - 1, backoff_factor=self.first_pause)
        problems: list[str] = []
        while True:
            response: BaseHTTPResponse | None = None
            self._wait()
            try:
                response = send()
                return parse(_json(response, server))
            except TRANSIENT as error:
                problems.append(str(getattr(error, "reason", error)))
            finally:
                self._last_request = time.monotonic()
            _check_timeouts(problems, server)
            _check_pause(retry, response, server)
            try:
                retry = retry.increment(url=server)
            except MaxRetryError as error:
                raise SourceUnavailable(
                    f"{server} did not answer after {self.attempts} attempts ({problems[-1]}).",
                    "Try again later, or with a longer --timeout: all answers so far are stored.",
                ) from error
            pause = (response and retry.get_retry_after(response)) or retry.get_backoff_time()
            logger.warning("A request to %s failed (%s). It is sent again in %.0f s.", server, problems[-1], pause)
            retry.sleep(response)

    def answer_period(self) -> dict[str, str]:
        """Return when the first and the last of the answers in use were given.

        If the environment variable SOURCE_DATE_EPOCH is set, its time stands for both.
        """
        epoch = os.environ.get("SOURCE_DATE_EPOCH")
        if epoch and epoch.isdecimal():
            fixed = datetime.fromtimestamp(int(epoch), UTC).isoformat(timespec="seconds")
            return {"from": fixed, "to": fixed}
        return {"from": min(self._answer_times, default=""), "to": max(self._answer_times, default="")}

    def _wait(self) -> None:
        time.sleep(max(0.0, self._last_request + self.interval - time.monotonic()))


def user_agent(contact: str) -> str:
    """Return the header User-Agent in the form of Wikimedia's policy; raise `BadInput` if this is no contact."""
    if contact and not CONTACT.fullmatch(contact):
        raise BadInput(f"{contact!r:.80} is no contact.", "Give --contact an e-mail address or a web page.")
    return f"{CLIENT} ({contact}; {PURPOSE}) Python" if contact else f"{CLIENT} ({PURPOSE}) Python"


def _check_timeouts(problems: Sequence[str], server: str) -> None:
    """Raise `QueryTimedOut` if two of the problems are timeouts at the server."""
    timeouts = [problem for problem in problems if ENGINE_TIMEOUT in problem or GATEWAY_TIMEOUT in problem]
    if len(timeouts) == 2:
        kind = OverTimeLimit if all(ENGINE_TIMEOUT in problem for problem in timeouts) else QueryTimedOut
        raise kind(f"{server} twice took too long to answer.", "Ask for less, or try again later.")


def _check_pause(retry: PoliteRetry, response: BaseHTTPResponse | None, server: str) -> None:
    """Raise `SourceUnavailable` if the server asks for a longer pause than a curation should wait for."""
    seconds = retry.get_retry_after(response) if response else None
    if seconds and seconds > LONGEST_PAUSE:
        raise SourceUnavailable(
            f"{server} asks for a pause of {seconds:.0f} seconds.", "Try again then: all answers so far are stored."
        )


def _json(response: BaseHTTPResponse, server: str) -> Any:
    """Return the JSON of an answer; raise ValueError if another attempt may succeed, and `BadInput` if it cannot."""
    text = _text(response)
    if not 200 <= response.status < 300:
        _raise_for_status(response.status, " ".join(text.split()), server)
    if text.lstrip()[:5].casefold() in ("<html", "<!doc"):
        raise BadInput(f"{server} answers with a web page instead of data.", "Check --endpoint and --wikipedia.")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        reason = ENGINE_TIMEOUT if ENGINE_TIMEOUT in text else "the answer breaks off"
        raise ValueError(f"{reason} ({error.msg})") from error


def _raise_for_status(status: int, text: str, server: str) -> None:
    if ENGINE_TIMEOUT in text:
        raise ValueError(f"{ENGINE_TIMEOUT}, status {status}")
    if status in BUSY:
        raise ValueError(f"status {status}")
    kind = PageNotFound if status == 404 and text.startswith("{") else BadInput
    step = "Check --endpoint and --wikipedia; --print-query shows the queries."
    if status == FORBIDDEN:
        step = "Clients without a --contact may be blocked, and those that were banned wait until the time above."
    raise kind(f"{server} refuses the request: {status} {text[:200]}.", step)


def _text(response: BaseHTTPResponse) -> str:
    """Return the body; if the body of an error breaks off, return what arrived of it."""
    received = bytearray()
    try:
        for part in response.stream(decode_content=True):
            received += part
    except HTTPError:
        if response.status < 400:
            raise
    return received.decode(errors="replace")


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
