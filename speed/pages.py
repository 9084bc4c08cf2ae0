"""Measure every kind of page of a site with a thousand models: `python -m speed.pages`.

Each page is compared with a bare view of the same size from the same server: a text that no database is asked for,
compressed and sent like a page. The two are asked for in turns, so that whatever else the machine does slows down both.
A page is measured unchanged, and computed anew after three kinds of changes. Pages keep lists of finished runs until a
figure of their benchmark changes, and the list of waiting runs until the queue changes
(`leaderboard/lists/kept_lists.py`); a thread of the web server makes them anew within half a second of such a change
and the time that they take (`leaderboard/lists/renewal.py`).

- "anew": the data have changed, but no list has, as when a model is described or a part of a run ends.
- "first": results of all benchmarks came, and the queue has changed; the first reader comes when the lists are renewed.
- "at once": the same, but the reader comes before that and makes the lists. It has a limit of its own.

Renewing is not part of a request, and the time that it takes is stated. The processor time of the web process is stated
as well: on a machine that is busy, a page that takes long waits more often than the bare view. The exit code is 1 if a
limit is missed.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from speed.page_figures import HEADER, MemoryFigures, PageFigures
from speed.page_requests import Server, measure, measure_download
from speed.stored_results import store
from speed.web_load import ROOT, Site, free_port

LARGE_DOWNLOAD = "/runs/{large}/items/?format=csv"

FIRST_RUN = "SELECT min(id) FROM leaderboard_run WHERE artefact <> ''"
SECOND_RUN = f"SELECT min(id) FROM leaderboard_run WHERE artefact <> '' AND id > ({FIRST_RUN})"
LARGE_RUN = "SELECT max(id) FROM leaderboard_run WHERE artefact <> ''"
WAITING_RUN = "SELECT max(id) FROM leaderboard_run WHERE state = 'queued'"
PUBLISHED_RUN = "SELECT min(id) FROM leaderboard_run WHERE provenance = 'published'"
RUNS = {
    "first": FIRST_RUN,
    "second": SECOND_RUN,
    "large": LARGE_RUN,
    "waiting": WAITING_RUN,
    "published": PUBLISHED_RUN,
}
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
    with served(site) as process:
        server = Server(site.port, process.pid)
        before = server.memory()
        pages = measure_pages(site, server, some or PAGES)
        if some:
            return exit_code([miss for page in pages for miss in page.misses])
        peak = server.peak_memory()
        download = measure_download(server, address(site, LARGE_DOWNLOAD))
        memory = MemoryFigures(before, max(peak, server.peak_memory()))
    print(f"\n{download.line}\n\n{memory.line}")
    results = {"memory": asdict(memory), "pages": [asdict(page) for page in pages], "download": asdict(download)}
    store("pages", results, of_core=False)
    return exit_code([*(miss for page in pages for miss in page.misses), *download.misses, *memory.misses])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.pages", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder of a filled site (default: fill a new one)")
    parser.add_argument("--models", type=int, default=1000, help="models of a new site (default: 1000)")
    parser.add_argument("--page", action="append", default=[], help="measure only this page, and store nothing")
    options = parser.parse_args()
    if options.data:
        return report(Site(options.data.resolve(), free_port()), options.page)
    with TemporaryDirectory() as folder:
        site = Site(Path(folder), free_port())
        site.command("migrate", "--verbosity=0")
        site.fill(models=options.models)
        return report(site, options.page)


if __name__ == "__main__":
    sys.exit(main())
