"""A polite HTTP client with a disk cache.

Requests are spaced out, repeated after a pause while a server is busy, and never repeated once they are answered. The
cache is that of requests-cache, and the rules of repetition are those of urllib3's `Retry`. Neither repeats an answer
that breaks off, or one that reports an error of the server with status 200, so that the loop around them is here.
"""

import hashlib
import json
import logging
import os
import re
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from probing.errors import BadInput, NoSpace, SourceUnavailable
from probing.extras import extra_package
from probing.files.folders import space

logger = logging.getLogger(__name__)

CLIENT, PURPOSE = "Clozeboard/0.1", "benchmark curation; knowledge probing of language models"
CONTACT = re.compile(r"[\w.+-]+@[\w.-]+\.\w+|https?://[\w.-]+[\w./~%:@-]*", re.ASCII)  # an e-mail address or a web page
REQUEST_INTERVAL = 1.0  # seconds from the end of one request to the next
ANSWER_TIMEOUT = 75.0  # seconds to wait for an answer
LONGEST_PAUSE = 300.0  # seconds; the curation stops if a server asks for more
BUSY = (429, 500, 502, 503, 504)
FORBIDDEN, NOT_FOUND = 403, 404
ENGINE_TIMEOUT = "TimeoutException"  # Wikidata's query engine writes this into an answer that it gives up
# A proxy in front of the engine stopped waiting: the query may be too wide, or the server overloaded.
GATEWAY_TIMEOUT = "status 504"
TRANSIENT = (OSError, ValueError)  # every error of requests is an OSError; ValueError is for content
CHECK_ADDRESSES = "Check the addresses in endpoint."
CHECK_QUERIES = "Check the addresses in endpoint; --dry-run shows the queries."
# What urllib3 says where no address is known of a server. Before the first answer, that is hardly the server's fault.
UNKNOWN_HOST = "Failed to resolve"
CHECK_CONNECTION = "Check the connection to the internet and try again: all answers so far are stored."
TRY_LATER = "Try again later, or with a longer timeout (endpoint in the file of curate): all answers so far are stored."
ASKING = "Asking Wikidata"  # what the extra is needed for
JSON_TYPES = "application/sparql-results+json, application/json"

Parsed = TypeVar("Parsed")


class QueryTimedOut(SourceUnavailable):
    """A query timed out twice at the server; a narrower query may succeed."""


class OverTimeLimit(QueryTimedOut):
    """The query engine itself reported its time limit, so the same query will never succeed."""


class Refused(BadInput):
    """A server answers with an error that another attempt will not change; `status` and `text` are the answer's."""

    def __init__(self, server: str, status: int, text: str) -> None:
        step = CHECK_QUERIES
        if status == FORBIDDEN:
            step = "Clients without a --contact may be blocked, and those that were banned wait until the time above."
        super().__init__(f"{server} refuses the request: {status} {text[:200]}.", step)
        self.status, self.text = status, text


class HttpCache:
    """Answers of servers in an SQLite file, each stored as soon as it arrives, so that interruptions lose nothing.

    `interval`: seconds from the end of one request to the next. `attempts`: requests for one answer before giving up.
    `first_pause`: seconds before the second request, doubled before each further one, unless the server sends
    Retry-After. `timeout`: seconds to wait for an answer. `contact`: an e-mail address or web page of the user, which
    Wikimedia's policy on user agents demands. A `path` without an extension gets `.sqlite`.
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
        self._answer_times: set[str] = set()
        self._last_request = float("-inf")
        self.session, self._notes = _open(path if path.suffix else path.with_suffix(".sqlite"))
        self.session.headers.update({"User-Agent": self.agent, "Accept": JSON_TYPES})

    def __enter__(self) -> "HttpCache":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.session.close()
        self._notes.close()

    def note(self, key: str) -> Any | None:
        text = self._notes.get(_digest(key))
        if text is None:
            return None
        noted_at, value = json.loads(text)
        self._answer_times.add(noted_at)
        return value

    def put_note(self, key: str, value: Any) -> None:
        """Store a part of an answer, or what it says; the value must be representable as JSON."""
        now = _time(datetime.now(UTC))
        self._answer_times.add(now)
        self._notes[_digest(key)] = json.dumps([now, value])
        if _digest(key) not in self._notes:  # SQLiteDict passes over the errors of SQLite
            raise _no_space()

    def ask(
        self,
        address: str,
        read: Callable[[str], Parsed],
        form: Mapping[str, str] | None = None,
        *,
        keep: bool = True,
    ) -> Parsed:
        """Return what `read` makes of the text with which the server answers, or has answered an earlier request.

        A POST request is sent if there is a form, else a GET request. Busy servers, broken connections and answers
        that `read` rejects with a ValueError are asked again; an answer that it takes is stored if `keep` is set.
        Raises `QueryTimedOut` after the second timeout at the server, and `SourceUnavailable` after the last attempt.
        """
        policy = import_module("probing.curation.polite_retry").PoliteRetry
        retry = policy(total=self.attempts - 1, backoff_factor=self.first_pause)
        problems: list[str] = []
        while True:
            response: Any = None
            try:
                response = self._send(address, form)
                parsed = _parsed(response, read, address)
            except TRANSIENT as error:
                problems.append(_reason(error))
            else:
                answer = self._stored(response) if keep and not response.from_cache else response
                self._answer_times.add(_time(answer.created_at))
                return parsed
            finally:
                if response is None or not response.from_cache:
                    self._last_request = time.monotonic()
            retry = self._pause(retry, response, problems, address)

    def _send(self, address: str, form: Mapping[str, str] | None) -> Any:
        """Return the stored answer, else that of the server, after a while since the last request."""
        requests = extra_package("requests", "curation", ASKING)
        method = "POST" if form else "GET"
        if not self.session.cache.contains(request=requests.Request(method, address, data=form)):
            time.sleep(max(0.0, self._last_request + self.interval - time.monotonic()))
        # As a stream, so that the status of an error is known even if its text breaks off.
        return self.session.request(method, address, data=form, timeout=self.timeout, stream=True)

    def _stored(self, response: Any) -> Any:
        """Store a server's answer and return it with the time under which it is stored, which is its copy's own."""
        self.session.cache.save_response(response)
        stored = self.session.cache.get_response(self.session.cache.create_key(response.request))
        if stored is None:  # requests-cache passes over the errors of SQLite
            raise _no_space()
        return stored

    def _pause(self, retry: Any, response: Any, problems: Sequence[str], server: str) -> Any:
        """Wait before the next attempt; return what is left of the attempts, or raise the error that ends them."""
        raw = None if response is None else response.raw
        seconds = retry.get_retry_after(raw) if raw else None
        _check_timeouts(problems, server)
        if seconds and seconds > LONGEST_PAUSE:
            raise SourceUnavailable(
                f"{server} asks for a pause of {seconds:.0f} seconds.", "Try again then: all answers so far are stored."
            )
        retry = retry.next_attempt(server)
        is_offline = UNKNOWN_HOST in problems[-1]
        if retry is None or (is_offline and len(problems) > 1 and not self._answer_times):
            raise SourceUnavailable(
                f"{server} did not answer after {len(problems)} attempts ({problems[-1]}).",
                CHECK_CONNECTION if is_offline else TRY_LATER,
            )
        seconds = seconds or retry.get_backoff_time()
        logger.warning("A request to %s failed (%s). It is sent again in %.0f s.", server, problems[-1], seconds)
        retry.sleep(raw)
        return retry

    def answer_period(self) -> dict[str, str]:
        """Return when the first and the last of the answers in use were given.

        If the environment variable SOURCE_DATE_EPOCH is set, its time stands for both.
        """
        epoch = os.environ.get("SOURCE_DATE_EPOCH")
        if epoch and epoch.isdecimal():
            fixed = datetime.fromtimestamp(int(epoch), UTC).isoformat(timespec="seconds")
            return {"from": fixed, "to": fixed}
        return {"from": min(self._answer_times, default=""), "to": max(self._answer_times, default="")}


def user_agent(contact: str) -> str:
    """Return the header User-Agent in the form of Wikimedia's policy; raise `BadInput` if this is no contact."""
    if contact and not CONTACT.fullmatch(contact):
        raise BadInput(f"{contact!r:.80} is no contact.", "Give --contact an e-mail address or a web page.")
    return f"{CLIENT} ({contact}; {PURPOSE}) Python" if contact else f"{CLIENT} ({PURPOSE}) Python"


def _open(path: Path) -> tuple[Any, Any]:
    """Return a `CachedSession` with the file's answers, and a `SQLiteDict` with its notes.

    Raises `BadInput` if the file cannot hold any. The session only reads its cache: what is stored in it has been
    accepted by those who asked.
    """
    library = extra_package("requests_cache", "curation", ASKING)
    try:
        with space(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and not os.access(path, os.W_OK):  # requests-cache would wait for it without an end
                raise PermissionError("it may not be written")
            # JSON and not pickle, which is the default: reading a file of others must not run code.
            backend = library.SQLiteCache(path, serializer="json", wal=True)
            notes = library.SQLiteDict(path, table_name="notes", serializer=None, wal=True)
    except (OSError, sqlite3.DatabaseError) as error:
        raise BadInput(f"{path} cannot hold answers ({error}).", "Remove it or choose another --cache.") from error
    session = library.CachedSession(backend=backend, allowable_methods=("GET", "POST"), read_only=True)
    return session, notes


def _check_timeouts(problems: Sequence[str], server: str) -> None:
    timeouts = [problem for problem in problems if ENGINE_TIMEOUT in problem or GATEWAY_TIMEOUT in problem]
    if len(timeouts) == 2:
        kind = OverTimeLimit if all(ENGINE_TIMEOUT in problem for problem in timeouts) else QueryTimedOut
        raise kind(f"{server} twice took too long to answer.", "Ask for less, or try again later.")


def _parsed(response: Any, read: Callable[[str], Parsed], server: str) -> Parsed:
    """Return an answer as `read`; raise ValueError if another attempt may succeed, and `BadInput` if it cannot."""
    text = _text(response)
    if not 200 <= response.status_code < 300:
        _raise_for_status(response.status_code, " ".join(text.split()), server)
    if text.lstrip()[:5].casefold() in ("<html", "<!doc"):
        raise BadInput(f"{server} answers with a web page instead of data.", CHECK_ADDRESSES)
    try:
        return read(text)
    except json.JSONDecodeError as error:
        reason = ENGINE_TIMEOUT if ENGINE_TIMEOUT in text else "the answer breaks off"
        raise ValueError(f"{reason} ({error.msg})") from error


def _raise_for_status(status: int, text: str, server: str) -> None:
    if ENGINE_TIMEOUT in text:
        raise ValueError(f"{ENGINE_TIMEOUT}, status {status}")
    if status in BUSY:
        raise ValueError(f"status {status}")
    raise Refused(server, status, text)


def _text(response: Any) -> str:
    """Return the body; that of an error is empty if it breaks off, because its status says enough."""
    try:
        return str(response.content, errors="replace")
    except OSError:
        if response.status_code < 400:
            raise
        return ""


def _reason(error: Exception) -> str:
    """Return an error in words, without the layers that requests and urllib3 put around it."""
    inner = error.args[0] if error.args else error
    return str(getattr(inner, "reason", error))


def _no_space() -> NoSpace:
    return NoSpace("The answer could not be stored.", "Free some space and try again.")


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def _digest(key: str) -> str:
    """Return a key that requests-cache may write into its SQL, which it does without escaping quotes."""
    return hashlib.sha256(key.encode()).hexdigest()
