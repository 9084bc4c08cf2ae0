"""Every page for everybody: by keyboard, on a phone, in the dark, without JavaScript, without third parties."""

import re
from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request, expect

from tests.e2e.conftest import Deployment

PAGES = [
    "/?benchmark=small",
    "/?benchmark=bear",
    "/models/org/masked/",
    "/runs/RUN/",
    "/runs/RUN/items/",
    "/runs/RUN/items/P30/0/1/",
    "/compare/",
    "/benchmarks/",
    "/benchmarks/small/",
    "/benchmarks/wn18rr/",
    "/benchmarks/small/relations/P30/",
    "/submit/",
    "/queue/",
    "/status/",
    "/methods/",
    "/api/",
    "/nowhere/",
    "/",
]
PROBED = ("starter", "culture", "geography", "graph", "pairs")  # one benchmark of each probe
SERIOUS = ("serious", "critical")
CUT = "[...document.querySelectorAll('td')].filter(c => c.scrollWidth > c.clientWidth).map(c => c.innerText)"


@pytest.fixture
def addresses(page: Page) -> list[str]:
    page.goto("/?benchmark=small")
    run = page.get_by_role("link", name="org/masked").get_attribute("href").split("/")[2]
    return [address.replace("RUN", run) for address in PAGES]


def addresses_of(page: Page, slug: str) -> list[str]:
    """Return the address of every kind of page of a benchmark, found by following links."""

    def link(within: str) -> str:
        return page.locator(f"{within} a").first.get_attribute("href")

    board, benchmark = f"/?benchmark={slug}", f"/benchmarks/{slug}/"
    page.goto(board)
    first, second = (
        page.get_by_role("link", name=name).get_attribute("href") for name in ("org/encoder", "org/generator")
    )
    page.goto(f"{first}items/")
    item = link("[data-table=items] td")
    page.goto(benchmark)
    relation = link("[data-table=relations] td")
    compared = f"/compare/?m={first.split('/')[2]}&m={second.split('/')[2]}"
    return [board, benchmark, relation, first, second, f"{first}items/", item, compared]


def expect_for_everybody(browser: Browser, site: str, addresses: list[str], scheme: str, width: int, subtests) -> None:
    """Expect no sideways scroll, no cut cell and no serious finding of axe, with everything unfolded."""
    size = {"width": width, "height": 800}
    with browser.new_context(base_url=site, color_scheme=scheme, viewport=size) as context:
        page = context.new_page()
        for address in addresses:
            with subtests.test(address):
                page.goto(address)
                page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                assert page.evaluate(CUT) == []
                violations = Axe().run(page).response["violations"]
                assert [(v["id"], v["nodes"][0]["html"]) for v in violations if v["impact"] in SERIOUS] == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("light", 1280), ("dark", 1280)])
def test_no_serious_obstacle_no_sideways_scroll_and_no_cut_cell(
    browser: Browser, deployment: Deployment, addresses: list[str], scheme: str, width: int, subtests: pytest.Subtests
) -> None:
    expect_for_everybody(browser, deployment.url, addresses, scheme, width, subtests)


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1280)])
@pytest.mark.parametrize("slug", PROBED)
def test_the_pages_of_every_probe_have_no_obstacle_either(
    browser: Browser,
    deployment: Deployment,
    page: Page,
    slug: str,
    scheme: str,
    width: int,
    subtests: pytest.Subtests,
) -> None:
    expect_for_everybody(browser, deployment.url, addresses_of(page, slug), scheme, width, subtests)


def expect_no_violation(page: Page, site: str, addresses: list[str], subtests: pytest.Subtests) -> None:
    """Expect that no page asks another site or does what its policy forbids, and that every chart is drawn."""
    foreign: list[str] = []
    problems: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((site, "data:", "blob:")):
            foreign.append(request.url)

    page.on("request", note)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda m: problems.append(m.text) if "Security Policy" in m.text or "CSP" in m.text else None)
    for address in addresses:
        with subtests.test(address):
            page.goto(address)
            page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
            for plot in page.locator("[data-chart]").all():
                plot.scroll_into_view_if_needed()
                drawing = plot.locator(".main-svg").first
                expect(drawing).to_be_visible()
                assert drawing.bounding_box()["height"] == int(plot.get_attribute("data-height"))
            assert (foreign, problems) == ([], [])


def test_no_page_requests_another_site_or_violates_its_policy(
    page: Page, deployment: Deployment, addresses: list[str], subtests: pytest.Subtests
) -> None:
    expect_no_violation(page, deployment.url, addresses, subtests)


@pytest.mark.parametrize("slug", PROBED)
def test_no_page_of_any_probe_violates_its_policy(
    page: Page, deployment: Deployment, slug: str, subtests: pytest.Subtests
) -> None:
    expect_no_violation(page, deployment.url, addresses_of(page, slug), subtests)


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
    expect_no_violation(
        page, deployment.url, ["/admin/", "/admin/leaderboard/run/", run, "/admin/auth/user/add/"], subtests
    )


def test_a_chart_looks_as_with_the_rules_that_plotly_adds(page: Page) -> None:
    page.goto("/?benchmark=bear")
    plot = page.locator("[data-chart]").first
    plot.scroll_into_view_if_needed()
    drawing = plot.locator(".main-svg").first
    expect(drawing).to_have_css("position", "absolute")
    expect(drawing).to_have_css("overflow", "hidden")
    points = plot.locator(".points path")
    box = points.first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(plot.locator(".hovertext tspan").filter(has_text=re.compile(r"^0\.\d+$")).last).to_have_css(
        "font-weight", "700"
    )


def test_sorting_and_filtering_work_without_javascript(browser: Browser, deployment: Deployment) -> None:
    with browser.new_context(base_url=deployment.url, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/?benchmark=bear")
        parameters = page.locator("[data-table=leaderboard] thead").get_by_role("link", name="Parameters")
        parameters.click()
        head = page.locator("th[data-column=parameters]")
        expect(head).to_have_attribute("aria-sort", "descending")
        page.get_by_label("Kind").select_option("masked")
        page.get_by_role("button", name="Apply").click()
        kinds = page.locator("[data-table=leaderboard] tbody td[data-label=Kind]").all_inner_texts()
        assert set(kinds) == {"masked"}
        expect(head).to_have_attribute("aria-sort", "descending")


def test_a_keyboard_reaches_content_and_sorting(page: Page) -> None:
    page.goto("/?benchmark=bear")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Apply").focus()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('th')?.dataset.column") == "model":
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("th[data-column=model]")).to_have_attribute("aria-sort", "ascending")


def test_the_chosen_colours_stay_and_charts_follow(page: Page, addresses: list[str]) -> None:
    page.goto(addresses[3])
    page.locator("[data-chart=chart-domain]").scroll_into_view_if_needed()
    label = page.locator("[data-chart=chart-domain] .ytick text").first
    before = label.evaluate("text => text.style.fill")
    page.get_by_label("Colours").select_option("dark")
    expect(label).not_to_have_css("fill", before)
    page.goto("/methods/")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
