"""Measure every kind of page of a site with a thousand models: `python -m speed.pages`.

Each page is compared with a bare view of the same size from the same server: a text that no database is asked for,
compressed and sent like a page. The two are asked for in turns, so that whatever else the machine does slows down both.
A page is measured unchanged, and anew after a change of the data, when nothing that was kept may be used any more.
The processor time of the web process is stated as well: on a machine that is busy, a page that takes long waits more
often than the bare view. The exit code is 1 if a limit is missed.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from speed.served_site import Answer, Server, Site, download, get
from speed.stored_results import store

ROUNDS = 7
LONGEST = 20.0  # seconds after which a page is not measured again
BEGINNING = 30_000  # bytes of the bare view that the first row of a download is compared with
LARGE_DOWNLOAD = "/runs/{large}/items/?format=csv"
FIRST_RUN = "SELECT min(id) FROM leaderboard_run WHERE artefact <> ''"
SECOND_RUN = f"SELECT min(id) FROM leaderboard_run WHERE artefact <> '' AND id > ({FIRST_RUN})"
LARGE_RUN = "SELECT max(id) FROM leaderboard_run WHERE artefact <> ''"
WAITING_RUN = "SELECT max(id) FROM leaderboard_run WHERE state = 'queued'"
RUNS = {
    "first": FIRST_RUN,
    "second": SECOND_RUN,
    "large": LARGE_RUN,
    "waiting": WAITING_RUN,
}
PAGES = (
    "/",
    "/?topic=all",
    "/search/?search=subject+7",
    "/benchmarks/",
    "/benchmarks/synthetic-1/",
    "/benchmarks/synthetic-1/?sort=-parameters&page=3",
    "/benchmarks/synthetic-1/?format=csv",
    "/benchmarks/synthetic-1/relations/R1/",
    "/models/synthetic/model-00000/",
    "/runs/{first}/",
    "/runs/{waiting}/",
    "/runs/{large}/items/",
    "/runs/{large}/items/?search=subject+77",
    "/runs/{large}/items/?correct=no&relation=R3",
    "/runs/{large}/items/?page=100000",
    "/benchmarks/synthetic-1/items/R1-1/?run={first}&wording=1",
    "/compare/",
    "/compare/?m={first}&m={second}",
    "/submit/",
    "/queue/",
    "/methods/",
    "/api/",
    "/benchmarks/synthetic-1/?format=json",
)
MB = 10**6  # bytes
# The limits: times the bare view's time, queries, bytes, bytes of memory.
ANEW, UNCHANGED, MOST_QUERIES, RAW, ZIPPED = 20.0, 2.0, 15, 300_000, 60_000
MEMORY = 400 * MB  # of the web process
MORE_MEMORY = 50 * MB  # that a download may take
TITLES = (
    "page".ljust(50),
    "bare, ms",
    "anew, ms",
    "times",
    "unchanged",
    "processor",
    "times",
    "queries",
    "KB",
    "gzip",
)
HEADER = f"| {' | '.join(TITLES)} |\n|{'|'.join('-' * (len(title) + 2) for title in TITLES)}|"
DOWNLOADS = ("format=csv", "/api/v1/")  # which are as long as what they hold


@dataclass(frozen=True)
class PageFigures:
    """What was measured about a page, computed anew and unchanged, and about the bare view of its size.

    Times are milliseconds until it is there; `anew` is that of the first reader after a change. `processor` and
    `bare_processor` are what the web process needed of its processors for a page computed anew and for the bare view.
    """

    page: str
    bare: float
    anew: float
    unchanged: float
    processor: float
    bare_processor: float
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

    @property
    def line(self) -> str:
        """The line on the page in the table below `HEADER`."""
        anew, unchanged = self.anew / self.bare, self.unchanged / self.bare
        return (
            f"| {self.page:<50} | {self.bare:8.1f} | {self.anew:8.1f} | {anew:5.1f} | {unchanged:9.1f} | "
            f"{self.processor:9.1f} | {self.processor / self.bare_processor:5.1f} | "
            f"{self.queries:7} | {self.raw / 1000:6.0f} | {self.zipped / 1000:6.0f} |"
        )


@dataclass(frozen=True)
class DownloadFigures:
    """What was measured about a streamed download: times in milliseconds, and bytes.

    `bare` and `first_row` are times until the bare view and until the first row is there. `memory`: by how much the
    memory of the web process grew until the end.
    """

    page: str
    bare: float
    first_row: float
    whole: float
    rows: int
    memory: int

    @property
    def misses(self) -> list[str]:
        """Sentences on the limits that the download misses."""
        times = self.first_row / self.bare
        misses = [f"{self.page}: the first row after {times:.1f} times the bare view, must be {ANEW:.0f} at most."]
        memory = f"{self.page}: {self.memory / MB:.0f} MB more memory, must be {MORE_MEMORY / MB:.0f} at most."
        return [*(misses if times > ANEW else []), *([memory] if self.memory > MORE_MEMORY else [])]

    @property
    def line(self) -> str:
        """A sentence on the download."""
        return (
            f"{self.page}: the first of {self.rows:,} rows after {self.first_row:.1f} ms "
            f"({self.first_row / self.bare:.1f} times the bare view), the last after {self.whole / 1000:.1f} s, "
            f"{self.memory / MB:.0f} MB more memory."
        )


def memory_misses(peak: int) -> list[str]:
    """Return a sentence on the limit for the bytes of the web process in memory, if it is missed."""
    miss = f"Peak memory of the web process: {peak / MB:.0f} MB, must be {MEMORY / MB:.0f} at most."
    return [miss] if peak > MEMORY else []


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.pages", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder of a filled site (default: fill a new one)")
    parser.add_argument("--models", type=int, default=1000, help="models of a new site (default: 1000)")
    parser.add_argument("--page", action="append", default=[], help="measure only this page, and store nothing")
    options = parser.parse_args()
    if options.data:
        return report(Site(options.data.resolve()), options.page)
    with TemporaryDirectory() as folder:
        site = Site(Path(folder))
        site.command("migrate", "--verbosity=0")
        site.fill(models=options.models)
        return report(site, options.page)


def address(site: Site, page: str) -> str:
    """Return the address of a page, with the numbers of the runs that it names."""
    return page.format_map({name: site.rows(query)[0] for name, query in RUNS.items() if f"{{{name}}}" in page})


def measure_pages(site: Site, server: Server, pages: Sequence[str]) -> list[PageFigures]:
    """Measure pages, and print a line on each."""
    print(HEADER)
    figures = []
    for page in (address(site, page) for page in pages):
        figures.append(measure(server, page))
        print(figures[-1].line, flush=True)
    return figures


def exit_code(misses: Sequence[str]) -> int:
    """Print the limits that are missed, and return the exit code that says whether there are any."""
    for miss in misses:
        print(f"Missed: {miss}", file=sys.stderr)
    return 1 if misses else 0


def report(site: Site, some: Sequence[str] = ()) -> int:
    """Measure every page and the download and store the results, or measure `some` pages; return the exit code."""
    with site.measured() as server:
        before = server.memory()
        pages = measure_pages(site, server, some or PAGES)
        if some:
            return exit_code([miss for page in pages for miss in page.misses])
        peak = server.peak_memory()
        download = measure_download(server, address(site, LARGE_DOWNLOAD))
        peak = max(peak, server.peak_memory())
    print(f"\n{download.line}\n\nPeak memory of the web process: {peak / MB:.0f} MB; before {before / MB:.0f} MB.")
    memory = {"before": before, "peak": peak}
    results = {"memory": memory, "pages": [asdict(page) for page in pages], "download": asdict(download)}
    store("pages", results)
    return exit_code([*(miss for page in pages for miss in page.misses), *download.misses, *memory_misses(peak)])


def measure(server: Server, page: str) -> PageFigures:
    """Ask for a page computed anew, the same unchanged, and the bare view in turns; return the medians."""
    whole = get(server, page)
    bare: list[Answer] = []
    anew: list[Answer] = []
    unchanged: list[float] = []
    began = time.perf_counter()
    while len(bare) < ROUNDS and (not bare or time.perf_counter() - began < LONGEST):
        get(server, "/speed/changed")
        anew.append(get(server, page))
        unchanged.append(get(server, page).seconds)
        bare.append(get(server, f"/speed/bare?bytes={len(whole.text)}"))
    return PageFigures(
        page,
        bare=milliseconds([answer.seconds for answer in bare]),
        anew=milliseconds([answer.seconds for answer in anew]),
        unchanged=milliseconds(unchanged),
        processor=milliseconds([answer.processor for answer in anew]),
        bare_processor=milliseconds([answer.processor for answer in bare]),
        queries=max(answer.queries for answer in anew),
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


def milliseconds(seconds: Sequence[float]) -> float:
    """Return the median of some times in milliseconds."""
    return round(1000 * float(median(seconds)), 1)


if __name__ == "__main__":
    sys.exit(main())
