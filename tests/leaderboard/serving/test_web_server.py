"""The web server that `manage.py serve` starts, and the application that it serves."""

import json
import socket
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from wsgiref.types import StartResponse, WSGIEnvironment
from wsgiref.util import setup_testing_defaults

import psutil
import pyarrow as pa
import pytest
import requests
from pytest_django.fixtures import Settings as DjangoSettings
from waitress.buffers import OverflowableBuffer, TempfileBasedBuffer

from leaderboard.serving.web_server import OPTIONS, believing_proxies, share_memory_between_threads
from leaderboard.settings import env_networks
from leaderboard.ui.table_files import csv_lines
from leaderboard.wsgi import application
from tests.conftest import BearFolder
from tests.tools.deployment import Deployment, wait_for

ROWS = 40_000
RUN = 4711  # the number of the large run
SLOW = 50  # clients
HALF_SENT = 300  # requests
FILL = """
import io
from django.core.files.base import ContentFile
from django.core.files.storage import storages
import pandas as pd
from leaderboard.models import Benchmark, Run
from tests.leaderboard import factories
run = factories.measured(Benchmark.objects.get(), factories.model("org/large"), skill=1)
Run.objects.filter(pk=run.pk).delete()
run.pk = {run}
run.save(force_insert=True)
storage, name = storages["artefacts"], run.artefact + "/items.parquet"
rows = pd.read_parquet(storage.open(name))
many = pd.concat([rows] * ({rows} // len(rows) + 1)).head({rows})
storage.delete(name)
storage.save(name, ContentFile(many.to_parquet(index=False, compression=None)))
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, psutil.Process]]:
    """Yield the address of a site with one run of 40,000 items, and the process that serves it."""
    folder = tmp_path_factory.mktemp("site")
    site = Deployment(folder / "data", CLOZEBOARD_REQUESTS_PER_MINUTE="0")
    site.command("migrate", "--verbosity=0")
    site.command("import_benchmark", "bear", str(BearFolder(folder / "small").write()))
    site.command("shell", "--verbosity=0", "--command", FILL.format(rows=ROWS, run=RUN))
    with site.process("manage.py", "serve") as process:
        wait_for(f"{site.url}/healthz")
        yield site.url, psutil.Process(process.pid)


def ask(stack: ExitStack, url: str, head: str) -> socket.socket:
    """Send the head of a request, and read nothing of the response."""
    host, port = url.removeprefix("http://").split(":")
    client = stack.enter_context(socket.create_connection((host, int(port)), timeout=20))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.sendall(head.replace("\n", "\r\n").encode())
    return client


def seconds_of_a_page(url: str) -> float:
    began = time.monotonic()
    assert urllib.request.urlopen(f"{url}/queue/", timeout=20).status == 200
    return time.monotonic() - began


@pytest.mark.slow
@pytest.mark.parametrize("address", ["items/?format=csv", "items.parquet", "items/"])
def test_clients_that_read_nothing_leave_the_site_answering(served: tuple[str, psutil.Process], address: str) -> None:
    url, _ = served
    with ExitStack() as stack:
        for _ in range(SLOW):
            ask(stack, url, f"GET /runs/{RUN}/{address} HTTP/1.1\nHost: localhost\n\n")
        time.sleep(1)
        assert max(seconds_of_a_page(url) for _ in range(5)) < 10


@pytest.mark.slow
@pytest.mark.parametrize(
    "head", ["GET / HTTP/1.1\nHost: localh", "POST /api/v1/submit HTTP/1.1\nContent-Length: 9\n\n{"]
)
def test_requests_that_are_half_sent_leave_the_site_answering(served: tuple[str, psutil.Process], head: str) -> None:
    url, _ = served
    with ExitStack() as stack:
        for _ in range(HALF_SENT):
            ask(stack, url, head)
        assert max(seconds_of_a_page(url) for _ in range(3)) < 10


@pytest.mark.slow
def test_uploads_that_trickle_leave_the_site_answering(served: tuple[str, psutil.Process]) -> None:
    url, _ = served
    head = "POST /api/v1/submit HTTP/1.1\nHost: localhost\nContent-Type: application/json\nContent-Length: 90000\n\n{"
    with ExitStack() as stack:
        clients = [ask(stack, url, head) for _ in range(SLOW)]
        for _ in range(3):
            for client in clients:
                client.sendall(b" ")
            assert seconds_of_a_page(url) < 10


@pytest.mark.slow
def test_downloads_of_a_large_run_need_constant_memory(served: tuple[str, psutil.Process]) -> None:
    url, process = served
    run = f"{url}/runs/{RUN}"
    for address in ("items/?format=csv", "items.parquet"):
        requests.get(f"{run}/{address}", timeout=60)
    before = process.memory_info().rss
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: requests.get(f"{run}/items/?format=csv", timeout=60), range(8)))
        files = list(pool.map(lambda _: requests.get(f"{run}/items.parquet", timeout=60), range(8)))
    assert [answer.text.count("\n") for answer in answers] == [ROWS + 1] * 8
    assert {len(file.content) for file in files} == {len(files[0].content)}
    assert process.memory_info().rss - before < 50 * 1024**2


def test_a_download_that_is_taken_as_fast_as_it_is_sent_goes_to_a_file() -> None:
    """Of a response in memory, the server keeps what was sent until its end."""
    buffer = OverflowableBuffer(OPTIONS["outbuf_overflow"])
    for text in csv_lines(["index", "statement"], ([number, "x" * 200] for number in range(1000))):
        buffer.append(text.encode())
        buffer.skip(len(text), allow_prune=True)
    assert isinstance(buffer.buf, TempfileBasedBuffer)


def test_files_are_read_into_memory_that_other_threads_can_use_afterwards() -> None:
    before = pa.default_memory_pool()
    try:
        share_memory_between_threads()
        assert pa.default_memory_pool().backend_name == "system"
    finally:
        pa.set_memory_pool(before)


@pytest.mark.django_db
def test_a_web_server_reaches_the_site() -> None:
    environment: dict[str, object] = {}
    setup_testing_defaults(environment)
    environment |= {"PATH_INFO": "/healthz", "HTTP_HOST": "localhost"}
    statuses: list[str] = []
    body = b"".join(application(environment, lambda status, headers, error=None: statuses.append(status)))
    assert statuses == ["200 OK"]
    assert json.loads(body)["parts"]["database"]["state"] == "ok"


@pytest.mark.parametrize(
    ("peer", "seen"),
    [
        ("127.0.0.1", ("203.0.113.9", "https")),
        ("10.3.4.5", ("203.0.113.9", "https")),
        ("192.0.2.1", ("192.0.2.1", "http")),
        ("", ("", "http")),
    ],
)
def test_only_trusted_proxies_state_address_and_protocol(
    peer: str, seen: tuple[str, str], settings: DjangoSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOZEBOARD_TRUSTED_PROXIES", "127.0.0.1,10.0.0.0/8")
    settings.TRUSTED_PROXIES = env_networks("CLOZEBOARD_TRUSTED_PROXIES", "")
    answers: list[tuple[str, str]] = []

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
        answers.append((environ["REMOTE_ADDR"], environ["wsgi.url_scheme"]))
        return []

    headers = {"HTTP_X_FORWARDED_FOR": "198.51.100.7, 203.0.113.9", "HTTP_X_FORWARDED_PROTO": "https"}
    own = {"REMOTE_ADDR": peer, "REMOTE_HOST": peer, "SERVER_NAME": "x", "SERVER_PORT": "80", "wsgi.url_scheme": "http"}
    believing_proxies(application)(
        {**own, "HTTP_HOST": "clozeboard.example", **headers}, lambda *arguments: lambda data: None
    )
    assert answers == [seen]
