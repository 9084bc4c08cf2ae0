"""Asking a server politely: not too fast, again after a while where it is busy, and never twice the same."""

import hashlib
import http.client
import json
import os
import sqlite3
import time
import urllib.error
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from probing.errors import BadInput, NoSpace, SourceUnavailable
from probing.files.folders import space

AGENT = "Clozeboard/0.1 (benchmark curation; knowledge probing of language models) Python-urllib"
BUSY = (429, 500, 502, 503, 504)
TIMED_OUT = "TimeoutException"  # what Wikidata's engine writes into an answer that it gave up
GATEWAY = "status 504"  # what stands before the engine waited no longer: the question may be too wide, or the day bad
LONGEST_PAUSE = 300.0  # seconds; a server that wants more is asked another day

T = TypeVar("T")


class TookTooLong(SourceUnavailable):
    """The question was given up, twice; a narrower one may succeed."""


class OverLimit(TookTooLong):
    """The engine itself named its limit of time: the same question never will succeed."""


class NotThere(BadInput):
    """The server itself says, in JSON, that it has no such page; a wrong address is answered by a page for people."""


class HttpCache:
    """HttpCache by key, on disk: what was answered once is never asked again, not even after an interruption.

    `interval`: seconds from the end of a request to the next one. `attempts`: requests for one answer before giving
    up; the pauses between them double from `first_pause` seconds on, or are what the server's Retry-After says.
    """

    def __init__(
        self, path: Path, *, interval: float = 1.0, attempts: int = 6, first_pause: float = 2.0, timeout: float = 75.0
    ) -> None:
        self.interval, self.attempts, self.first_pause, self.timeout = interval, attempts, first_pause, timeout
        self.times: set[str] = set()
        self._last = float("-inf")
        try:
            with space(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                self._store = sqlite3.connect(path)
                self._store.execute("PRAGMA journal_mode = WAL")
                self._store.execute("PRAGMA synchronous = NORMAL")
                self._store.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, at TEXT, answer TEXT)")
        except (OSError, sqlite3.DatabaseError) as error:
            raise BadInput(f"{path} cannot hold answers ({error}).", "Remove it or choose another --cache.") from error

    def __enter__(self) -> "HttpCache":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._store.close()

    def known(self, key: str) -> Any | None:
        """The stored answer, or None."""
        row = self._store.execute("SELECT at, answer FROM answers WHERE key = ?", (_digest(key),)).fetchone()
        if row is None:
            return None
        self.times.add(row[0])
        return json.loads(row[1])

    def keep(self, key: str, answer: Any) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self.times.add(now)
        try:
            with self._store:
                self._store.execute("REPLACE INTO answers VALUES (?, ?, ?)", (_digest(key), now, json.dumps(answer)))
        except sqlite3.OperationalError as error:
            raise NoSpace(f"The answer could not be kept ({error}).", "Free some space and try again.") from error

    def ask(self, request: Callable[[], bytes], read: Callable[[Any], T], server: str) -> T:
        """What `read` finds in the JSON that the server answers, sooner or later, or `SourceUnavailable`.

        An answer in which `read` finds nothing (ValueError) is none: it is asked for again. Nothing is stored yet.
        """
        problems: list[str] = []
        while len(problems) < self.attempts:
            self._wait()
            pause = self.first_pause * 2 ** len(problems)
            try:
                return read(_parsed(request(), server))
            except urllib.error.HTTPError as error:
                problem, wanted = _problem(error)
                pause = pause if wanted is None else wanted
            except (OSError, http.client.HTTPException, ValueError) as error:
                problem = str(getattr(error, "reason", error))
            finally:
                self._last = time.monotonic()
            problems.append(problem)
            given_up = [each for each in problems if TIMED_OUT in each or GATEWAY in each]
            if len(given_up) == 2:
                kind = OverLimit if all(TIMED_OUT in each for each in given_up) else TookTooLong
                raise kind(f"{server} twice took too long to answer.", "Ask for less, or try again later.")
            if len(problems) < self.attempts:
                time.sleep(pause)
        raise SourceUnavailable(
            f"{server} did not answer, {self.attempts} times over ({problems[-1]}).",
            "Try again later, or with a longer --timeout: what was answered is kept.",
        )

    def asked(self) -> dict[str, str]:
        """When the answers were given, from the first to the last; SOURCE_DATE_EPOCH stands for both if it is set."""
        epoch = os.environ.get("SOURCE_DATE_EPOCH")
        if epoch and epoch.isdecimal():
            fixed = datetime.fromtimestamp(int(epoch), UTC).isoformat(timespec="seconds")
            return {"from": fixed, "to": fixed}
        return {"from": min(self.times, default=""), "to": max(self.times, default="")}

    def _wait(self) -> None:
        time.sleep(max(0.0, self._last + self.interval - time.monotonic()))


def _problem(error: urllib.error.HTTPError) -> tuple[str, float | None]:
    """What was wrong, and how long the server wants us to wait; raises where waiting does not help."""
    said = _said(error)
    if TIMED_OUT in said:
        return f"{TIMED_OUT}, status {error.code}", None
    if error.code not in BUSY:
        kind = NotThere if error.code == 404 and said.startswith("{") else BadInput
        raise kind(
            f"{error.url} refuses: {error.code} {said[:200]}.",
            "Check --endpoint and --wikipedia; --print-query shows what is asked.",
        ) from error
    pause = _retry_after(error.headers.get("Retry-After"))
    if pause and pause > LONGEST_PAUSE:
        raise SourceUnavailable(
            f"{error.url} asks for a pause of {pause:.0f} seconds.", "Try again then: what was answered is kept."
        ) from error
    return f"status {error.code}", pause


def _said(error: urllib.error.HTTPError) -> str:
    """The words of its body, as far as it came."""
    try:
        body = error.read()
    except http.client.IncompleteRead as cut:
        body = cut.partial
    except OSError:
        body = b""
    return " ".join(body.decode(errors="replace").split())


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _parsed(content: bytes, server: str) -> Any:
    text = content.decode(errors="replace")
    if text.lstrip()[:5].casefold() in ("<html", "<!doc"):
        raise BadInput(f"{server} answers with a page for people.", "Check --endpoint and --wikipedia.")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        why = TIMED_OUT if TIMED_OUT in text else "the answer breaks off"
        raise ValueError(f"{why} ({error.msg})") from error


def _retry_after(value: str | None) -> float | None:
    """Seconds, from the header's number or date."""
    if value and value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value or "") - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
