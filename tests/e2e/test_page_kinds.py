"""Every kind of page is accessible in both themes, well laid out and self-contained.

Each page is visited once; the checks list all its faults.
"""

from copy import copy

import pytest
from playwright.sync_api import Browser, Page, expect

from leaderboard.pages.methods_page import NAMES, methods_address
from tests.e2e.page_checks import TOO_WIDE, faults, listen, prepare
from tests.tools.deployment import Deployment
from tests.tools.page_kinds import SUBMISSIONS, Site, page_kinds

# How high pages may be in a window of 1280 pixels, by the beginning of their kinds.
HIGHEST = {"overview": 3000, "benchmark": 3000, "run": 4000, "compare": 3000, "methods": 6000}
HIGHEST_OPEN = {"run": 5000}  # with all folds open

MOST_SHIFT = 0.02  # how far what a reader sees may move by itself, as browsers count it
SHIFT = """window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });"""
PUSH = "document.body.prepend(Object.assign(document.createElement('p'), { textContent: 'x'.repeat(9000) }))"
# Playwright's own way of waiting evaluates texts within the page, which the site's policy forbids.
SEEN = f"new Promise((done) => (function look() {{ shift > {MOST_SHIFT} ? done() : requestAnimationFrame(look); }})())"
DRAWN_TWICE = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# Gives the tables what they have where all questions were asked: dots of models, and no source in rows of one kind.
LIKE_MEASURED = """() => {
  const standings = document.querySelector("[data-table=leaderboard]");
  const relations = document.querySelector("[data-table=relations]");
  const place = (table, column) => table.querySelector(`[data-column=${column}]`)?.cellIndex;
  for (const name of standings.querySelectorAll("tbody th.head a"))
    name.textContent = "HuggingFaceTB/SmolLM2-135M-Instruct-Q4_1";
  const source = place(standings, "provenance");
  for (const row of standings.rows) row.cells[source]?.remove();
  for (const mark of standings.querySelectorAll("td.score .uncertainty")) mark.textContent = " ± 0.026";
  const dots = '<td class="score"><span class="score">0.245</span><svg class="bar strip"></svg></td>';
  const example = place(relations, "example"), hasDots = place(relations, "difficulty") !== undefined;
  for (const row of hasDots ? [] : relations.rows)
    row.cells[example].insertAdjacentHTML("afterend", row.closest("thead") ? "<th>Right ?</th>" : dots);
}"""


@pytest.fixture(scope="package")
def site(deployment: Deployment) -> Site:
    return Site(deployment.url)


@pytest.fixture(scope="package")
def addresses(site: Site) -> dict[str, str]:
    """The address of a page of every kind, found through the API, so that no layout is assumed."""
    return page_kinds(site) | SUBMISSIONS


def test_the_pages_are_of_every_probe_with_three_measured_models_each(site: Site) -> None:
    assert set(site.measured()) == {"multiple_choice", "cloze", "ranking", "specificity", "perplexity"}
    assert {len(site.runs(slug)) for slug in site.measured().values()} == {3}


def test_no_kind_of_page_has_a_fault_of_layout_or_an_obstacle(
    browser: Browser, site: Site, addresses: dict[str, str], subtests: pytest.Subtests
) -> None:
    with browser.new_context(base_url=site.url, reduced_motion="reduce") as context:
        prepare(context)
        page = context.new_page()
        breaches = listen(page, site.url)
        for name, address in addresses.items():
            with subtests.test(name):
                kind = name.partition("-")[0]
                assert faults(page, address, HIGHEST.get(kind), HIGHEST_OPEN.get(kind)) == []
                assert breaches == []


def test_no_page_of_the_methods_is_higher_than_readers_will_look(page: Page, subtests: pytest.Subtests) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    for name in NAMES:
        with subtests.test(name):
            page.goto(methods_address(name))
            assert page.evaluate("document.documentElement.scrollHeight") <= HIGHEST["methods"]


def test_tables_of_models_with_long_names_and_of_relations_with_dots_fit_their_page(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto("/benchmarks/starter/")
    page.evaluate(LIKE_MEASURED)
    expect(page.locator("[data-table=relations] td svg.strip").first).to_be_visible()
    name = page.locator("[data-table=leaderboard] tbody th.head a").first
    expect(name).to_be_visible()
    assert page.evaluate(TOO_WIDE) == []
    name.evaluate("name => { name.parentElement.style.minWidth = '1280px'; }")
    assert page.evaluate(TOO_WIDE) == ["wider than its page: leaderboard"]


def test_nothing_moves_by_itself_while_a_page_is_read(
    browser: Browser, deployment: Deployment, addresses: dict[str, str], subtests: pytest.Subtests
) -> None:
    with browser.new_context(base_url=deployment.url, viewport={"width": 1280, "height": 800}) as context:
        context.add_init_script(SHIFT)
        page = context.new_page()
        for name in ("overview", "benchmark", "run", "compare", "model", "training"):
            with subtests.test(name):
                page.goto(addresses[name])
                for plot in page.locator("[data-chart]:visible").all():
                    plot.scroll_into_view_if_needed()
                    plot.locator(".main-svg").first.wait_for()
                assert page.evaluate("shift") <= MOST_SHIFT
        page.evaluate("scrollTo(0, 0)")
        page.evaluate(DRAWN_TWICE)  # what moves as a page scrolls far, in one frame, may not be counted
        page.evaluate(PUSH)
        page.evaluate(SEEN)


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


def test_all_charts_are_drawn_for_paper_without_scrolling(page: Page, addresses: dict[str, str]) -> None:
    page.goto(addresses["compare"])
    charts = page.locator("[data-chart]")
    charts.first.scroll_into_view_if_needed()
    expect(page.locator(".main-svg").first).to_be_attached()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert charts.count() == page.locator("[data-chart]:has(.main-svg)").count() > 1


def test_the_administration_violates_no_policy(page: Page, deployment: Deployment, subtests: pytest.Subtests) -> None:
    user = {"DJANGO_SUPERUSER_PASSWORD": "a word to pass", "DJANGO_SUPERUSER_EMAIL": "root@example.org"}
    administered = copy(deployment)
    administered.environment = deployment.environment | user
    administered.command("createsuperuser", "--noinput", "--username=root", "--verbosity=0")
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
