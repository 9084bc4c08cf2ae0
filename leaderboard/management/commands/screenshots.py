"""Take the pictures of the site's pages that the documents show: docs/images/*.png."""

import shutil
import threading
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import waitress
from django.conf import settings
from django.core.management.base import CommandError
from django.core.wsgi import get_wsgi_application
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from leaderboard.lists.runs import benchmarks
from leaderboard.lists.scores import best_scores
from leaderboard.management.base import PlainCommand
from leaderboard.serving import web_server

VIEWPORTS: dict[str, ViewportSize] = {
    "wide": {"width": 1280, "height": 900},
    "large": {"width": 1600, "height": 900},
    "phone": {"width": 360, "height": 780},
}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


class Command(PlainCommand):
    help = "Take pictures of the site's pages with the rows of its database."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--out", type=Path, default=settings.BASE_DIR / "docs" / "images", help="folder (default: docs/images)"
        )

    def run(self, *, out: Path, **options: Any) -> None:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        if chromium is None:
            raise CommandError("There is no chromium on this machine. Install it: apt-get install chromium")
        addresses = pages()
        out.mkdir(parents=True, exist_ok=True)
        with served() as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            for name, address in addresses.items():
                photograph(browser, url + address, out, name)
        self.say(f"{len(addresses)} pages in {out}")


def pages() -> dict[str, str]:
    """Return one page of every kind by name, with the best run of the benchmark that has the most runs."""
    benchmark = benchmarks().first()
    best = best_scores(benchmark, benchmark.main_metric, 2) if benchmark else []
    if benchmark is None or not best:
        raise CommandError("There is no finished run to show. Measure a model first: make demo ONCE=1")
    run, about = best[0].run.get_absolute_url(), benchmark.get_absolute_url()
    compared = "&".join(f"m={score.run_id}" for score in best)
    return {
        "overview": "/",
        "benchmarks": "/benchmarks/",
        "benchmark": about,
        "questions": f"{about}items/",
        "quiz": f"{about}try/",
        "model": best[0].run.model.get_absolute_url(),
        "run": run,
        "items": f"{run}items/",
        "map": f"{run}map/",
        "compare": f"/compare/?{compared}",
        "submit": "/submit/",
        "queue": "/queue/",
        "status": "/status/",
        "methods": "/methods/",
        "api": "/api/",
        "missing": "/missing/",
    }


@contextmanager
def served() -> Iterator[str]:
    """Serve this site on a free port, from a thread; yield its address."""
    server = waitress.create_server(get_wsgi_application(), listen="127.0.0.1:0", **web_server.OPTIONS)
    threading.Thread(target=server.run, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.close()


def photograph(browser: Browser, address: str, out: Path, name: str) -> None:
    """Save a picture of one page for each size and colour scheme, with the charts in view drawn."""
    for size, viewport in VIEWPORTS.items():
        for scheme in SCHEMES:
            page = browser.new_page(viewport=viewport, color_scheme=scheme)
            page.goto(address)
            for plot in page.locator("[data-chart]").all():
                box = plot.bounding_box()
                if box and box["y"] < viewport["height"]:
                    plot.locator(".main-svg").first.wait_for()
            page.screenshot(path=out / f"{name}-{size}-{scheme}.png")
            page.close()
