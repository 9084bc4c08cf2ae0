"""Every kind of page is accessible in both themes and well laid out; each check lists all faults of a page."""

import json
import urllib.request
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Deployment

PROBED = ("starter", "culture", "geography", "graph", "pairs")  # one benchmark of each probe
WIDE, PHONE, ZOOMED = 1280, 360, 640  # a window of 1280 pixels at 200 % zoom has 640
FIXED = ("/", "/benchmarks/", "/benchmarks/bear/", "/compare/", "/submit/", "/queue/", "/status/", "/methods/", "/api/")
# In the dark only colours differ. What a chart draws is an image with a text of its own.
RULES: dict[Literal["light", "dark"], dict[str, Any]] = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}

LAYOUT = """() => {
  const faults = [];
  const EMPTY = ["", "–", "not measured"];
  const text = (cell) => cell.innerText.trim();
  for (const table of document.querySelectorAll("table")) {
    const rows = [...table.querySelectorAll("tbody tr:not(.heading)")].filter((row) => row.checkVisibility());
    const heads = [...table.querySelectorAll("thead th")];
    heads.forEach((head, place) => {
      const cells = rows.map((row) => row.cells[place]).filter(Boolean);
      const isEmpty = (cell) => EMPTY.includes(text(cell)) && !cell.querySelector("input, svg");
      if (cells.length && cells.every(isEmpty)) faults.push(`empty column: ${table.dataset.table} ${text(head)}`);
    });
    const high = rows.filter((row) => row.getBoundingClientRect().height > 60);
    const first = high.length && text(high[0]).slice(0, 60);
    if (high.length) faults.push(`${high.length} rows over 60 px: ${table.dataset.table}: ${first}`);
  }
  const height = document.documentElement.scrollHeight;
  const contents = document.querySelector("nav[aria-label=Contents]");
  if (height > 6000 && !contents) faults.push(`${height} px without contents`);
  return faults;
}"""
OPEN_ALL = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
SIDEWAYS = "document.documentElement.scrollWidth"


def answer(site: str, route: str) -> Any:
    with urllib.request.urlopen(f"{site}/api/v1/{route}") as response:
        return json.load(response)


def addresses(site: str) -> Iterator[str]:
    """Yield the address of every kind of page, found through the API, so that no layout is assumed."""
    yield from FIXED
    yield "/nowhere/"
    published = answer(site, "runs?benchmark=bear")["runs"][0]
    yield f"/runs/{published['run']}/"
    for slug in PROBED:
        runs = [run for run in answer(site, f"runs?benchmark={slug}")["runs"] if run["provenance"] == "measured"]
        first, second = (run["run"] for run in runs[:2])
        item = answer(site, f"runs/{first}/items")["items"][0]
        yield f"/models/{runs[0]['model']['hub_id']}/?benchmark={slug}"
        yield f"/benchmarks/{slug}/"
        yield f"/benchmarks/{slug}/relations/{item['relation']}/"
        yield f"/runs/{first}/"
        yield f"/runs/{first}/items/"
        yield f"/runs/{first}/items/{item['relation']}/{item['template']}/{item['index']}/"
        yield f"/compare/?m={first}&m={second}"


def faults(page: Page, address: str) -> list[str]:
    """Return what is wrong with a page: its layout at three widths, and what axe finds in both themes."""
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": WIDE, "height": 800})
    page.goto(address)
    found = page.evaluate(LAYOUT)
    page.evaluate(OPEN_ALL)
    for width in (PHONE, ZOOMED):
        page.set_viewport_size({"width": width, "height": 740})
        if page.evaluate(SIDEWAYS) > width:
            found.append(f"scrolls sideways at {width} px: {page.evaluate(SIDEWAYS)} px wide")
    page.set_viewport_size({"width": WIDE, "height": 800})
    for scheme in RULES:
        page.emulate_media(color_scheme=scheme)
        violations = Axe().run(page, {"exclude": [[".main-svg"]]}, RULES[scheme]).response["violations"]
        found += [f"{scheme}, {rule['id']}: {rule['nodes'][0]['html'][:160]}" for rule in violations]
    return found


def test_no_kind_of_page_has_a_fault_of_layout_or_an_obstacle(
    browser: Browser, deployment: Deployment, subtests: pytest.Subtests
) -> None:
    with browser.new_context(base_url=deployment.url, reduced_motion="reduce") as context:
        page = context.new_page()
        for address in addresses(deployment.url):
            with subtests.test(address):
                assert faults(page, address) == []


def test_a_table_is_a_tab_stop_only_where_it_scrolls(page: Page) -> None:
    page.goto("/benchmarks/bear/")
    stops = page.evaluate(
        "[...document.querySelectorAll('.scroll')].map(box => [box.scrollWidth > box.clientWidth, box.tabIndex === 0])"
    )
    assert stops
    assert all(scrolls == stop for scrolls, stop in stops)


def test_every_table_is_reachable_and_open_without_javascript(browser: Browser, deployment: Deployment) -> None:
    with browser.new_context(base_url=deployment.url, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/benchmarks/starter/")
        boxes = page.locator(".scroll")
        assert boxes.count() == page.locator(".scroll[tabindex='0']").count() > 0
        assert page.locator("details.below-chart:not([open])").count() == 0


def test_a_keyboard_opens_the_help_of_a_column_which_leads_to_the_methods(page: Page, deployment: Deployment) -> None:
    run = answer(deployment.url, "runs?benchmark=starter&state=finished")["runs"][0]["run"]
    page.goto(f"/runs/{run}/")
    page.locator("details.below-chart").first.evaluate("fold => { fold.open = true; }")
    button = page.locator("th .help").first
    button.focus()
    page.keyboard.press("Enter")
    link = page.locator(".column-help:popover-open a")
    expect(link).to_be_visible()
    link.click()
    expect(page.locator(":target")).to_be_visible()


def test_all_charts_are_drawn_for_paper_without_scrolling(page: Page, deployment: Deployment) -> None:
    run = answer(deployment.url, "runs?benchmark=starter&state=finished")["runs"][0]["run"]
    page.goto(f"/runs/{run}/")
    expect(page.locator(".main-svg").first).to_be_attached()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    charts = page.locator("[data-chart]")
    assert charts.count() == page.locator("[data-chart]:has(.main-svg)").count() > 1
