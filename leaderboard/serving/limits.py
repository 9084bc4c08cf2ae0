"""Limits of requests: their size, their number for each client, and the work that goes on at once."""

import time
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from ipaddress import IPv6Address, ip_address
from math import ceil
from threading import Lock
from weakref import finalize

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse

from leaderboard.serving.errors import API, refusal, too_large
from leaderboard.serving.middleware import TABLE_FORMATS, GetResponse

# Middleware that refuses requests: too large, too many, or too much work at once.


MAX_ADDRESS = 4096  # bytes of path and query string, which a page repeats in many of its links
MAX_BODY = 100_000  # bytes
NOT_COUNTED = ("/healthz", "/metrics")  # asked by the operator's machines
LOGINS = 10, 300  # attempts with one name from one address, within seconds
LOGINS_OF_ADDRESS = 30, 300
MAX_USERNAME = 150  # letters, as in Django's user table
EXPORTS = 4  # tables that one process writes as files at the same time
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
        if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BODY:
            return too_large(request)
        return get_response(request)

    return middleware


def limited_requests(get_response: GetResponse) -> GetResponse:
    """Refuse an address that sends more requests a minute than the settings allow, and guesses of passwords."""

    def middleware(request: HttpRequest) -> HttpResponse:
        for name, key, most, seconds in _limits(request):
            if not allow(name, key, most, seconds):
                message = f"There were too many requests: the site takes {most} in {seconds} seconds from one address."
                return _refuse(request, retry_after(name, key, seconds), message)
        return get_response(request)

    return middleware


def _limits(request: HttpRequest) -> Iterator[tuple[str, str, int, int]]:
    """Yield the limits that count this request, as arguments of `allow`."""
    address, per_minute = client_address(request), settings.REQUESTS_PER_MINUTE
    if not per_minute or request.path in NOT_COUNTED:
        return
    yield ("api" if request.path.startswith(API) else "pages"), address, per_minute, 60
    if request.method == "POST" and request.path == reverse("admin:login"):
        username = request.POST.get("username", "")[:MAX_USERNAME]
        yield "logins", address, *LOGINS_OF_ADDRESS
        yield "login", f"{address} {username}", *LOGINS


def _refuse(request: HttpRequest, seconds: int, message: str) -> HttpResponse:
    response = refusal(request, 429, "too-many", message, f"Try again in {seconds} seconds.")
    response["Retry-After"] = str(seconds)
    return response


def limited_exports(get_response: GetResponse) -> GetResponse:
    """Refuse an export while many are being written, so that readers of tables leave threads to readers of pages."""
    exports = Exports()

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.GET.get("format") not in TABLE_FORMATS:
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


# Rate limits: how often one name may do something within a period. Each web process counts for itself.


MOST_NAMES = 10_000  # that are counted; beyond, the one whose last use is the longest ago is forgotten
counted: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()  # the moments of uses on the monotonic clock
_counting = Lock()


def allow(name: str, key: str, most: int, seconds: int) -> bool:
    """Count one use and return True, unless there were `most` within so many seconds; a refused use is not counted.

    `name` says what is limited ("checks"), and `key` who does it (an address).
    """
    now = time.monotonic()
    with _counting:
        uses = counted.setdefault((name, key), deque())
        counted.move_to_end((name, key))
        if len(counted) > MOST_NAMES:
            counted.popitem(last=False)
        while uses and uses[0] <= now - seconds:
            uses.popleft()
        if len(uses) >= most:
            return False
        uses.append(now)
        return True


def retry_after(name: str, key: str, seconds: int) -> int:
    """Return the seconds until `allow`, which has just returned False, returns True again, at least 1."""
    now = time.monotonic()
    with _counting:
        uses = counted.get((name, key))
        first = uses[0] if uses else now
    return max(1, ceil(first + seconds - now))


# The address of a client, by which requests and submissions are counted.


UNKNOWN = "unknown"
IPV6_NETWORK = 64  # bits; one customer has at least such a network, and so 2**64 addresses


def client_address(request: HttpRequest) -> str:
    """Return the address that the request came from; of an IPv6 address the network, such as "2001:db8:1:2::/64".

    Behind a proxy, the web server must trust that proxy (docs/operating.md), so that REMOTE_ADDR is the client's.
    All whose address is not known, as with a web server that listens on a Unix socket, count as one client, so that
    nobody is without limits.
    """
    text = str(request.META.get("REMOTE_ADDR", ""))
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return UNKNOWN
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    host_bits = 128 - IPV6_NETWORK
    return f"{IPv6Address(int(address) >> host_bits << host_bits)}/{IPV6_NETWORK}"
