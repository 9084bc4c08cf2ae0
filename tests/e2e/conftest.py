"""The whole site as it is deployed: web server, worker and queue as processes, and a real browser."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.conftest import BearFolder
from tests.tiny_models import build_bert, build_gpt2

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
START_SECONDS = 60
expect.set_options(timeout=30_000)  # milliseconds, since other tests may keep the machine busy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if not CHROMIUM:
                item.add_marker(pytest.mark.skip(reason="No chromium on this machine: apt-get install chromium."))


@dataclass
class Deployment:
    """A site in a folder of its own; `command` runs manage.py there."""

    environment: dict[str, str]
    url: str

    def command(self, *arguments: str) -> None:
        subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, env=self.environment, check=True)

    @contextmanager
    def process(self, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        running = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, env=self.environment)
        try:
            yield running
        finally:
            running.terminate()
            running.wait(20)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(url: str) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(url, timeout=5)
            return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(f"{url} did not answer within {START_SECONDS} seconds.")


@pytest.fixture(scope="session")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Yield a site with a worker, a small benchmark, published figures and two local models.

    org/masked is measured. Every benchmark that ships is there too, with finished runs of three models of
    random weights (tests/filled_site.py).
    """
    folder, port = tmp_path_factory.mktemp("site"), free_port()
    build_gpt2(folder / "models" / "org" / "causal")
    build_bert(folder / "models" / "org" / "masked")
    ours = {
        "CLOZEBOARD_DATA": str(folder / "data"),
        "CLOZEBOARD_MODELS": str(folder / "models"),
        "HF_ENDPOINT": "http://127.0.0.1:9",  # nothing listens there
        "PORT": str(port),
    }
    usual = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    environment = usual | ours | {"DJANGO_SETTINGS_MODULE": "leaderboard.settings", "OMP_NUM_THREADS": "1"}
    site = Deployment(environment, f"http://127.0.0.1:{port}")
    site.command("migrate", "--verbosity=0")
    site.command("import_benchmark", "bear", str(BearFolder(folder / "small").write()))
    site.command("load_published")
    site.command("shell", "--verbosity=0", "--command", "from tests import filled_site; filled_site.fill()")
    with ExitStack() as stack:
        stack.enter_context(site.process("manage.py", "rqworker"))
        stack.enter_context(site.process("manage.py", "serve"))
        wait_for(f"{site.url}/healthz")
        site.command("submit", "org/masked", "--benchmark", "small", "--wait")
        yield site


@pytest.fixture(scope="session")
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
