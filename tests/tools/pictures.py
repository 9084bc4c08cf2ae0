"""Take pictures of every kind of page in the looks that readers have, for visual inspection: `make screenshots`.

The pages are those of a site in a temporary folder, which is filled with finished runs of three small models of random
weights (tests/filled_site.py), with published figures, and with runs that wait, go on and have failed; or those of the
site whose data folder is named: `python -m tests.tools.pictures --data var --page overview --look wide-light`.

The picture of the README shows a run of SmolLM2, which `make demo ONCE=1` measures:
`python -m tests.tools.pictures --data var --page run --look wide-dark --out docs/images`.
"""

import shutil
import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.tools.deployment import ROOT, Deployment
from tests.tools.page_kinds import SUBMISSIONS, Site, page_kinds

OUT = ROOT / "var" / "pictures"
FILL = "from tests import filled_site; filled_site.fill(); filled_site.add_unfinished()"
WIDE, LARGE, PHONE = {"width": 1280, "height": 800}, {"width": 1600, "height": 900}, {"width": 360, "height": 740}
TALL = {"width": 1280, "height": 1240}  # which has the chart of a run's page as well
# Looks by name, as options of a browser's context. A window of 1280 pixels has 640 of them at 200 % zoom.
LOOKS: dict[str, dict[str, Any]] = {
    "wide-light": {"viewport": WIDE},
    "wide-dark": {"viewport": TALL, "color_scheme": "dark"},
    "large-light": {"viewport": LARGE},
    "phone-light": {"viewport": PHONE},
    "phone-dark": {"viewport": PHONE, "color_scheme": "dark"},
    "zoom": {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2},
    "plain": {"viewport": WIDE, "java_script_enabled": False},
    "contrast": {"viewport": WIDE, "forced_colors": "active"},
    "print": {"viewport": {"width": 720, "height": 1000}},
}


def main(words: list[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m tests.tools.pictures", description="Take pictures of every kind of page.")
    parser.add_argument("--data", type=Path, help="data folder of a site (default: fill a new one)")
    parser.add_argument("--out", type=Path, default=OUT, help=f"folder (default: {OUT})")
    parser.add_argument("--look", nargs="*", choices=list(LOOKS), default=[], help="default: all")
    parser.add_argument("--page", nargs="*", default=[], help="kinds of pages, such as run (default: all)")
    parser.add_argument("--full", action="store_true", help="whole pages instead of what a window shows")
    chosen = parser.parse_args(words)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("error: There is no chromium on this machine. Install it: apt-get install chromium")
    chosen.out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        site = Deployment(chosen.data.resolve() if chosen.data else Path(stack.enter_context(TemporaryDirectory())))
        if not chosen.data:
            fill(site)
        stack.enter_context(site.served())
        addresses = pages(Site(site.url), chosen.page, {} if chosen.data else SUBMISSIONS)
        looks = chosen.look or LOOKS
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for look in looks:
            photograph(browser, site.url, addresses, look, chosen.out, full=chosen.full)
    print(f"{len(addresses) * len(looks)} pictures are in {chosen.out}")


def fill(site: Deployment) -> None:
    """Put published figures, and finished and unfinished runs of small models, into a new site."""
    site.command("migrate", "--verbosity=0")
    site.command("load_published")
    site.run(FILL)


def pages(site: Site, names: list[str], submissions: Mapping[str, str]) -> dict[str, str]:
    """Return the addresses of the named pages, or of all of them, by name."""
    if not site.measured():
        sys.exit("error: There is no finished run to show. Measure a model first, or leave out --data.")
    addresses = {**page_kinds(site), **submissions}
    if unknown := set(names) - set(addresses):
        sys.exit(f"error: There is no page {min(unknown)}. Pages: {', '.join(addresses)}.")
    return {name: addresses[name] for name in names or addresses}


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


if __name__ == "__main__":
    main()
