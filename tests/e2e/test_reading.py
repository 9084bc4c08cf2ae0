"""Charts, sorting and colours as readers use them: by mouse, by keyboard and without JavaScript."""

import re

from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Deployment


def test_a_chart_looks_as_with_the_rules_that_plotly_adds(page: Page) -> None:
    page.goto("/benchmarks/bear/")
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
        page.goto("/benchmarks/bear/")
        parameters = page.locator("[data-table=leaderboard] thead").get_by_role("link", name="Parameters")
        parameters.click()
        head = page.locator("th[data-column=parameters]")
        expect(head).to_have_attribute("aria-sort", "descending")
        page.get_by_label("Type").select_option("masked")
        page.get_by_role("button", name="Apply").click()
        types = page.locator("[data-table=leaderboard] tbody td[data-label=Type]").all_inner_texts()
        assert set(filter(None, types)) == {"masked"}  # baselines have no type and stay
        expect(head).to_have_attribute("aria-sort", "descending")


def test_a_keyboard_reaches_content_and_sorting(page: Page) -> None:
    page.goto("/benchmarks/bear/")
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


def test_the_chosen_colours_stay_and_charts_follow(page: Page) -> None:
    page.goto("/benchmarks/small/")
    page.get_by_role("link", name="org/masked").click()
    page.locator("[data-chart=chart-domain]").scroll_into_view_if_needed()
    label = page.locator("[data-chart=chart-domain] .ytick text").first
    before = label.evaluate("text => text.style.fill")
    page.get_by_label("Colours").select_option("dark")
    expect(label).not_to_have_css("fill", before)
    page.goto("/methods/")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
