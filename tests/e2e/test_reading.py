"""Charts, sorting and colours as readers use them: by mouse, by keyboard and without JavaScript."""

import re
from itertools import combinations, product
from typing import Literal

import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, ViewportSize, expect

from tests.tools.deployment import Deployment
from tests.tools.page_kinds import Site

# Without the edges around letters, which Playwright's own boxes have.
POINTS = ".points path:visible"  # the ticks that stand for chance have no width
BOXES = "(shapes) => shapes.map((shape) => shape.getBoundingClientRect().toJSON())"


def broken_down(page: Page) -> Locator:
    """Open the chart of the first models by their scores on parts of a benchmark."""
    page.goto("/benchmarks/small/")
    page.locator("summary").filter(has_text="Break the scores down").click()
    plot = page.locator("[data-chart]").first
    plot.scroll_into_view_if_needed()
    plot.locator(POINTS).first.wait_for()
    return plot


def test_a_chart_looks_as_with_the_rules_that_plotly_adds(page: Page) -> None:
    plot = broken_down(page)
    drawing = plot.locator(".main-svg").first
    expect(drawing).to_have_css("position", "absolute")
    expect(drawing).to_have_css("overflow", "hidden")
    points = plot.locator(POINTS)
    box = points.first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(plot.locator(".hovertext tspan").filter(has_text=re.compile(r"^0\.\d+$")).last).to_have_css(
        "font-weight", "700"
    )


def test_sorting_and_filtering_work_without_javascript(browser: Browser, deployment: Deployment) -> None:
    with browser.new_context(base_url=deployment.url, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/benchmarks/starter/")
        parameters = page.locator("[data-table=leaderboard] thead").get_by_role("link", name="Size")
        parameters.click()
        head = page.locator("th[data-column=parameters]")
        expect(head).to_have_attribute("aria-sort", "descending")
        page.get_by_label("Type").select_option("masked")
        page.get_by_role("button", name="Apply").click()
        expect(page).to_have_url(re.compile("kind=masked"))
        page.wait_for_load_state()
        types = page.locator("[data-table=leaderboard] tbody td[data-label=Type]").all_inner_texts()
        assert set(types) == {"masked"}
        expect(head).to_have_attribute("aria-sort", "descending")


def test_a_keyboard_reaches_content_and_sorting(page: Page) -> None:
    page.goto("/benchmarks/starter/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    page.locator("details.columns summary").focus()
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
    page.locator("[data-chart=chart-breakdown]").scroll_into_view_if_needed()
    label = page.locator("[data-chart=chart-breakdown] .ytick text").first
    before = label.evaluate("text => text.style.fill")
    page.get_by_label("Colours").select_option("dark")
    expect(label).not_to_have_css("fill", before)
    page.goto("/methods/")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"


def test_a_phone_shows_the_first_rows_of_a_long_table_until_the_reader_asks_for_all(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto("/benchmarks/starter/")
    rows = page.locator("[data-table=relations] tbody tr:visible")
    expect(rows).to_have_count(10)
    page.get_by_role("button", name="Show 10 more rows").press("Enter")
    expect(rows).to_have_count(20)  # the rest is on the second page
    expect(rows.nth(10).get_by_role("link").first).to_be_focused()


def test_a_phone_folds_the_methods_beneath_their_short_answers(
    browser: Browser, page: Page, deployment: Deployment
) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto("/methods/")
    expect(page.get_by_role("heading", name="What is chance?")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollHeight") < 4000
    page.get_by_role("link", name="Comparing", exact=True).first.press("Enter")
    training = page.locator("details.phone-fold:has(#during-training)")
    expect(training).not_to_have_attribute("open", "")
    page.goto("/methods/comparing/#during-training")
    expect(training).to_have_attribute("open", "")
    page.goto("/methods/knowledge-graph/#effect-sizes")
    expect(page.locator("#effect-sizes")).to_be_in_viewport()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("details.phone-fold:not([open])")).to_have_count(0)
    with browser.new_context(base_url=deployment.url, java_script_enabled=False) as context:
        plain = context.new_page()
        plain.set_viewport_size({"width": 360, "height": 740})
        plain.goto("/methods/knowledge-graph/")
        expect(plain.locator("#effect-sizes")).to_be_visible()
        expect(plain.get_by_label("Contents")).to_be_visible()


@pytest.mark.parametrize("has_scripts", [True, False])
@pytest.mark.parametrize("width", [1280, 360])
def test_the_answer_and_the_first_model_are_in_the_first_window_and_the_curve_needs_no_script(
    browser: Browser, deployment: Deployment, width: int, has_scripts: bool
) -> None:
    window: ViewportSize = {"width": width, "height": 800}
    with browser.new_context(base_url=deployment.url, viewport=window, java_script_enabled=has_scripts) as context:
        page = context.new_page()
        page.goto("/")
        expect(page.locator(".answer")).to_be_in_viewport(ratio=1)
        expect(page.locator("[data-table=overview] tbody tr").first).to_be_in_viewport(ratio=0.9)
        expect(page.locator(".curve circle").first).to_be_visible()


def test_the_table_of_the_front_page_scrolls_with_the_page_and_its_head_stays(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 400})
    page.goto("/")
    page.locator("[data-table=overview] tbody tr").last.scroll_into_view_if_needed()
    expect(page.locator("[data-table=overview] thead th[data-column=model]")).to_be_in_viewport(ratio=0.9)
    assert page.evaluate("scrollY") > 0
    footer = page.locator(".footer").evaluate("footer => footer.getBoundingClientRect().bottom + scrollY")
    assert abs(footer - page.evaluate("document.documentElement.scrollHeight")) < 2, "there is nothing below it"


@pytest.mark.parametrize("width", [1280, 360])
def test_a_long_name_of_a_model_is_cut_at_its_end_and_widens_nothing(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto("/")
    name = page.locator("[data-table=overview] tbody th a").first
    name.evaluate("link => { link.textContent = 'a-model-of-a-very-long-name-'.repeat(4); }")
    assert page.locator("[data-table=overview] tbody th").first.evaluate("cell => cell.scrollWidth <= cell.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = name.bounding_box()
    assert box and box["width"] > 150


def test_lists_of_answers_are_short_on_a_phone_and_unfold_without_javascript(
    browser: Browser, deployment: Deployment, subtests: pytest.Subtests
) -> None:
    site = Site(deployment.url)
    phone: ViewportSize = {"width": 360, "height": 740}
    with browser.new_context(base_url=deployment.url, java_script_enabled=False, viewport=phone) as context:
        page = context.new_page()
        for slug in site.measured().values():
            with subtests.test(slug):
                page.goto(f"/runs/{site.runs(slug)[0]['run']}/items/")
                assert page.evaluate("document.documentElement.scrollHeight") < 5200
                relation = page.locator("[data-table=items] tbody td[data-label=Relation]").first
                expect(relation).to_be_hidden()
                page.get_by_label("Show all values").check()
                expect(relation).to_be_visible()


def test_labels_of_a_chart_cover_no_other_label_and_no_mark(page: Page) -> None:
    for width, fewest in ((1280, 2), (360, 0)):
        page.set_viewport_size({"width": width, "height": 740})
        page.goto("/benchmarks/bear/")
        boxes = page.locator(".curve .label:visible").evaluate_all(BOXES)
        markers = page.locator(".curve circle").evaluate_all(BOXES)
        assert len(boxes) >= fewest
        assert [(one, other) for one, other in combinations(boxes, 2) if overlap(one, other)] == []
        assert not any(overlap(box, marker) for box, marker in product(boxes, markers))


def overlap(one: FloatRect, other: FloatRect) -> bool:
    besides = one["x"] + one["width"] <= other["x"] + 1 or other["x"] + other["width"] <= one["x"] + 1
    apart = one["y"] + one["height"] <= other["y"] + 1 or other["y"] + other["height"] <= one["y"] + 1
    return not besides and not apart


def test_charts_keep_their_colours_where_a_system_sets_those_of_the_text(
    browser: Browser, deployment: Deployment
) -> None:
    def colours(forced: Literal["active", "none"]) -> set[str]:
        with browser.new_context(base_url=deployment.url, forced_colors=forced) as context:
            page = context.new_page()
            fill = "marks => marks.map((mark) => getComputedStyle(mark).fill)"
            of_chart = broken_down(page).locator(POINTS).evaluate_all(fill)
            page.goto("/benchmarks/bear/")
            return {*of_chart, *page.locator(".curve circle").evaluate_all(fill)}

    assert colours("active") == colours("none")
    assert len(colours("none")) > 1


def test_the_button_that_compares_is_next_to_the_tick_and_in_the_window(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto("/?topic=all")
    assert page.get_by_role("button", name="Compare ticked", exact=True).count() == 0, "no row is ticked"
    page.get_by_role("checkbox", name="Compare random/gpt2-tiny").press("Space")
    expect(page.locator("#compare [role=status]")).to_have_text("1 model ticked. Tick another to compare them.")
    expect(page.get_by_role("button", name="Compare 1 ticked")).to_be_in_viewport()
    page.get_by_role("checkbox", name="Compare random/bert-tiny").press("Space")
    expect(page.locator("#compare [role=status]")).to_have_text("2 models ticked.")
    page.keyboard.press("Tab")
    expect(page.locator(".compare-here:focus")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Compare models")


def test_models_are_ticked_and_compared_without_javascript(browser: Browser, deployment: Deployment) -> None:
    with browser.new_context(base_url=deployment.url, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/?topic=all")
        for name in ("random/gpt2-tiny", "random/bert-tiny"):
            page.get_by_role("checkbox", name=f"Compare {name}").check()
        button = page.get_by_role("button", name="Compare ticked models")
        expect(button).to_be_in_viewport()
        button.click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Compare models")
        expect(page.get_by_role("link", name="gpt2-tiny").first).to_be_visible()


@pytest.mark.parametrize("query", ["topic=precision", "topic=all"])
def test_no_ticked_row_lies_under_the_bar_that_compares(page: Page, query: str) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"/?{query}")
    boxes = page.get_by_role("checkbox", name="Compare ")
    for box in boxes.all()[:6]:
        # The row is at the bottom of the window, where the bar comes as soon as a model is ticked.
        box.evaluate("box => scrollBy(0, box.getBoundingClientRect().bottom + 4 - innerHeight)")
        box.evaluate("box => box.focus({ preventScroll: true })")
        page.keyboard.press("Space")
        row, bar = box.bounding_box(), page.locator("#compare").bounding_box()
        assert row and bar and not overlap(row, bar)


def test_the_arrow_keys_lead_to_the_next_question_and_back(page: Page, deployment: Deployment) -> None:
    site = Site(deployment.url)
    for slug in site.measured().values():
        first = site.answer(f"runs/{site.runs(slug)[0]['run']}/items")["items"][0]
        page.goto(f"/benchmarks/{slug}/items/{first['relation']}-{first['index']}/")
        address, onwards = page.url, page.get_by_role("link", name="Next").get_attribute("href")
        page.locator("#theme").press("ArrowRight")
        assert page.url == address, "the field uses the key itself"
        page.locator("main").press("ArrowRight")
        page.wait_for_url(f"**{onwards}")
        page.locator("main").press("ArrowLeft")
        page.wait_for_url(address)
