"""Every kind of page is accessible in both themes, well laid out and self-contained.

Each page is visited once; the checks list all its faults.
"""

import json
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request, expect

from tests.e2e.conftest import Deployment

OTHER_PROBES = ("culture", "geography", "graph", "pairs")  # one benchmark of each probe beside that of the kinds
WIDE, PHONE, ZOOMED = 1280, 360, 640  # a window of 1280 pixels at 200 % zoom has 640
FIXED = ("/", "/benchmarks/", "/compare/", "/submit/", "/queue/", "/status/", "/methods/", "/api/", "/nowhere/")
NO_DRAWINGS = {"exclude": [[".main-svg"]]}  # what a chart draws is an image with a text of its own
CONTRAST = {"runOnly": ["color-contrast"]}  # in the dark only colours differ

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
CUT = """[...document.querySelectorAll("td, tbody th")]
  .filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => `cut: ${cell.innerText}`)"""


def answer(site: str, route: str) -> Any:
    with urllib.request.urlopen(f"{site}/api/v1/{route}") as response:
        return json.load(response)


class Measured(NamedTuple):
    """Two measured runs on a benchmark, and an item of the first."""

    model: str
    first: int
    second: int
    item: dict[str, Any]


def measured(site: str, slug: str) -> Measured:
    runs = [run for run in answer(site, f"runs?benchmark={slug}")["runs"] if run["provenance"] == "measured"]
    first, second = (run["run"] for run in runs[:2])
    return Measured(runs[0]["model"]["hub_id"], first, second, answer(site, f"runs/{first}/items")["items"][0])


def kinds(site: str) -> Iterator[str]:
    """Yield the address of every kind of page, found through the API, so that no layout is assumed."""
    yield from FIXED
    yield "/benchmarks/bear/"  # published figures alone
    yield "/benchmarks/wn18rr/"  # in the catalogue alone
    yield f"/runs/{answer(site, 'runs?benchmark=bear')['runs'][0]['run']}/"
    runs = measured(site, "starter")
    item = runs.item
    relation, place = item["relation"], f"{item['template']}/{item['index']}"
    yield f"/models/{runs.model}/?benchmark=starter"
    yield "/benchmarks/starter/"
    yield f"/benchmarks/starter/relations/{relation}/"
    yield "/benchmarks/starter/items/"
    yield f"/benchmarks/starter/items/{relation}-{item['index']}/"
    yield "/benchmarks/starter/try/"
    yield f"/runs/{runs.first}/"
    yield f"/runs/{runs.first}/items/"
    yield f"/runs/{runs.first}/items/{relation}/{place}/"
    yield f"/compare/?m={runs.first}&m={runs.second}"
    yield f"/runs/{measured(site, 'geography').first}/map/"


def pages_of_probe(site: str, slug: str) -> Iterator[str]:
    """Yield the addresses of the pages to which a probe adds parts of its own."""
    runs = measured(site, slug)
    item = runs.item
    yield f"/benchmarks/{slug}/"
    yield f"/benchmarks/{slug}/relations/{item['relation']}/"
    yield f"/runs/{runs.first}/"
    yield f"/runs/{runs.first}/items/"
    yield f"/runs/{runs.first}/items/{item['relation']}/{item['template']}/{item['index']}/"
    yield f"/compare/?m={runs.first}&m={runs.second}"


def listen(page: Page, site: str) -> list[str]:
    """Return the list to which all requests to other sites, errors of scripts and breaches of the policy go."""
    breaches: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((site, "data:", "blob:")):
            breaches.append(f"foreign: {request.url}")

    page.on("request", note)
    page.on("pageerror", lambda error: breaches.append(str(error)))
    page.on("console", lambda m: breaches.append(m.text) if "Security Policy" in m.text or "CSP" in m.text else None)
    return breaches


def draw_all(page: Page) -> Iterator[str]:
    """Scroll to every chart and yield those that are not as high as declared."""
    for plot in page.locator("[data-chart]").all():
        plot.scroll_into_view_if_needed()
        drawing = plot.locator(".main-svg").first
        expect(drawing).to_be_visible()
        height, declared = drawing.bounding_box()["height"], int(plot.get_attribute("data-height"))
        if height != declared:
            yield f"{plot.get_attribute('data-chart')} is {height} px high, not {declared}"


def obstacles(page: Page, scheme: str, rules: dict[str, Any]) -> list[str]:
    page.emulate_media(color_scheme=scheme)
    width = page.viewport_size["width"]
    violations = Axe().run(page, NO_DRAWINGS, rules).response["violations"]
    return [f"{scheme} {width}, {rule['id']}: {rule['nodes'][0]['html'][:160]}" for rule in violations]


def faults(page: Page, address: str, *, in_all_looks: bool) -> list[str]:
    """Return what is wrong with a page at three widths; axe looks at it in the dark and on a phone too if told to."""
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": WIDE, "height": 800})
    page.goto(address)
    faults = page.evaluate(LAYOUT)
    page.evaluate(OPEN_ALL)
    faults += draw_all(page)
    faults += obstacles(page, "light", {})
    if in_all_looks:
        faults += obstacles(page, "dark", CONTRAST)
    for width in (WIDE, ZOOMED, PHONE):
        page.set_viewport_size({"width": width, "height": 740})
        page.wait_for_function("width => innerWidth === width", arg=width)
        if page.evaluate(SIDEWAYS) > width:
            faults.append(f"scrolls sideways at {width} px: {page.evaluate(SIDEWAYS)} px wide")
        faults += page.evaluate(CUT) if width != ZOOMED else []
    return faults + (obstacles(page, "light", {}) if in_all_looks else [])


def expect_no_fault(
    browser: Browser, site: str, addresses: Iterator[str], subtests: pytest.Subtests, *, in_all_looks: bool
) -> None:
    with browser.new_context(base_url=site, reduced_motion="reduce") as context:
        page = context.new_page()
        breaches = listen(page, site)
        for address in addresses:
            with subtests.test(address):
                assert faults(page, address, in_all_looks=in_all_looks) == []
                assert breaches == []


def test_no_kind_of_page_has_a_fault_of_layout_or_an_obstacle(
    browser: Browser, deployment: Deployment, subtests: pytest.Subtests
) -> None:
    expect_no_fault(browser, deployment.url, kinds(deployment.url), subtests, in_all_looks=True)


@pytest.mark.parametrize("slug", OTHER_PROBES)
def test_no_page_of_another_probe_has_one_either(
    browser: Browser, deployment: Deployment, slug: str, subtests: pytest.Subtests
) -> None:
    expect_no_fault(browser, deployment.url, pages_of_probe(deployment.url, slug), subtests, in_all_looks=False)


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


def test_the_administration_violates_no_policy(page: Page, deployment: Deployment, subtests: pytest.Subtests) -> None:
    user = {"DJANGO_SUPERUSER_PASSWORD": "a word to pass", "DJANGO_SUPERUSER_EMAIL": "root@example.org"}
    replace(deployment, environment=deployment.environment | user).command(
        "createsuperuser", "--noinput", "--username=root", "--verbosity=0"
    )
    page.goto("/admin/")
    page.get_by_label("Username").fill("root")
    page.get_by_label("Password").fill("a word to pass")
    page.get_by_role("button", name="Log in").click()
    page.goto("/admin/leaderboard/run/")
    run = page.locator("#result_list a").first.get_attribute("href")
    breaches = listen(page, deployment.url)
    for address in ("/admin/", "/admin/leaderboard/run/", run, "/admin/auth/user/add/"):
        with subtests.test(address):
            page.goto(address)
            assert breaches == []
