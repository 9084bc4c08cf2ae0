"""Take pictures of every kind of page in the looks that readers have, for visual inspection."""

import shutil
import threading
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import waitress
from django.conf import settings
from django.core.management.base import CommandError
from django.core.wsgi import get_wsgi_application
from playwright.sync_api import Browser, Page, sync_playwright

from leaderboard.management.base import PlainCommand
from leaderboard.management.page_kinds import Site, of_submissions, page_kinds
from leaderboard.serving import web_server

WIDE, LARGE, PHONE = {"width": 1280, "height": 800}, {"width": 1600, "height": 900}, {"width": 360, "height": 740}
# Looks by name, as options of a browser's context. A window of 1280 pixels has 640 of them at 200 % zoom.
LOOKS: dict[str, dict[str, Any]] = {
    "wide-light": {"viewport": WIDE},
    "wide-dark": {"viewport": WIDE, "color_scheme": "dark"},
    "large-light": {"viewport": LARGE},
    "phone-light": {"viewport": PHONE},
    "phone-dark": {"viewport": PHONE, "color_scheme": "dark"},
    "zoom": {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2},
    "plain": {"viewport": WIDE, "java_script_enabled": False},
    "contrast": {"viewport": WIDE, "forced_colors": "active"},
    "print": {"viewport": {"width": 720, "height": 1000}},
}


class Command(PlainCommand):
    help = "Take pictures of the site's pages with the rows of its database."

    def add_arguments(self, parser: ArgumentParser) -> None:
        folder = settings.BASE_DIR / "docs" / "images"
        parser.add_argument("--out", type=Path, default=folder, help="folder (default: docs/images)")
        parser.add_argument("--look", nargs="*", choices=list(LOOKS), default=list(LOOKS), help="default: all")
        parser.add_argument("--page", nargs="*", default=[], help="kinds of pages, such as run (default: all)")
        parser.add_argument("--full", action="store_true", help="whole pages instead of what a window shows")

    def run(self, *, out: Path, look: list[str], page: list[str], full: bool, **options: Any) -> None:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        if chromium is None:
            raise CommandError("There is no chromium on this machine. Install it: apt-get install chromium")
        out.mkdir(parents=True, exist_ok=True)
        with served() as url:
            addresses = pages(url)
            if unknown := set(page) - set(addresses):
                raise CommandError(f"There is no page {min(unknown)}. Pages: {', '.join(addresses)}.")
            chosen = {name: addresses[name] for name in page or addresses}
            with sync_playwright() as playwright:  # Django asks the database nothing while it is open
                browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
                for name in look:
                    photograph(browser, url, chosen, name, out, full=full)
        self.say(f"{len(chosen)} pages in {len(look)} looks are in {out}")


def pages(url: str) -> dict[str, str]:
    site = Site(url)
    if not site.measured():
        raise CommandError("There is no finished run to show. Measure a model first, or run make screenshots.")
    return page_kinds(site) | dict(of_submissions())


@contextmanager
def served() -> Iterator[str]:
    """Serve this site on a free port, from a thread; yield its address."""
    server = waitress.create_server(get_wsgi_application(), listen="127.0.0.1:0", **web_server.OPTIONS)
    threading.Thread(target=server.run, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.close()


def photograph(browser: Browser, url: str, addresses: dict[str, str], look: str, out: Path, *, full: bool) -> None:
    """Save a picture of each page in one look."""
    with browser.new_context(base_url=url, reduced_motion="reduce", **LOOKS[look]) as context:
        page = context.new_page()
        for name, address in addresses.items():
            page.goto(address)
            if look != "plain":
                draw_charts(page, all_of_them=full)
            if look == "print":
                page.emulate_media(media="print")
                page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
            page.screenshot(path=out / f"{name}-{look}.png", full_page=full)


def draw_charts(page: Page, *, all_of_them: bool) -> None:
    """Wait until the charts are drawn that the picture will show."""
    height = page.viewport_size["height"] if page.viewport_size else 0
    for plot in page.locator("[data-chart]:visible").all():
        box = plot.bounding_box()
        if all_of_them or (box and box["y"] < height):
            plot.scroll_into_view_if_needed()
            plot.locator(".main-svg").first.wait_for()
    page.evaluate("window.scrollTo(0, 0)")
