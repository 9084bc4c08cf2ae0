"""Take pictures of every kind of page in the looks that readers have, for visual inspection: `make screenshots`.

The pages are those of a site in a temporary folder, which is filled with finished runs of three small models of random
weights (tests/filled_site.py), with published figures, and with runs that wait, go on and have failed; or those of the
site whose data folder is named: `python -m tests.tools.pictures --data var --page overview --look wide-light`.

`python -m tests.tools.pictures --docs` makes the pictures of docs/images anew. Their site has measured what it shows:
SmolLM2, as `make demo` does, and small networks that are trained here on facts of the benchmark, so that several points
stand in its chart. That takes minutes, and only once where --data names a folder.
"""

import shutil
import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from probing.catalog import open_benchmark
from tests.tools.deployment import ROOT, Deployment
from tests.tools.page_kinds import SUBMISSIONS, Site, page_kinds
from tests.trained_models import corpus_of, planned_counts, train, word_tokenizer

OUT = ROOT / "var" / "pictures"
DOCS = ROOT / "docs" / "images"
BENCHMARK = "starter"  # that the pictures of the documents are about
TRAINED = {f"local/trained-here-width-{width}": width for width in (8, 32, 128)}  # widths of networks, by their ids
FILL = "from tests import filled_site; filled_site.fill(); filled_site.add_unfinished()"
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


def main(words: list[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m tests.tools.pictures", description="Take pictures of every kind of page.")
    data_help = "data folder of a site (default: fill a new one); with --docs, where what it measures is kept"
    parser.add_argument("--data", type=Path, help=data_help)
    parser.add_argument("--docs", action="store_true", help=f"make those of {DOCS} anew, from measured models")
    parser.add_argument("--out", type=Path, help=f"folder (default: {OUT}, or with --docs {DOCS})")
    parser.add_argument("--look", nargs="*", choices=list(LOOKS), default=[], help="default: all")
    parser.add_argument("--page", nargs="*", default=[], help="kinds of pages, such as run (default: all)")
    parser.add_argument("--full", action="store_true", help="whole pages instead of what a window shows")
    chosen = parser.parse_args(words)
    if chosen.docs and (chosen.page or chosen.look or chosen.full):
        parser.error("--docs takes no --page, --look or --full.")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("error: There is no chromium on this machine. Install it: apt-get install chromium")
    out = chosen.out or (DOCS if chosen.docs else OUT)
    out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        data = chosen.data.resolve() if chosen.data else Path(stack.enter_context(TemporaryDirectory()))
        site = Deployment(data)
        if chosen.docs:
            measure(site, data / "models")
        elif not chosen.data:
            fill(site)
        stack.enter_context(site.served())
        described = Site(site.url)
        addresses = {} if chosen.docs else pages(described, chosen.page, {} if chosen.data else SUBMISSIONS)
        wanted = of_documents(described) if chosen.docs else dict.fromkeys(chosen.look or LOOKS, addresses)
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for look, of_look in wanted.items():
            photograph(browser, site.url, of_look, look, out, full=chosen.full)
            for name in of_look if chosen.docs else ():
                compress(out / f"{name}-{look}.png")
    print(f"{sum(map(len, wanted.values()))} pictures are in {out}")


def fill(site: Deployment) -> None:
    """Put published figures, and finished and unfinished runs of small models, into a new site."""
    site.command("migrate", "--verbosity=0")
    site.command("load_published")
    site.run(FILL)


def measure(site: Deployment, models: Path) -> None:
    """Measure SmolLM2, and networks that are trained here, which read facts of the benchmark in one of its wordings."""
    site.command("demo", "--once")
    benchmark = open_benchmark(BENCHMARK)
    corpus = corpus_of(benchmark, planned_counts(benchmark))
    options = [option for relation in benchmark.relations for option in relation.answer_space]
    tokenizer = word_tokenizer([*corpus, *options])
    for name, width in TRAINED.items():
        if not (models / name).exists():
            train(width, 0, corpus, tokenizer).save_pretrained(models / name)
            tokenizer.save_pretrained(models / name)
    with site.process("manage.py", "rqworker"):
        for name in TRAINED:
            site.command("submit", name, "--benchmark", BENCHMARK, "--wait")


def of_documents(site: Site) -> dict[str, dict[str, str]]:
    """Return the pages of the pictures in docs/images with their addresses, by look."""
    run = next(run["run"] for run in site.runs(BENCHMARK) if run["model"]["hub_id"] not in TRAINED)
    return {"wide-light": {"overview": f"/?sort=-{BENCHMARK}"}, "wide-dark": {"run": f"/runs/{run}/"}}


def pages(site: Site, names: list[str], submissions: Mapping[str, str]) -> dict[str, str]:
    """Return the addresses of the named pages, or of all of them, by name."""
    if not site.measured():
        sys.exit("error: There is no finished run to show. Measure a model first, or leave out --data.")
    addresses = {**page_kinds(site), **submissions}
    if unknown := set(names) - set(addresses):
        sys.exit(f"error: There is no page {min(unknown)}. Pages: {', '.join(addresses)}.")
    return {name: addresses[name] for name in names or addresses}


def compress(path: Path) -> None:
    """Write a picture again with 256 colours, which takes a third of the bytes."""
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


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
