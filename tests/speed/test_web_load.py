"""The load test of the web server: what its clients count, against a small server that answers as told."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import cast

import psutil
import pytest
from redis import Redis
from redis.exceptions import RedisError

from speed import web_load
from speed.web_load import START, Answer, Load, Site, cost, free_port, lost, summary


@contextmanager
def answering(status: int, body: bytes) -> Iterator[int]:
    """Serve the same answer to every request; yield the port."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer  # noqa: N815  # names that the class prescribes

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def load(port: int, submissions: float = 10) -> list[Answer]:
    clients = Load(port, readers=3, pause=0.1, submissions=submissions, seconds=1)
    with ThreadPoolExecutor(1) as thread:  # the browser tests leave an event loop running in the thread of all tests
        thread.submit(asyncio.run, clients.run()).result()
    return clients.answers


def test_readers_read_and_submissions_come_at_their_rate() -> None:
    with answering(202, b'{"submission": "a token"}') as port:
        answers = load(port)
    assert [answer.token for answer in answers if answer.kind == "submit"] == ["a token"] * 10
    assert len([answer for answer in answers if answer.kind == "read"]) > 3
    assert not [answer for answer in answers if answer.is_error]
    assert "submit: 10 requests (10 × 202)" in summary(answers, "submit")


def test_a_refusal_is_no_error_but_everything_else_is() -> None:
    with answering(429, b'{"error": {}}') as port:
        assert not [answer for answer in load(port) if answer.is_error]
    with answering(500, b"") as port:
        assert all(answer.is_error for answer in load(port))
    answers = load(free_port())
    assert {answer.outcome for answer in answers} == {"ConnectionRefusedError"}
    assert all(answer.is_error for answer in answers)


def test_the_cost_of_a_submission_is_processor_time_of_the_web_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_load, "ALONE", 4)
    seconds = count(10, 2)
    web = cast(psutil.Process, SimpleNamespace(cpu_times=lambda: (next(seconds), 0.0, 7.0)))
    with answering(202, b"{}") as port, ThreadPoolExecutor(1) as thread:
        clients = Load(port, readers=0, pause=0, submissions=0, seconds=0)
        assert thread.submit(asyncio.run, cost(web, clients, "org/{}")).result() == 500


def test_an_accepted_submission_that_is_not_stored_is_lost() -> None:
    answers = [Answer("submit", 0.1, 202, "kept"), Answer("submit", 0.1, 202, "gone"), Answer("submit", 0.1, 429)]
    assert lost(answers, ["kept", "another"]) == {"gone"}


@pytest.mark.slow
def is_idle(server: Redis) -> bool:
    """Return whether a worker waits for its first job; a signal that reaches it earlier would end it at once."""
    try:
        return any(server.hget(worker, "state") == b"idle" for worker in server.scan_iter("rq:worker:*"))
    except RedisError:
        return False


def test_nothing_of_a_site_runs_on_after_its_processes_have_ended(tmp_path: Path) -> None:
    site, folder = Site(tmp_path, free_port()), tmp_path / "valkey"
    site.command("migrate", "--verbosity=0")
    with site.process("rqworker", "default"), Redis(unix_socket_path=str(folder / "valkey.sock")) as valkey:
        end = time.monotonic() + START
        while not is_idle(valkey) and time.monotonic() < end:
            time.sleep(0.1)
        server = psutil.Process(int((folder / "valkey.pid").read_text()))
    server.wait(START)
    assert not server.is_running()
