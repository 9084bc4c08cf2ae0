"""Middleware that refuses requests: too large, too many, or too much work at once."""

from collections import Counter
from collections.abc import Iterator
from threading import Lock
from weakref import finalize

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse

from leaderboard.serving.client import client_address
from leaderboard.serving.errors import API, refusal, too_large
from leaderboard.serving.middleware import GetResponse
from leaderboard.serving.rate_limits import allow, retry_after

WORK = f"{API}work/"  # the interface of remote workers: every request has a token, and some carry rows
ROWS_COME = (WORK, f"{API}results")  # below these, rows are sent, with a token
MAX_ADDRESS = 4096  # bytes of path and query string, which a page repeats in many of its links
MAX_BODY = 100_000  # bytes
NOT_COUNTED = ("/healthz", "/metrics")  # asked by the operator's machines
WORKERS_SHARE = 10  # how many times as many requests remote workers may send; many can stand behind one address
LOGINS = "10 per 5 minutes"  # attempts with one name from one address
LOGINS_OF_ADDRESS = "30 per 5 minutes"
MAX_USERNAME = 150  # letters, as in Django's user table
EXPORTS = 4  # tables that one process writes as CSV at the same time
EXPORTS_OF_ADDRESS = 2


def bounded_requests(get_response: GetResponse) -> GetResponse:
    """Refuse what is too large to be meant, and the NUL byte, which databases do not store."""

    def middleware(request: HttpRequest) -> HttpResponse:
        query = request.META.get("QUERY_STRING", "")
        if len(request.path.encode(errors="replace")) + len(query) > MAX_ADDRESS:
            message = f"The address is longer than {MAX_ADDRESS:,} bytes."
            return refusal(request, 414, "request-too-large", message, "Choose fewer filters.")
        if "\x00" in request.path or "%00" in query or "\x00" in query:
            return refusal(request, 400, "bad-request", "The address has a NUL byte.", "Check the address.")
        if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BODY and not request.path.startswith(ROWS_COME):
            return too_large(request)
        return get_response(request)

    return middleware


def limited_requests(get_response: GetResponse) -> GetResponse:
    """Refuse an address that sends more requests a minute than the settings allow, and guesses of passwords."""

    def middleware(request: HttpRequest) -> HttpResponse:
        for name, key, limit in _limits(request):
            if not allow(name, key, limit):
                message = f"There were too many requests: the site answers {limit} from one address."
                return _refuse(request, retry_after(name, key, limit), message)
        return get_response(request)

    return middleware


def _limits(request: HttpRequest) -> Iterator[tuple[str, str, str]]:
    """Yield the limits that count this request, as arguments of `allow`."""
    address, per_minute = client_address(request), settings.REQUESTS_PER_MINUTE
    if not per_minute or request.path in NOT_COUNTED:
        return
    if request.path.startswith(WORK):
        yield "work", address, f"{per_minute * WORKERS_SHARE} per minute"
    else:
        yield ("api" if request.path.startswith(API) else "pages"), address, f"{per_minute} per minute"
    if request.method == "POST" and request.path == reverse("admin:login"):
        username = request.POST.get("username", "")[:MAX_USERNAME]
        yield "logins", address, LOGINS_OF_ADDRESS
        yield "login", f"{address} {username}", LOGINS


def _refuse(request: HttpRequest, seconds: int, message: str) -> HttpResponse:
    response = refusal(request, 429, "too-many", message, f"Try again in {seconds} seconds.")
    response["Retry-After"] = str(seconds)
    return response


def limited_exports(get_response: GetResponse) -> GetResponse:
    """Refuse an export while many are being written, so that readers of CSV leave threads to readers of pages."""
    exports = Exports()

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.GET.get("format") != "csv":
            return get_response(request)
        address = client_address(request)
        if not exports.begin(address):
            message = f"The site is writing {EXPORTS} tables, or {EXPORTS_OF_ADDRESS} of them for your address."
            return _refuse(request, 5, message)
        response = get_response(request)
        if isinstance(response, StreamingHttpResponse):
            response.streaming_content = ExportLines(iter(response), exports, address)
        else:
            exports.end(address)
        return response

    return middleware


class Exports:
    """The exports that this process is writing, counted by the address that they are for."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: Counter[str] = Counter()

    def begin(self, address: str) -> bool:
        """Count another export, unless there are as many as there may be."""
        with self._lock:
            if self._running.total() >= EXPORTS or self._running[address] >= EXPORTS_OF_ADDRESS:
                return False
            self._running[address] += 1
            return True

    def end(self, address: str) -> None:
        with self._lock:
            self._running[address] -= 1
            self._running += Counter()  # forgets the addresses without exports


class ExportLines:
    """The lines of an export, which ends when the web server closes the response or forgets it, sent in full or not."""

    def __init__(self, lines: Iterator[bytes], exports: Exports, address: str) -> None:
        self._lines = lines
        self.close = finalize(self, exports.end, address)

    def __iter__(self) -> "ExportLines":
        return self

    def __next__(self) -> bytes:
        return next(self._lines)
