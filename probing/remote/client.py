"""Client of a site's interface for workers elsewhere: every answer is read strictly, every error is one sentence."""

import shutil
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2

from probing.errors import BadInput, DigestMismatch, ProbingError
from probing.files.downloads import readable, unpack
from probing.files.folders import new_folder, space
from probing.formats import FORMATS, read_version
from probing.remote.connection import Connection, NotWelcome, Read, SiteUnavailable
from probing.remote.protocol import PROTOCOL, ROUTE, BenchmarkOffer, Handout, package_version


class Site(Connection):
    """A site for which a worker measures."""

    route = ROUTE
    service = "Clozeboard site for workers"

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
                with space(folder):
                    unpack(readable(response), [""], new)
            except (httpx2.HTTPError, OSError, EOFError, tarfile.TarError) as error:
                raise SiteUnavailable(f"The files of {benchmark.slug} did not arrive.", "Try again.") from error
            finally:
                response.close()
            if read_version(benchmark.format, new, benchmark.digest) is None:
                raise DigestMismatch(f"The files of {benchmark.slug} are not those that the site names.", "Report it.")

    def _read(self, method: str, route: str, read: Callable[[Mapping[str, Any]], Read], **content: Any) -> Read:
        return self._parsed(self._send(method, route, **content), read)


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
