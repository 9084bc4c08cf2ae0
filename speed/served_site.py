"""A site in a folder of its own, and its web server, which is asked for pages as a browser does.

What a page takes is measured from outside: its times, its queries, and the memory and processor time of the server.
"""

import gzip
import http.client
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from speed.page_server import QUERIES
from tests.tools.deployment import Deployment, wait_for

TIMEOUT = 300  # seconds
SETTLED = 0.005  # seconds after which the server has done all that belongs to a request


class Site(Deployment):
    """A site whose database can be asked, and whose web server counts queries."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, CLOZEBOARD_REQUESTS_PER_MINUTE="0")
        self.folder = folder

    def fill(self, **scale: int) -> None:
        """Fill the migrated site with made-up runs (tests/tools/seed_scale.py)."""
        self.run(f"from tests.tools.seed_scale import fill; fill(**{scale})")

    def rows(self, sql: str) -> list[str]:
        """Return the first column of a query of the database."""
        with sqlite3.connect(self.folder / "clozeboard.sqlite3", timeout=30) as database:
            return [row[0] for row in database.execute(sql)]

    @contextmanager
    def measured(self) -> Iterator["Server"]:
        """Serve the site until the end of the block."""
        address = self.url.removeprefix("http://")
        with self.process("-m", "speed.page_server", address) as process:
            wait_for(f"{self.url}/speed/bare?bytes=1")
            yield Server(int(address.rpartition(":")[2]), process.pid)


@dataclass(frozen=True)
class Answer:
    """A response: how long it took, the processor time of the server, the bytes that were sent, and their text."""

    seconds: float
    processor: float
    sent: int
    text: bytes
    queries: int


@dataclass(frozen=True)
class Server:
    """The web server that is measured."""

    port: int
    process: int

    def processor_time(self) -> float:
        """Return the seconds for which its threads have had a processor, to a microsecond."""
        threads = Path(f"/proc/{self.process}/task").iterdir()
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9

    def memory(self) -> int:
        """Return the bytes that it has in memory now."""
        return self._bytes("VmRSS")

    def peak_memory(self) -> int:
        """Return the most bytes that it has had in memory, since it started or since `forget_peak`."""
        return self._bytes("VmHWM")

    def forget_peak(self) -> None:
        """Take what it has in memory now for the most that it has had."""
        Path(f"/proc/{self.process}/clear_refs").write_text("5")

    def _bytes(self, name: str) -> int:
        lines = Path(f"/proc/{self.process}/status").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def get(server: Server, address: str) -> Answer:
    """Ask for a page as a browser does, and read all of it; raise `ValueError` unless its status is 200."""
    began, processor = time.perf_counter(), server.processor_time()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)
    connection.request("GET", address, headers={"Host": "localhost", "Accept-Encoding": "gzip"})
    response = connection.getresponse()
    sent = response.read()
    seconds = time.perf_counter() - began
    connection.close()
    if response.status != 200:
        raise ValueError(f"{address} has the status {response.status}.")
    text = gzip.decompress(sent) if response.getheader("Content-Encoding") == "gzip" else sent
    time.sleep(SETTLED)
    used = server.processor_time() - processor
    return Answer(seconds, used, len(sent), text, int(response.getheader(QUERIES, "0")))


def download(server: Server, page: str) -> tuple[float, float, int]:
    """Return the seconds until the first row and until the end of a CSV file, and the number of its rows."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)
    connection.request("GET", page, headers={"Host": "localhost"})
    response = connection.getresponse()
    response.readline()  # the names of the columns
    response.readline()
    first = time.perf_counter() - began
    rows = 1 + sum(1 for _ in response)
    connection.close()
    return first, time.perf_counter() - began, rows
