"""Measure every kind of page of a site with a thousand models: `python -m speed.pages`.

Each page is compared with a bare view of the same size from the same server: a text that no database is asked for,
compressed and sent like a page. The two are asked for in turns, so that whatever else the machine does slows down both.
A page is measured computed anew (the data have changed since) and unchanged. The exit code is 1 if a limit is missed.
"""

import argparse
import gzip
import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from speed.page_server import QUERIES
from speed.web_load import ROOT, Site, free_port

RESULTS = Path(__file__).parent / "results" / "pages.json"
ROUNDS = 7
LONGEST = 20.0  # seconds after which a page is not measured again
TIMEOUT = 300  # seconds
MIB = 2**20
# The limits: times the bare view's time, queries, bytes, bytes of memory.
ANEW, UNCHANGED, MOST_QUERIES, RAW, ZIPPED, MEMORY = 15.0, 2.0, 12, 300_000, 60_000, 400 * MIB
DOWNLOADS = ("format=csv", "/api/v1/")  # which are as long as what they hold

FIRST_RUN = "SELECT min(id) FROM leaderboard_run WHERE artefact <> ''"
SECOND_RUN = f"SELECT min(id) FROM leaderboard_run WHERE artefact <> '' AND id > ({FIRST_RUN})"
LARGE_RUN = "SELECT max(id) FROM leaderboard_run WHERE artefact <> ''"
WAITING_RUN = "SELECT max(id) FROM leaderboard_run WHERE state = 'queued'"
PUBLISHED_RUN = "SELECT min(id) FROM leaderboard_run WHERE provenance = 'published'"
PAGES = (
    "/",
    "/?search=model-0012",
    "/benchmarks/",
    "/benchmarks/synthetic-1/",
    "/benchmarks/synthetic-1/?sort=-parameters&page=3",
    "/benchmarks/synthetic-1/?format=csv",
    "/benchmarks/synthetic-1/relations/R1/",
    "/models/synthetic/model-00000/",
    "/runs/{first}/",
    "/runs/{published}/",
    "/runs/{waiting}/",
    "/runs/{large}/items/",
    "/runs/{large}/items/?search=subject+77",
    "/runs/{large}/items/?correct=no&relation=R3",
    "/runs/{large}/items/?page=100000",
    "/runs/{first}/items/R1/0/1/",
    "/compare/",
    "/compare/?m={first}&m={second}",
    "/submit/",
    "/queue/",
    "/methods/",
    "/api/",
    "/api/v1/leaderboard?benchmark=synthetic-1",
    "/status/",
)


@dataclass(frozen=True)
class Answer:
    """A response: how long it took, the bytes that were sent, and their text."""

    seconds: float
    sent: int
    text: bytes
    queries: int


@dataclass(frozen=True)
class PageFigures:
    """What was measured about a page; times in milliseconds, `bare` is that of the bare view of its size."""

    page: str
    bare: float
    anew: float
    unchanged: float
    queries: int
    raw: int
    zipped: int

    @property
    def misses(self) -> list[str]:
        """Sentences on the limits that the page misses."""
        limits: dict[str, tuple[float, float]] = {
            "times the bare view, computed anew": (self.anew / self.bare, ANEW),
            "times the bare view, unchanged": (self.unchanged / self.bare, UNCHANGED),
            "queries": (self.queries, MOST_QUERIES),
        }
        if not any(part in self.page for part in DOWNLOADS):
            limits |= {"bytes": (self.raw, RAW), "bytes compressed": (self.zipped, ZIPPED)}
        return [
            f"{self.page}: {value:,.1f} {name}, must be {limit:,.0f} at most."
            for name, (value, limit) in limits.items()
            if value > limit
        ]


def get(port: int, address: str) -> Answer:
    """Ask for a page as a browser does, and read all of it; raise `ValueError` unless its status is 200."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    connection.request("GET", address, headers={"Host": "localhost", "Accept-Encoding": "gzip"})
    response = connection.getresponse()
    sent = response.read()
    seconds = time.perf_counter() - began
    connection.close()
    if response.status != 200:
        raise ValueError(f"{address} has the status {response.status}.")
    text = gzip.decompress(sent) if response.getheader("Content-Encoding") == "gzip" else sent
    return Answer(seconds, len(sent), text, int(response.getheader(QUERIES, "0")))


def measure(port: int, page: str) -> PageFigures:
    """Ask for a page computed anew, the same unchanged, and the bare view in turns; return the medians."""
    first = get(port, page)
    bare: list[float] = []
    anew: list[float] = []
    unchanged: list[float] = []
    began = time.perf_counter()
    while len(bare) < ROUNDS and (not bare or time.perf_counter() - began < LONGEST):
        get(port, "/speed/changed")
        anew.append(get(port, page).seconds)
        unchanged.append(get(port, page).seconds)
        bare.append(get(port, f"/speed/bare?bytes={len(first.text)}").seconds)
    return PageFigures(
        page,
        bare=milliseconds(bare),
        anew=milliseconds(anew),
        unchanged=milliseconds(unchanged),
        queries=first.queries,
        raw=len(first.text),
        zipped=first.sent,
    )


def milliseconds(seconds: Sequence[float]) -> float:
    """Return the median of some times in milliseconds."""
    return round(1000 * float(median(seconds)), 1)


@contextmanager
def served(site: Site) -> Iterator[subprocess.Popen[bytes]]:
    """Serve a site until the end of the block."""
    command = [sys.executable, "-m", "speed.page_server", f"127.0.0.1:{site.port}"]
    environment = {**site.environment, "CLOZEBOARD_REQUESTS_PER_MINUTE": "0"}
    with (site.folder / "pages.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        site.wait_for_web()
        yield process
    finally:
        process.kill()
        process.wait()


def peak_memory(process: int) -> int:
    """Return the most bytes that a process has had in memory so far."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def addresses(site: Site) -> list[str]:
    queries = {"first": FIRST_RUN, "second": SECOND_RUN, "large": LARGE_RUN} | {
        "waiting": WAITING_RUN,
        "published": PUBLISHED_RUN,
    }
    numbers = {name: site.rows(query)[0] for name, query in queries.items()}
    return [page.format(**numbers) for page in PAGES]


def row(figures: PageFigures) -> str:
    anew, unchanged = figures.anew / figures.bare, figures.unchanged / figures.bare
    return (
        f"| {figures.page:<50} | {figures.bare:8.1f} | {figures.anew:10.1f} | {anew:6.1f} | {unchanged:9.1f} | "
        f"{figures.queries:7} | {figures.raw / 1000:6.0f} | {figures.zipped / 1000:6.0f} |"
    )


def report(site: Site) -> int:
    """Measure every page, print a line on each, and return the exit code."""
    header = ("page".ljust(50), "bare, ms", "anew, ms", "times", "unchanged", "queries", "KB", "gzip")
    print("| " + " | ".join(header) + " |")
    print("|" + "|".join("-" * (len(title) + 2) for title in header) + "|")
    pages, memory = [], 0
    with served(site) as process:
        for page in addresses(site):
            pages.append(measure(site.port, page))
            print(row(pages[-1]), flush=True)
            memory = peak_memory(process.pid)
    print(f"\nPeak memory of the web process: {memory / MIB:.0f} MiB.")
    RESULTS.write_text(json.dumps({"memory": memory, "pages": [asdict(page) for page in pages]}, indent=1) + "\n")
    misses = [miss for page in pages for miss in page.misses]
    misses += [f"Peak memory: {memory / MIB:.0f} MiB, must be {MEMORY / MIB:.0f} at most."] if memory > MEMORY else []
    for miss in misses:
        print(f"Missed: {miss}", file=sys.stderr)
    return 1 if misses else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.pages", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder that seed_scale has filled (default: fill a new one)")
    parser.add_argument("--models", type=int, default=1000, help="models of a new site (default: 1000)")
    options = parser.parse_args()
    if options.data:
        return report(Site(options.data.resolve(), free_port()))
    with TemporaryDirectory() as folder:
        site = Site(Path(folder), free_port())
        site.command("migrate", "--verbosity=0")
        site.command("seed_scale", "--models", str(options.models))
        return report(site)


if __name__ == "__main__":
    sys.exit(main())
