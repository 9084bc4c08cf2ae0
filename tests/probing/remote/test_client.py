"""The client of a site: against a server that says anything."""

import io
import json
import socket
import tarfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import httpx2
import pytest

from probing.errors import DigestMismatch, ProbingError
from probing.formats import bear
from probing.remote.client import Site, cached_benchmark
from probing.remote.connection import NotWelcome, SiteRefused, SiteUnavailable, requested_pause
from probing.remote.protocol import PROTOCOL, BenchmarkOffer, Handout
from tests.conftest import BearFolder

HANDOUT: dict[str, Any] = {
    "lease": "opaque",
    "run": 7,
    "hub_id": "org/name",
    "commit": "c0ffee",
    "adapter_commit": "",
    "settings": {"probe": "multiple_choice"},
    "benchmark": {"slug": "small", "format": "bear", "digest": "d", "path": "benchmarks/d.tar.gz"},
    "part": {"relation": "P30", "template": 0, "items": 4},
    "positions": 12.5,
    "lease_seconds": 30,
}


class Answer(NamedTuple):
    status: int = 200
    body: bytes = b"{}"
    location: str = ""


class FakeSite(ThreadingHTTPServer):
    """A server that gives the next answer of a list to every request, the last one again and again."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Answer] = []
        self.requests: list[tuple[str, str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: FakeSite

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append((self.command, self.path, self.headers["Authorization"]))
        answer = self.server.answers.pop(0) if len(self.server.answers) > 1 else self.server.answers[0]
        self.send_response(answer.status)
        if answer.location:
            self.send_header("Location", answer.location)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[FakeSite]:
    server = FakeSite()
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def client_of(server: FakeSite, *answers: Answer, attempts: int = 1) -> Site:
    server.answers = list(answers)
    return Site(server.url, "secret", attempts=attempts)


def error(code: str, message: str = "It is so.") -> bytes:
    return json.dumps({"error": {"code": code, "message": message, "next_step": "Do that."}}).encode()


def hello(protocol: Any) -> bytes:
    return json.dumps({"protocol": protocol, "token": "lab"}).encode()


def test_a_site_is_greeted_with_the_token(server: FakeSite) -> None:
    assert client_of(server, Answer(body=hello(PROTOCOL))).hello() == "lab"
    assert server.requests == [("GET", "/api/v1/work/", "Bearer secret")]


REFUSALS = [
    (Answer(body=hello(PROTOCOL - 1)), NotWelcome, "The site is too old"),
    (Answer(body=hello(PROTOCOL + 1)), NotWelcome, "The worker is too old"),
    (Answer(body=hello("new")), NotWelcome, "not a Clozeboard site"),
    (Answer(body=b"<html>Welcome</html>"), NotWelcome, "not a Clozeboard site"),
    (Answer(body=b"[]"), NotWelcome, "not a Clozeboard site"),
    (Answer(404, b"<html>"), NotWelcome, "There is no Clozeboard site for workers at"),
    (Answer(401, error("unauthorized", "This token is unknown.")), NotWelcome, "This token is unknown. Do that."),
    (Answer(301, location="https://b.example/api/v1/work/"), NotWelcome, "Give that address: https://b.example$"),
    (Answer(503, b"busy"), SiteUnavailable, r"not able to answer now \(status 503\)"),
    (Answer(409, error("lease-lost")), SiteRefused, "It is so. Do that."),
]


@pytest.mark.parametrize(("answer", "kind", "message"), REFUSALS)
def test_every_other_answer_is_one_sentence(
    server: FakeSite, answer: Answer, kind: type[ProbingError], message: str
) -> None:
    with pytest.raises(kind, match=message) as caught:
        client_of(server, answer).hello()
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_that_does_not_answer_is_one_sentence() -> None:
    with pytest.raises(SiteUnavailable, match="does not answer"):
        Site("http://127.0.0.1:9", "secret", attempts=1).hello()


@pytest.mark.parametrize("address", ["", "ftp://site.example", "http://", "https://[", "http://a b"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(NotWelcome):
        Site(address, "secret", attempts=0).hello()


@pytest.mark.parametrize("token", ["", "  ", "tokén", "a\nb"])
def test_what_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(NotWelcome, match="token"):
        Site("https://site.example", token)


def test_an_address_without_a_scheme_is_one_with_encryption() -> None:
    assert Site("site.example/", "secret").address == "https://site.example"


def test_a_busy_site_is_asked_again(server: FakeSite) -> None:
    site = client_of(server, Answer(500), Answer(503), Answer(body=hello(PROTOCOL)), attempts=3)
    assert site.hello() == "lab"
    assert len(server.requests) == 3


def test_a_part_is_read_strictly(server: FakeSite) -> None:
    site = client_of(server, Answer(body=json.dumps({**HANDOUT, "field": "of a newer site"}).encode()))
    assert site.claim({"lanes": ["default"]}) == Handout.from_json(HANDOUT)
    assert client_of(server, Answer(204, b"")).claim({}) is None
    for spoiled in ({"lease": "x"}, {**HANDOUT, "part": {}}, {**HANDOUT, "settings": {"new": 1}}, {"benchmark": 1}):
        with pytest.raises(NotWelcome, match="not a Clozeboard site of this version"):
            client_of(server, Answer(body=json.dumps(spoiled).encode())).claim({})


def test_what_is_handed_out_can_be_written_and_read() -> None:
    handout = Handout.from_json(HANDOUT)
    assert Handout.from_json(json.loads(json.dumps(handout.to_json()))) == handout


def packed(folder: Path, name: str = "small") -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        archive.add(folder, name)
    return content.getvalue()


def test_a_benchmark_is_fetched_once(server: FakeSite, bear_folder: BearFolder, tmp_path: Path) -> None:
    digest = bear.read(bear_folder.write()).digest
    offer = BenchmarkOffer("small", "bear", digest, f"benchmarks/{digest}.tar.gz")
    site = client_of(server, Answer(body=packed(bear_folder.path)))
    folder = cached_benchmark(site, offer, tmp_path / "cache")
    assert bear.read(folder).digest == digest
    assert cached_benchmark(site, offer, tmp_path / "cache") == folder
    assert len(server.requests) == 1
    (folder / "P30.jsonl").write_text("{}")
    assert bear.read(cached_benchmark(site, offer, tmp_path / "cache")).digest == digest


def test_another_benchmark_than_the_one_that_is_named_is_refused(
    server: FakeSite, bear_folder: BearFolder, tmp_path: Path
) -> None:
    offer = BenchmarkOffer("small", "bear", "0" * 64, "benchmarks/0.tar.gz")
    with pytest.raises(DigestMismatch, match="not those that the site names"):
        cached_benchmark(client_of(server, Answer(body=packed(bear_folder.write()))), offer, tmp_path / "cache")
    for body in (b"", b"no archive", packed(bear_folder.path)[:200]):
        with pytest.raises(SiteUnavailable, match="did not arrive"):
            cached_benchmark(client_of(server, Answer(body=body)), offer, tmp_path / "cache")
    assert not list((tmp_path / "cache").glob("*"))


def test_an_archive_cannot_leave_its_folder(server: FakeSite, bear_folder: BearFolder, tmp_path: Path) -> None:
    offer = BenchmarkOffer("small", "bear", "0" * 64, "benchmarks/0.tar.gz")
    with pytest.raises(ProbingError):
        site = client_of(server, Answer(body=packed(bear_folder.write(), "x/../../../escaped")))
        cached_benchmark(site, offer, tmp_path / "a" / "b" / "cache")
    assert not list(tmp_path.rglob("escaped*"))


def test_a_site_without_a_certificate_is_not_asked_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer_in_plain() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        Thread(target=answer_in_plain, daemon=True).start()
        with pytest.raises(NotWelcome, match="no valid certificate"):
            Site(f"https://127.0.0.1:{server.getsockname()[1]}", "secret", timeouts=(2, 2)).hello()


def test_the_pause_that_a_site_asks_for_is_kept_up_to_an_hour() -> None:
    assert requested_pause(httpx2.Response(429, headers={"Retry-After": "7"})) == 7
    assert requested_pause(httpx2.Response(429, headers={"Retry-After": "99999"})) == 3600
    assert requested_pause(httpx2.Response(503, headers={"Retry-After": "soon"})) == 0


@pytest.mark.parametrize("change", [{"digest": "../../etc"}, {"format": "pickle", "digest": "1"}])
def test_a_benchmark_that_is_named_oddly_is_refused(server: FakeSite, tmp_path: Path, change: dict[str, str]) -> None:
    offer = BenchmarkOffer(**{"slug": "small", "format": "bear", "digest": "d", "path": "p"} | change)
    with pytest.raises(NotWelcome):
        cached_benchmark(client_of(server, Answer()), offer, tmp_path)
