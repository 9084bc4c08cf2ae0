"""Client of a site's interface for workers elsewhere: every answer is read strictly, every error is one sentence."""

import shutil
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import Retry

from probing.errors import BadInput, DigestMismatch, ProbingError, SourceUnavailable
from probing.files.archives import unpack
from probing.files.folders import new_folder, space
from probing.formats import FORMATS, read_version
from probing.remote.protocol import PROTOCOL, ROUTE, BenchmarkOffer, Handout, package_version

TIMEOUTS = (10, 60)  # seconds to connect, and to wait for the next byte
RETRIED = (429, 500, 502, 503, 504)
Read = TypeVar("Read")


class SiteUnavailable(SourceUnavailable):
    """The site does not answer, or is not able to answer at the moment."""

    code = "site-unavailable"


class SiteRefused(ProbingError):
    """The site answered with an error of its own; `status` is that of HTTP."""

    code = "site-refused"

    def __init__(self, message: str, next_step: str = "", status: int = 400) -> None:
        super().__init__(message, next_step)
        self.status = status


class NotWelcome(BadInput):
    """The address is not that of a site, the token is not valid there, or the versions do not fit."""

    code = "not-welcome"


class Site:
    """A site, and the token with which a worker measures for it.

    `attempts`: how often a request is repeated while the site does not answer, with pauses that double up to half a
    minute; the default waits about two minutes.
    """

    def __init__(self, address: str, token: str, *, attempts: int = 9, timeouts: tuple[int, int] = TIMEOUTS) -> None:
        if not _is_address(address := address if "://" in address else f"https://{address}"):
            raise NotWelcome(f"{address!r:.200} is not an address of a site.", "Write it as https://site.example.")
        if not token.isascii() or not token.isprintable() or not token.strip():
            raise NotWelcome("There is no token, or it holds characters that no token has.", "Copy it again.")
        self.address, self._token, self._timeouts = address.rstrip("/"), token.strip(), timeouts
        self._session = self._open(attempts)

    def _open(self, attempts: int) -> requests.Session:
        retry = Retry(
            attempts,
            backoff_factor=0.5,
            backoff_max=30,
            status_forcelist=RETRIED,
            allowed_methods=None,
            raise_on_status=False,
        )
        session = requests.Session()
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(max_retries=retry))
        session.headers["User-Agent"] = f"clozeboard-worker/{package_version()}"
        session.auth = self._authorize
        return session

    def _authorize(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Add the token; as the session's own way of authorization, so that no .netrc can replace it."""
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request

    def impatient(self) -> "Site":
        """Return another client of the site that soon gives up, for use in another thread and while stopping."""
        return Site(self.address, self._token, attempts=1, timeouts=(5, 10))

    def hello(self) -> str:
        """Check address, token and version; return the token's name."""
        answer = self._read("GET", "", lambda values: (int(values["protocol"]), str(values["token"])))
        protocol, name = answer
        if protocol != PROTOCOL:
            old = "site is too old" if protocol < PROTOCOL else "worker is too old"
            raise NotWelcome(
                f"The {old}: {self.address} speaks version {protocol} of the interface, this worker {PROTOCOL}.",
                "Install the version of Clozeboard that the site has.",
            )
        return name

    def claim(self, machine: Mapping[str, Any], run: int | None = None) -> Handout | None:
        """Return a part to measure, of this run if it is given; None if there is none for this machine."""
        body = {**machine, "protocol": PROTOCOL, "version": package_version(), "run": run}
        response = self._send("POST", "claim", json=body)
        return None if response.status_code == 204 else self._parsed(response, Handout.from_json)

    def renew(self, lease: str, share: float) -> bool:
        """Keep a lease; return False if the worker should stop."""
        return self._read("POST", f"{lease}/renew", lambda values: values["continue"] is True, json={"share": share})

    def deliver(self, lease: str, rows: Path, record: str) -> None:
        """Send the rows of a part, which the site may have got before."""
        with rows.open("rb") as file:
            self._send("POST", f"{lease}/rows", data={"record": record}, files={"rows": ("rows.parquet", file)})

    def fail(self, lease: str, error: ProbingError) -> None:
        """Say why a part could not be measured."""
        values = {name: getattr(error, name) for name in ("code", "message", "next_step", "permanent")}
        self._send("POST", f"{lease}/fail", json=values | {"log": str(getattr(error, "log", ""))[-20_000:]})

    def release(self, lease: str) -> None:
        """Give a part back, so that another worker can have it at once."""
        self._send("POST", f"{lease}/release", json={})

    def fetch(self, benchmark: BenchmarkOffer, folder: Path) -> None:
        """Unpack the benchmark's files into a new folder; raise `DigestMismatch` unless they have its digest."""
        if benchmark.format not in FORMATS:
            raise NotWelcome(f"The site's benchmark has the format {benchmark.format!r:.40}.", "Update the worker.")
        with new_folder(folder) as new:
            response = self._send("GET", benchmark.path, stream=True)
            try:
                with response, space(folder):
                    response.raw.decode_content = False
                    unpack(response.raw, [""], new)
            except (OSError, EOFError, tarfile.TarError) as error:
                raise SiteUnavailable(f"The files of {benchmark.slug} did not arrive.", "Try again.") from error
            if read_version(benchmark.format, new, benchmark.digest) is None:
                raise DigestMismatch(f"The files of {benchmark.slug} are not those that the site names.", "Report it.")

    def _read(self, method: str, route: str, read: Callable[[Mapping[str, Any]], Read], **content: Any) -> Read:
        return self._parsed(self._send(method, route, **content), read)

    def _parsed(self, response: requests.Response, read: Callable[[Mapping[str, Any]], Read]) -> Read:
        try:
            return read(response.json())
        except (ValueError, KeyError, TypeError, AttributeError, BadInput) as error:
            message = f"{self.address} is not a Clozeboard site of this version."
            raise NotWelcome(message, "Check the address.") from error

    def _send(self, method: str, route: str, **content: Any) -> requests.Response:
        """Send a request and return the answer if it is a good one."""
        with self._errors():
            response = self._session.request(
                method,
                f"{self.address}/{ROUTE}{route}",
                timeout=self._timeouts,
                allow_redirects=False,
                **content,
            )
        if response.ok and not response.is_redirect:
            return response
        raise self._refusal(response)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except requests.exceptions.SSLError as error:
            raise NotWelcome(f"{self.address} has no valid certificate.", "Check the address.") from error
        except (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema, UnicodeError) as error:
            raise NotWelcome(f"{self.address} is not an address of a site.", "Check the spelling.") from error
        except requests.RequestException as error:
            raise SiteUnavailable(
                f"{self.address} does not answer.", "Check the address, or try again later."
            ) from error

    def _refusal(self, response: requests.Response) -> ProbingError:
        """Return the error that stands for an answer other than a good one."""
        if response.is_redirect:
            target = response.headers["Location"].partition(f"/{ROUTE}")[0]
            return NotWelcome(f"{self.address} leads to another address.", f"Give that address: {target:.200}")
        if response.status_code in RETRIED:
            message = f"{self.address} is not able to answer now (status {response.status_code})."
            return SiteUnavailable(message, "Try again later.")
        message, next_step = _message(response)
        if response.status_code in (401, 403, 426):
            return NotWelcome(message, next_step)
        if not message:
            return NotWelcome(f"There is no Clozeboard site for workers at {self.address}.", "Check the address.")
        return SiteRefused(message, next_step, response.status_code)


def _message(response: requests.Response) -> tuple[str, str]:
    """Return the sentence and the next step of a site's error, empty where it is not one."""
    try:
        error = response.json()["error"]
        return str(error["message"])[:1000], str(error["next_step"])[:1000]
    except (ValueError, KeyError, TypeError):
        return "", ""


def cached_benchmark(site: Site, benchmark: BenchmarkOffer, folder: Path) -> Path:
    """Return the folder of a benchmark's files, fetched if it is not there; `folder` keeps one for each digest."""
    if not benchmark.digest.isalnum():
        raise NotWelcome("The site names a benchmark by a digest that is not one.", "Update the worker.")
    path = folder / benchmark.digest
    if path.is_dir() and not _is_whole(benchmark, path):
        shutil.rmtree(path)
    if not path.is_dir():
        site.fetch(benchmark, path)
    return path


def _is_whole(benchmark: BenchmarkOffer, folder: Path) -> bool:
    """Tell whether the folder still holds the benchmark's files, unchanged."""
    try:
        return read_version(benchmark.format, folder, benchmark.digest) is not None
    except (BadInput, LookupError):
        return False


def _is_address(text: str) -> bool:
    try:
        address = urlsplit(text)
    except ValueError:
        return False
    return address.scheme in ("http", "https") and bool(address.netloc)
