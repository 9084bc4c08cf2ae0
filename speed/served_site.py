"""A site in a folder of its own, and its web server, which is asked for pages as a browser does.

What a page takes is measured from outside: its times, its queries, and the memory and processor time of the server.
"""

import gzip
import http.client
import os
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from speed.page_server import QUERIES
from speed.stored_results import CHECKOUT

START = 120  # seconds that the web server may take to start
TIMEOUT = 300  # seconds
SETTLED = 0.005  # seconds after which the server has done all that belongs to a request


@dataclass(frozen=True)
class Site:
    """A site in a folder of its own."""

    folder: Path
    port: int

    @property
    def environment(self) -> dict[str, str]:
        usual = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
        ours = {"CLOZEBOARD_DATA": str(self.folder), "PORT": str(self.port), "HF_ENDPOINT": "http://127.0.0.1:9"}
        return usual | ours | {"DJANGO_SETTINGS_MODULE": "leaderboard.settings"}

    def command(self, *arguments: str) -> None:
        command = [sys.executable, "manage.py", *arguments]
        subprocess.run(command, cwd=CHECKOUT, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def fill(self, **scale: int) -> None:
        """Fill the migrated site with made-up runs (tests/tools/seed_scale.py)."""
        self.command("shell", "--verbosity=0", f"--command=from tests.tools.seed_scale import fill; fill(**{scale})")

    def wait_for_web(self) -> None:
        until = time.monotonic() + START
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port), 5).close()
                return
            except OSError:
                time.sleep(0.2)
        raise TimeoutError(f"The web server did not start within {START} seconds.")

    def rows(self, sql: str) -> list[str]:
        """Return the first column of a query of the database."""
        with sqlite3.connect(self.folder / "clozeboard.sqlite3", timeout=30) as database:
            return [row[0] for row in database.execute(sql)]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(site: Site) -> Iterator[subprocess.Popen[bytes]]:
    """Serve a site until the end of the block."""
    command = [sys.executable, "-m", "speed.page_server", f"127.0.0.1:{site.port}"]
    environment = {**site.environment, "CLOZEBOARD_REQUESTS_PER_MINUTE": "0"}
    with (site.folder / "pages.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=CHECKOUT, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        site.wait_for_web()
        yield process
    finally:
        process.kill()
        process.wait()


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
