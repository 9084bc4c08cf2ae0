"""The whole site as it is deployed: web server, worker and queue as processes, and a real browser."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.conftest import BearFolder
from tests.tiny_models import build_bert, build_gpt2
from tests.tools.deployment import Deployment
from tests.tools.filled_folder import copy_filled_folder

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
expect.set_options(timeout=30_000)  # milliseconds, since other tests may keep the machine busy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.slow)  # their site takes minutes to fill and to measure
            item.add_marker(pytest.mark.timeout(900))
            if not CHROMIUM:
                item.add_marker(pytest.mark.skip(reason="No chromium on this machine: apt-get install chromium."))


@pytest.fixture(scope="package")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Yield a site with a worker, a small benchmark, published figures and two local models.

    org/masked is measured. Every benchmark that ships is there too, with finished runs of three models of
    random weights (tests/filled_site.py).
    """
    folder = tmp_path_factory.mktemp("site")
    build_gpt2(folder / "models" / "org" / "causal")
    build_bert(folder / "models" / "org" / "masked")
    copy_filled_folder(tmp_path_factory, folder / "data")
    site = Deployment(folder / "data", CLOZEBOARD_MODELS=str(folder / "models"))
    small = BearFolder(folder / "small").write()
    site.run_commands(("import_benchmark", "bear", str(small)), ("load_published",))
    with site.process("manage.py", "rqworker"), site.served():
        site.command("submit", "org/masked", "--benchmark", "small", "--wait")
        yield site


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def context(browser: Browser, deployment: Deployment) -> Iterator[BrowserContext]:
    opened = browser.new_context(base_url=deployment.url)
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()
