"""Ask for pages of the web server as a browser does, and measure its times, its queries and its memory."""

import gzip
import http.client
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from speed.page_figures import DownloadFigures, PageFigures
from speed.page_server import QUERIES

ROUNDS = 7
SETTLED = 0.005  # seconds after which the server has done all that belongs to a request
LONGEST = 20.0  # seconds after which a page is not measured again
TIMEOUT = 300  # seconds
BEGINNING = 30_000  # bytes of the bare view that the first row of a download is compared with


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


def measure(server: Server, page: str) -> PageFigures:
    """Ask for a page computed anew, the same unchanged, and the bare view in turns; return the medians."""
    whole = get(server, page)
    bare: list[Answer] = []
    anew: list[Answer] = []
    first: list[Answer] = []
    at_once: list[Answer] = []
    renewal: list[float] = []
    unchanged: list[float] = []
    began = time.perf_counter()
    while len(bare) < ROUNDS and (not bare or time.perf_counter() - began < LONGEST):
        get(server, "/speed/changed?figures=yes")
        at_once.append(get(server, page))
        get(server, "/speed/changed?figures=yes")
        renewal.append(get(server, "/speed/renewed").seconds)
        first.append(get(server, page))
        get(server, "/speed/changed")
        anew.append(get(server, page))
        unchanged.append(get(server, page).seconds)
        bare.append(get(server, f"/speed/bare?bytes={len(whole.text)}"))
    return PageFigures(
        page,
        bare=milliseconds([answer.seconds for answer in bare]),
        anew=milliseconds([answer.seconds for answer in anew]),
        first=milliseconds([answer.seconds for answer in first]),
        at_once=milliseconds([answer.seconds for answer in at_once]),
        renewal=milliseconds(renewal),
        unchanged=milliseconds(unchanged),
        processor=milliseconds([answer.processor for answer in anew]),
        bare_processor=milliseconds([answer.processor for answer in bare]),
        queries=max(answer.queries for answer in at_once),
        raw=len(whole.text),
        zipped=whole.sent,
    )


def measure_download(server: Server, page: str) -> DownloadFigures:
    """Ask for a download as long as it is, and for the bare view, in turns; return medians and the growth of memory."""
    bare: list[float] = []
    first: list[float] = []
    whole: list[float] = []
    server.forget_peak()
    before = server.memory()
    began = time.perf_counter()
    while not bare or (len(bare) < ROUNDS and time.perf_counter() - began < LONGEST):
        bare.append(get(server, f"/speed/bare?bytes={BEGINNING}").seconds)
        row, end, rows = download(server, page)
        first.append(row)
        whole.append(end)
    return DownloadFigures(
        page,
        milliseconds(bare),
        milliseconds(first),
        milliseconds(whole),
        rows,
        memory=server.peak_memory() - before,
    )


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


def milliseconds(seconds: Sequence[float]) -> float:
    """Return the median of some times in milliseconds."""
    return round(1000 * float(median(seconds)), 1)
