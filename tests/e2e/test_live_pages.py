"""Pages that keep themselves up to date: the reader's focus and selection stay where they are."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.cache import cache
from django.test import Client
from playwright.sync_api import Browser, Page, Route, expect

from leaderboard.models import Benchmark, Run, RunPart
from tests.leaderboard import factories as make

STATIC = Path(__file__).resolve().parents[2] / "static"
SITE = "http://site.test"
SELECT_HEADING = "getSelection().selectAllChildren(document.querySelector('h1'))"
SELECTED = "getSelection().toString()"
ONLY_WIDE_TABLES_ARE_STOPS = """[...document.querySelectorAll(".scroll")].every(
  (box) => (box.scrollWidth > box.clientWidth) === box.hasAttribute("tabindex"))"""
# A browser whose reader allows notifications; it lists those that a page has shown.
NOTIFICATIONS = """window.notifications = [];
  window.Notification = class {
    static permission = "granted";
    static requestPermission = async () => "granted";
    constructor(title) { window.notifications.push(title); }
  };"""


@pytest.fixture(scope="package", autouse=True)
def database_beside_an_event_loop() -> Iterator[None]:
    """Let Django use its database in this thread, in which Playwright has an event loop."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        yield


@pytest.fixture
def tiny(db: None) -> Benchmark:
    return make.benchmark()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Yield a page whose clock only moves when the test says so."""
    context = browser.new_context()
    opened = context.new_page()
    opened.clock.install()
    opened.route("**/static/**", serve_static)
    yield opened
    context.close()


def serve_static(route: Route) -> None:
    path = STATIC / re.sub(r".*/static/([^?]*).*", r"\1", route.request.url)
    if path.is_file():
        route.fulfill(path=path)
    else:
        route.fulfill(status=404)


def serve(page: Page, client: Client, path: str) -> None:
    """Let the browser have what the site answers now, whenever it asks for this address.

    Nothing is kept, neither here nor in the browser, as the time of the page is not that of the test.
    """
    cache.clear()
    response = client.get(path)
    headers = {name: value for name, value in response.items() if name not in ("Cache-Control", "Content-Length")}
    page.unroute(SITE + path)
    page.route(SITE + path, lambda route: route.fulfill(body=response.content.decode(), headers=headers))


def update(page: Page, path: str, seconds: int) -> None:
    """Let time pass until the page has fetched itself again."""
    with page.expect_response(SITE + path):
        page.clock.run_for(1000 * seconds)


def test_focus_and_selection_survive_the_updates_of_the_queue(client: Client, page: Page, tiny: Benchmark) -> None:
    run = make.running(make.model("org/running"), tiny, done=10)
    serve(page, client, "/queue/")
    page.goto(f"{SITE}/queue/")
    link = page.get_by_role("link", name="org/running", exact=True)
    link.focus()
    page.evaluate(SELECT_HEADING)
    focused = page.evaluate_handle("document.activeElement")
    for done in (20, 30, 40, 50, 60, 70):  # an update every 10 seconds, for a minute
        RunPart.objects.filter(run=run).update(items_done=done)
        make.run(make.model(f"org/waiting-{done}"), tiny)
        serve(page, client, "/queue/")
        update(page, "/queue/", 10)
        expect(page.locator("[data-table=running]")).to_contain_text(f"{done} %")
        expect(page.get_by_role("link", name=f"org/waiting-{done}")).to_be_visible()
        expect(link).to_be_focused()
        assert page.evaluate("node => node === document.activeElement", focused), "it is the same element"
        assert page.evaluate(SELECTED) == "Queue"
    assert page.title().startswith("1 running, 6 waiting")
    assert page.evaluate(ONLY_WIDE_TABLES_ARE_STOPS)


def test_a_row_with_the_focus_stays_until_the_reader_leaves_it(client: Client, page: Page, tiny: Benchmark) -> None:
    run = make.running(make.model("org/running"), tiny)
    make.running(make.model("org/other"), tiny)
    serve(page, client, "/queue/")
    page.goto(f"{SITE}/queue/")
    row = page.locator("[data-table=running]").get_by_role("link", name="org/running")
    row.focus()
    Run.objects.fail(run, "no-space", "The disk is full.")
    serve(page, client, "/queue/")
    update(page, "/queue/", 10)
    expect(page.locator("[data-table=failed]")).to_contain_text("The disk is full.")
    expect(row).to_be_focused()
    page.get_by_role("link", name="org/other", exact=True).focus()
    update(page, "/queue/", 10)
    expect(row).to_have_count(0)


def test_selected_text_is_not_replaced_while_it_is_selected(client: Client, page: Page, tiny: Benchmark) -> None:
    run = make.running(make.model("org/running"), tiny, done=10)
    path = run.get_absolute_url()
    serve(page, client, path)
    page.goto(SITE + path)
    page.evaluate("getSelection().selectAllChildren(document.querySelector('label[for^=progress]'))")
    RunPart.objects.filter(run=run).update(items_done=20)
    serve(page, client, path)
    update(page, path, 5)
    expect(page.locator("progress")).to_have_attribute("value", "20")
    assert "10 % of the work · 10 of 100 sentences" in page.evaluate(SELECTED)


def test_only_a_change_of_state_is_announced(client: Client, page: Page, tiny: Benchmark) -> None:
    run = make.running(make.model("org/running"), tiny, done=10)
    path = run.get_absolute_url()
    serve(page, client, path)
    page.goto(SITE + path)
    page.evaluate(
        "new MutationObserver(() => { document.announced = (document.announced || 0) + 1; })"
        ".observe(document.querySelector('[role=status]'), { subtree: true, childList: true, characterData: true })"
    )
    RunPart.objects.filter(run=run).update(items_done=20)
    serve(page, client, path)
    update(page, path, 5)
    expect(page.locator("progress")).to_have_attribute("value", "20")
    assert page.evaluate("document.announced || 0") == 0
    Run.objects.move(run, Run.State.AGGREGATING)
    serve(page, client, path)
    update(page, path, 5)
    expect(page.get_by_role("status")).to_contain_text("Aggregating")
    assert page.evaluate("document.announced") > 0


def test_a_reader_who_wants_to_is_notified_of_the_end_of_a_run(client: Client, page: Page, tiny: Benchmark) -> None:
    run = make.running(make.model("org/running"), tiny, done=10)
    path = run.get_absolute_url()
    page.add_init_script(NOTIFICATIONS)
    serve(page, client, path)
    page.goto(SITE + path)
    button = page.get_by_role("button", name="Notify me when it ends")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true })")  # as with another tab in front
    RunPart.objects.filter(run=run).update(items_done=60)
    serve(page, client, path)
    update(page, path, 5)
    expect(page.get_by_text("60 % of the work")).to_be_visible()
    expect(button).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("notifications") == []
    Run.objects.filter(pk=run.pk).update(state=Run.State.FAILED, code="internal", message="It broke.")
    serve(page, client, path)
    update(page, path, 5)
    expect(page.get_by_text("It broke.").first).to_be_visible()
    assert page.evaluate("notifications") == [f"org/running on {tiny.title}"]
    expect(button).to_have_attribute("aria-pressed", "false")  # it has the focus, so it stays


def test_without_a_script_there_is_no_button_for_notifications(
    browser: Browser, client: Client, tiny: Benchmark
) -> None:
    run = make.running(make.model("org/running"), tiny, done=10)
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.route("**/static/**", serve_static)
        serve(page, client, run.get_absolute_url())
        page.goto(SITE + run.get_absolute_url())
        expect(page.get_by_text("10 % of the work")).to_be_visible()
        expect(page.locator("[data-notify]")).to_be_hidden()
