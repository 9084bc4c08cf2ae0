"""Access to a model hub over HTTP, and limits on what it may send: for how long, how much and how slowly.

Errors of the hub become `ProbingError`s. huggingface_hub limits only the time between two bytes, so that a hub could
send a byte a second, or files without an end. The connections made here count what they receive, however the hub
behaves; `allowance` sets the limits for the code inside it.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from ssl import SSLContext
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2
from huggingface_hub import (
    HfApi,
    ModelInfo,
    constants,
    get_session,
    hf_hub_download,
    hf_hub_url,
    set_client_factory,
    snapshot_download,
)
from huggingface_hub.errors import (
    DisabledRepoError,
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    HTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import build_hf_headers, hf_raise_for_status
from huggingface_hub.utils._http import hf_request_event_hook

from probing.errors import BadConfig, Gated, ModelNotFound, SlowDownload, SourceUnavailable, WrongSizes
from probing.files.folders import space

TIMEOUT = 10  # seconds until the hub counts as not answering
LARGEST_DESCRIPTION = 10 * 10**6  # bytes of the hub's description of a model
SLOWEST = 500_000  # bytes per second; a whole download may take this long, and a minute more
ENVELOPE = 1_000_000  # bytes of headers and of repeated parts that a download may take beside the files
WINDOW = 10  # seconds over which the rate is measured
LEAST_RATE = 1_000  # bytes per second; a download below it would not end within any reasonable time
AGAIN = "Try again later, or give a folder."


@dataclass(frozen=True)
class HubClient:
    """A hub: its address, a token for it if there is one, and the folder in which downloaded files are kept.

    Without a folder, huggingface_hub keeps them in the user's cache. A `commit` of "" means the newest one.
    Every method raises `SourceUnavailable`, or its subclass `SlowDownload`, if the hub does not answer in time.
    """

    endpoint: str
    token: str = ""
    cache: Path | None = None

    def _errors(self, hub_id: str) -> AbstractContextManager[None]:
        return hub_errors(hub_id, self.endpoint, bool(self.token))

    def describe(self, hub_id: str, commit: str = "") -> ModelInfo:
        with self._errors(hub_id), allowance(TIMEOUT, LARGEST_DESCRIPTION):
            api = HfApi(endpoint=self.endpoint, token=self.token or False)
            try:
                info = api.model_info(hub_id, revision=commit or None, files_metadata=True, timeout=TIMEOUT)
                names = [info.id, info.sha or "", *(file.rfilename for file in info.siblings or [])]
                if not all(isinstance(name, str) for name in names):
                    raise ValueError("names that are no texts")
                return info
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                if isinstance(error, HFValidationError):
                    raise
                raise SourceUnavailable(f"{self.endpoint} does not answer as a hub does.", AGAIN) from error

    def revisions(self, hub_id: str) -> list[str]:
        """Return the names of a model's branches and tags, each once and in order."""
        with self._errors(hub_id), allowance(TIMEOUT, LARGEST_DESCRIPTION):
            refs = HfApi(endpoint=self.endpoint, token=self.token or False).list_repo_refs(hub_id)
            names = {ref.name for ref in (*refs.branches, *refs.tags)}
        return sorted(name for name in names if isinstance(name, str))

    def read(self, hub_id: str, commit: str, name: str, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to `stop` of a file, fewer if the file ends before."""
        url = hf_hub_url(hub_id, name, revision=commit or None, endpoint=self.endpoint)
        headers = build_hf_headers(token=self.token or False) | {"Range": f"bytes={start}-{stop - 1}"}
        limits = allowance(TIMEOUT + stop / SLOWEST, stop + ENVELOPE)
        with self._errors(hub_id), limits, get_session().stream("GET", url, headers=headers) as answer:
            if answer.status_code == 416:  # the file ends before `start`
                return b""
            hf_raise_for_status(answer)
            skipped = 0 if answer.status_code == 206 else start  # a hub may send the whole file instead
            content = bytearray()
            for chunk in answer.iter_raw():
                content += chunk
                if len(content) >= skipped + stop - start:
                    break
            return bytes(content[skipped : skipped + stop - start])

    def download(self, hub_id: str, commit: str, sizes: Mapping[str, int]) -> Path:
        """Download files of a model; return the folder that holds them.

        `sizes`: the names of the files and their sizes in bytes. Raises `WrongSizes` if a file has another size.
        """
        total = sum(sizes.values())
        limits = allowance(60 + total / SLOWEST, total + total // 10 + ENVELOPE)
        paths = []
        with self._errors(hub_id), space(self.cache or Path.home()), limits:
            for name, size in sizes.items():
                path = Path(
                    hf_hub_download(
                        hub_id,
                        name,
                        revision=commit or None,
                        cache_dir=self.cache,
                        endpoint=self.endpoint,
                        token=self.token or False,
                        etag_timeout=TIMEOUT,
                    )
                )
                _compare_size(path, size)
                paths.append(path)
        return paths[0].parent

    def remember_newest(self, folder: Path) -> None:
        """Note in the hub cache that a downloaded folder was the model's newest commit, as `cached` looks for it."""
        references = folder.parent.parent / "refs"
        references.mkdir(exist_ok=True)
        (references / "main").write_text(folder.name)

    def cached(self, hub_id: str, commit: str) -> Path | None:
        """Return the folder of a model that was downloaded earlier, or None."""
        try:
            return Path(snapshot_download(hub_id, revision=commit or None, cache_dir=self.cache, local_files_only=True))
        except (LocalEntryNotFoundError, HFValidationError):
            return None


def _compare_size(path: Path, size: int) -> None:
    actual = path.stat().st_size
    if actual != size:
        path.resolve().unlink()
        path.unlink(missing_ok=True)
        raise WrongSizes(
            f"{path.name} has {actual:,} bytes; the hub said {size:,}.", "Try again, or give a folder of your own."
        )


@contextmanager
def hub_errors(hub_id: str, endpoint: str, has_token: bool = False) -> Iterator[None]:
    """Turn errors of the hub into `ProbingError`s; only a hub that does not answer is worth another try."""
    try:
        yield
    except GatedRepoError as error:
        raise _gated(hub_id, endpoint, has_token) from error
    except (RepositoryNotFoundError, RevisionNotFoundError, DisabledRepoError, HFValidationError) as error:
        raise ModelNotFound(
            f"There is no public model {hub_id} at {endpoint}, and no such file or folder here.",
            "Check the spelling: org/name, a folder, or a file that ends in .gguf.",
        ) from error
    except LocalEntryNotFoundError as error:
        raise _unavailable(endpoint) from error
    except EntryNotFoundError as error:
        raise BadConfig(f"A file of {hub_id} is missing at the hub.", "Check the repository.") from error
    except (HfHubHTTPError, HTTPError, ConnectionError) as error:
        raise _unavailable(endpoint) from error


def _gated(hub_id: str, endpoint: str, has_token: bool) -> Gated:
    page = f"{endpoint}/{hub_id}"
    if has_token:
        problem = f"{hub_id} is gated, and the account of your token may not read it."
        return Gated(problem, f"Accept its conditions at {page}, and wait until access is granted.")
    problem = f"{hub_id} is gated: its files need an agreement, and there is no token that says who you are."
    return Gated(problem, f"Accept its conditions at {page}, then log in: hf auth login, or set HF_TOKEN.")


def _unavailable(endpoint: str) -> SourceUnavailable:
    return SourceUnavailable(f"The hub at {endpoint} does not answer.", AGAIN)


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


_current_allowance: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


@contextmanager
def allowance(seconds: float, limit: int) -> Iterator[None]:
    """Let the code inside receive at most `limit` bytes within `seconds`, and never longer than an outer allowance.

    Raises `SlowDownload` or `WrongSizes` as soon as a limit is passed. It holds for this thread only.
    """
    outer = _current_allowance.get()
    deadline = time.monotonic() + seconds
    inner = Allowance(min(deadline, outer.deadline) if outer else deadline, limit)
    token = _current_allowance.set(inner)
    try:
        yield
    finally:
        _current_allowance.reset(token)


class LimitedStream(httpcore2.NetworkStream):
    """A connection that keeps to the current allowance."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        current = _current_allowance.get()
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
    current = _current_allowance.get()
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
            answer.status, headers=answer.headers, stream=HubContent(answer), extensions=answer.extensions
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


class HubContent(httpx2.SyncByteStream):
    """The content of an answer of httpcore2, for httpx2."""

    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        with _errors_of_httpx():
            yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


def _proxy(address: httpx2.URL) -> str:
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


def _client() -> httpx2.Client:
    """Return a client such as huggingface_hub makes, whose hook keeps to HF_HUB_OFFLINE and counts downloads."""
    return httpx2.Client(
        transport=LimitedTransport(),
        event_hooks={"request": [hf_request_event_hook], "response": [_refuse_compression]},
        headers={"Accept-Encoding": "identity"},
        follow_redirects=True,
        timeout=None,
    )


def _refuse_compression(response: httpx2.Response) -> None:
    """Refuse an answer that would grow when it is unpacked; none is asked for."""
    if _current_allowance.get() and response.headers.get("Content-Encoding", "identity") != "identity":
        raise SourceUnavailable("The hub sends compressed files, which were not asked for.", AGAIN)


def limit_connections() -> None:
    """Make huggingface_hub's connections keep to allowances; xet's protocol would go round them."""
    set_client_factory(_client)
    constants.HF_HUB_DISABLE_XET = True


limit_connections()
