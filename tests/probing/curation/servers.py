"""Two local servers that can be told to fail: a real SPARQL engine over HTTP, and the API of Wikipedia sites."""

import json
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, unquote, urlsplit

from pyoxigraph import QueryResultsFormat, QuerySolutions, Store

from tests.probing.curation.world import World


@dataclass(frozen=True)
class Fault:
    """A fault of a server: a status with headers and a body, an answer of which a part is kept, or a late one."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: str | bytes = ""
    keep: float = 1.0
    late: float = 0.0

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else self.body.encode()


class Server(ThreadingHTTPServer):
    """A server that applies its `faults` to the next requests in turn, and records their texts and user agents."""

    daemon_threads = True

    def __init__(self, answer: Callable[[str, dict[str, list[str]]], tuple[int, bytes]]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.faults: deque[Fault] = deque()
        self.requests: list[str] = []
        self.agents: set[str] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.respond(parse_qs(body))

    def do_GET(self) -> None:
        self.respond(parse_qs(urlsplit(self.path).query))

    def respond(self, parameters: dict[str, list[str]]) -> None:
        path = unquote(urlsplit(self.path).path)
        self.server.agents.add(self.headers["User-Agent"])
        self.server.requests.append("".join(parameters.get("query", parameters.get("titles", [path]))))
        fault = self.server.faults.popleft() if self.server.faults else Fault()
        time.sleep(fault.late)
        if fault.status != 200:
            return self.send(fault.status, fault.content, fault.headers)
        status, content = self.server.answer(path, parameters)
        self.send(status, content[: int(len(content) * fault.keep)] + fault.content, fault.headers)

    def send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for header, value in ({"Content-Type": "application/sparql-results+json"} | headers).items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(content)

    def handle(self) -> None:
        with suppress(BrokenPipeError):  # a client that no longer waits for a late answer
            super().handle()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(answer: Callable[[str, dict[str, list[str]]], tuple[int, bytes]]) -> Iterator[Server]:
    server = Server(answer)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def sparql(store: Store) -> Callable[[str, dict[str, list[str]]], tuple[int, bytes]]:
    def answer(_: str, parameters: dict[str, list[str]]) -> tuple[int, bytes]:
        try:
            solutions = store.query(parameters["query"][0])
        except SyntaxError as error:
            return 400, str(error).encode()
        assert isinstance(solutions, QuerySolutions)
        return 200, solutions.serialize(format=QueryResultsFormat.JSON) or b""

    return answer


def wikipedia(world: World) -> Callable[[str, dict[str, list[str]]], tuple[int, bytes]]:
    def answer(path: str, parameters: dict[str, list[str]]) -> tuple[int, bytes]:
        site, script, *rest = path.strip("/").split("/")
        if script == "rest.php":
            size = world.sizes.get((site, rest[2].replace("_", " ")))
            return (404, b"{}") if size is None else (200, json.dumps({"count": size % 97, "limit": False}).encode())
        titles = parameters["titles"][0].split("|")
        assert len(titles) <= 50
        moved = {title: world.redirects[site, title] for title in titles if (site, title) in world.redirects}
        pages = [_page(world, site, moved.get(title, title)) for title in titles]
        redirects = [{"from": old, "to": new} for old, new in moved.items()]
        return 200, json.dumps({"query": {"redirects": redirects, "pages": pages}}).encode()

    return answer


def _page(world: World, site: str, title: str) -> dict[str, object]:
    size = world.sizes.get((site, title))
    return {"title": title, "missing": True} if size is None else {"title": title, "length": size}
