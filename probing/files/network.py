"""Limits on what a hub may send: for how long, how much and how slowly, however the hub behaves.

huggingface_hub limits only the time between two bytes, so that a hub could send a byte a second, or files without an
end. The connections made here count what they receive; `allowance` sets the limits for the code inside it.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from ssl import SSLContext
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2
from huggingface_hub import constants, set_client_factory
from huggingface_hub.utils._http import hf_request_event_hook

from probing.errors import SlowDownload, SourceUnavailable, WrongSizes

WINDOW = 10  # seconds over which the rate is measured
LEAST_RATE = 1_000  # bytes per second; a download below it would not end within any reasonable time
AGAIN = "Try again later, or give a folder."


@dataclass
class Allowance:
    """What may still be received: until `deadline` (of `time.monotonic`), and how many bytes.

    `window_end` and `window_bytes`: when the current window of the rate ends, and what was received in it.
    """

    deadline: float
    bytes: int
    window_end: float = 0.0
    window_bytes: int = 0

    def seconds(self) -> float:
        """Return how long to wait for the next bytes; raise `SlowDownload` if the time is over."""
        now = time.monotonic()
        if now >= self.deadline:
            raise SlowDownload("The hub did not send the files in time.", AGAIN)
        if now >= self.window_end:
            if self.window_end and self.window_bytes < WINDOW * LEAST_RATE:
                raise SlowDownload(f"The hub sends less than {LEAST_RATE:,} bytes a second.", AGAIN)
            self.window_end, self.window_bytes = now + WINDOW, 0
        return max(min(self.deadline, self.window_end) - now, 0.001)

    def count(self, received: int) -> None:
        """Subtract bytes; raise `WrongSizes` if the hub sends more than is allowed."""
        self.window_bytes += received
        self.bytes -= received
        if self.bytes < 0:
            raise WrongSizes("The hub sends more than the sizes that it states.", AGAIN)


_current: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


@contextmanager
def allowance(seconds: float, limit: int) -> Iterator[None]:
    """Let the code inside receive at most `limit` bytes within `seconds`, and never longer than an outer allowance.

    Raises `SlowDownload` or `WrongSizes` as soon as a limit is passed. It holds for this thread only.
    """
    outer = _current.get()
    deadline = time.monotonic() + seconds
    inner = Allowance(min(deadline, outer.deadline) if outer else deadline, limit)
    token = _current.set(inner)
    try:
        yield
    finally:
        _current.reset(token)


class LimitedStream(httpcore2.NetworkStream):
    """A connection that keeps to the current allowance."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        current = _current.get()
        if current is None:
            return self._stream.read(max_bytes, timeout)
        waiting = current.seconds()
        try:
            received = self._stream.read(max_bytes, waiting if timeout is None else min(waiting, timeout))
        except httpcore2.ReadTimeout:
            current.seconds()
            raise
        current.count(len(received))
        return received

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _shorter(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return LimitedStream(self._stream.start_tls(ssl_context, server_hostname, _shorter(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class LimitedBackend(httpcore2.NetworkBackend):
    """Makes connections that keep to the current allowance."""

    def __init__(self, backend: httpcore2.NetworkBackend) -> None:
        self._backend = backend

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        return LimitedStream(self._backend.connect_tcp(host, port, _shorter(timeout), local_address, socket_options))

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


def _shorter(timeout: float | None) -> float | None:
    """Return the time that is left if it is shorter than the timeout."""
    current = _current.get()
    if current is None:
        return timeout
    return current.seconds() if timeout is None else min(current.seconds(), timeout)


class LimitedTransport(httpx2.BaseTransport):
    """Sends the requests of a client of httpx2 over connections that keep to the current allowance.

    httpx2's own transport takes no backend, so that this one is made of httpcore2, on which that is built. Like that
    one it goes through the proxies that the environment names.
    """

    def __init__(self) -> None:
        self._ssl_context = httpx2.create_ssl_context()
        self._pools: dict[str, httpcore2.ConnectionPool] = {}

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        address = request.url
        with _errors_of_httpx():
            answer = self._pool(_proxy(address)).handle_request(
                httpcore2.Request(
                    request.method,
                    httpcore2.URL(
                        scheme=address.raw_scheme, host=address.raw_host, port=address.port, target=address.raw_path
                    ),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        return httpx2.Response(
            answer.status, headers=answer.headers, stream=Content(answer), extensions=answer.extensions
        )

    def close(self) -> None:
        for pool in self._pools.values():
            pool.close()

    def _pool(self, proxy: str) -> httpcore2.ConnectionPool:
        """Return the connections that go through a proxy, which is empty for those that do not."""
        if proxy not in self._pools:
            parsed = httpx2.Proxy(proxy) if proxy else None
            self._pools[proxy] = httpcore2.ConnectionPool(
                self._ssl_context,
                proxy=httpcore2.Proxy(str(parsed.url), auth=parsed.raw_auth) if parsed else None,
                max_connections=100,
                keepalive_expiry=5.0,
                network_backend=LimitedBackend(httpcore2.SyncBackend()),
            )
        return self._pools[proxy]


class Content(httpx2.SyncByteStream):
    """The content of an answer of httpcore2, for httpx2."""

    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        with _errors_of_httpx():
            yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


def _proxy(address: httpx2.URL) -> str:
    """Return the proxy that the environment names for an address, or an empty text."""
    if proxy_bypass(address.host):
        return ""
    proxies = getproxies()
    proxy = proxies.get(address.scheme) or proxies.get("all", "")
    return proxy if "://" in proxy or not proxy else f"http://{proxy}"


@contextmanager
def _errors_of_httpx() -> Iterator[None]:
    """Turn errors of httpcore2 into those of httpx2, which have the same names."""
    try:
        yield
    except (
        httpcore2.TimeoutException,
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
        httpcore2.ProxyError,
        httpcore2.UnsupportedProtocol,
    ) as error:
        raise getattr(httpx2, type(error).__name__)(str(error)) from error


def _refuse_compression(response: httpx2.Response) -> None:
    """Refuse an answer that would grow when it is unpacked; none is asked for."""
    if _current.get() and response.headers.get("Content-Encoding", "identity") != "identity":
        raise SourceUnavailable("The hub sends compressed files, which were not asked for.", AGAIN)


def _client() -> httpx2.Client:
    """Return a client such as huggingface_hub makes, whose hook keeps to HF_HUB_OFFLINE and counts downloads."""
    return httpx2.Client(
        transport=LimitedTransport(),
        event_hooks={"request": [hf_request_event_hook], "response": [_refuse_compression]},
        headers={"Accept-Encoding": "identity"},
        follow_redirects=True,
        timeout=None,
    )


def limit_connections() -> None:
    """Make huggingface_hub's connections keep to allowances; xet's protocol would go round them."""
    set_client_factory(_client)
    constants.HF_HUB_DISABLE_XET = True


limit_connections()
