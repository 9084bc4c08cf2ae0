"""The main path through the site: submit a model, watch its run, read and download the result."""

import csv
import re
from pathlib import Path

from playwright.sync_api import Page, expect

MINUTE = 60_000  # milliseconds


def tick(page: Page, slug: str) -> None:
    """Tick this benchmark alone on the submit form."""
    ticked = page.locator("input[name=benchmark]:checked")
    while ticked.count():
        ticked.first.uncheck()
    page.locator(f"input[name=benchmark][value={slug}]").check()


def test_a_submitted_model_is_measured_and_appears_by_itself(page: Page) -> None:
    page.goto("/submit/")
    page.get_by_label("Model id or link").fill("org/causal")
    tick(page, "small")
    page.get_by_role("button", name="Check and submit").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("org/causal on small")
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible(timeout=MINUTE)
    page.get_by_role("link", name="Go to run").click()
    expect(page.get_by_role("heading", name="Accuracy by domain")).to_be_visible(timeout=2 * MINUTE)
    expect(page.locator("#chart-breakdown")).to_be_attached()
    page.locator("[data-chart=chart-breakdown]").scroll_into_view_if_needed()
    expect(page.locator("[data-chart=chart-breakdown] .main-svg").first).to_be_visible()

    page.goto("/benchmarks/small/")
    expect(page.get_by_role("link", name="org/causal")).to_be_visible()
    with page.expect_download() as download:
        page.locator("#table-leaderboard a[href*='format=csv']").click()
    with Path(download.value.path()).open(newline="", encoding="utf-8") as file:
        models = [row["model"] for row in csv.DictReader(file)]
    displayed = page.locator("[data-table=leaderboard] tbody .head").all_inner_texts()
    assert models == displayed
    assert "org/causal" in models


def test_a_submission_is_cancelled_and_tried_again_without_losing_the_focus(page: Page) -> None:
    page.goto("/submit/")
    page.get_by_label("Model id or link").fill("org/away")
    tick(page, "small")
    page.get_by_role("button", name="Check and submit").click()
    expect(page.get_by_role("heading", name="Waiting for the hub, not checked yet")).to_be_visible(timeout=MINUTE)
    button = page.get_by_role("button", name="Withdraw")
    button.focus()
    with page.expect_response("**/submissions/**", timeout=MINUTE):
        pass
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Withdrawn")).to_be_visible()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("button", name="Withdraw")).to_be_visible()


def test_from_the_run_to_a_single_item(page: Page) -> None:
    page.goto("/benchmarks/small/")
    page.get_by_role("link", name="org/masked").click()
    page.get_by_role("link", name="All questions", exact=True).click()
    page.get_by_label("Relation", exact=True).select_option("P36")
    expect(page).to_have_url(re.compile("relation=P36"))
    page.get_by_label("Wording").select_option("0")
    expect(page.locator("[data-table=items] tbody tr")).to_have_count(2)
    page.get_by_role("link", name="Norway").click()
    expect(page.get_by_role("heading", name="Answer of org/masked")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Right answer: Oslo")
    expect(page.locator("[data-table=options]").first.locator("tbody tr")).to_have_count(2)
