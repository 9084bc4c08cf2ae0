"""Limits on what a hub may send: whatever it does, a request ends in time."""

import gzip
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread

import pytest

from probing.errors import SlowDownload, SourceUnavailable, WrongSizes
from probing.files import hub
from probing.files.hub import HubClient, allowance

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"
Answer = Callable[[socket.socket], None]


@contextmanager
def answering(answer: Answer) -> Iterator[HubClient]:
    """A hub that answers every request in one way, whatever was asked."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    Thread(target=respond, args=(connection,), daemon=True).start()

        def respond(connection: socket.socket) -> None:
            with suppress(OSError), connection:
                connection.recv(65_536)
                answer(connection)

        Thread(target=serve, daemon=True).start()
        yield HubClient(f"http://127.0.0.1:{server.getsockname()[1]}")
        server.shutdown(socket.SHUT_RDWR)


def nothing(connection: socket.socket) -> None:
    """Wait until the client goes away."""
    connection.recv(1)


def trickled_head(connection: socket.socket) -> None:
    """A byte from time to time, so that no limit of silence is reached before the answer has begun."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while True:
        connection.sendall(b"x")
        time.sleep(0.05)


def trickled_content(connection: socket.socket) -> None:
    connection.sendall(HEAD)
    while True:
        connection.sendall(b"x")
        time.sleep(0.05)


def flood(connection: socket.socket) -> None:
    connection.sendall(HEAD)
    while True:
        connection.sendall(bytes(100_000))


@pytest.mark.parametrize("answer", [nothing, trickled_head, trickled_content])
def test_a_hub_that_does_not_come_to_an_end_is_given_up_in_time(answer: Answer) -> None:
    begin = time.monotonic()
    with answering(answer) as client, pytest.raises(SlowDownload, match="in time") as caught, allowance(0.5, 10**6):
        client.read("org/name", "main", "config.json", 0, 100_000)
    assert time.monotonic() - begin < 5
    assert not caught.value.permanent


def test_a_rate_that_leads_nowhere_is_given_up_before_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "WINDOW", 0.5)
    begin = time.monotonic()
    with answering(trickled_content) as client, pytest.raises(SlowDownload, match="less than 1,000 bytes"):
        client.read("org/name", "main", "config.json", 0, 100_000)
    assert time.monotonic() - begin < 5


def test_a_hub_that_sends_too_much_is_cut_off() -> None:
    with answering(flood) as client, pytest.raises(WrongSizes, match="more than"), allowance(30, 10**6):
        client.describe("org/name")


def test_what_is_read_ends_where_it_should_though_the_hub_goes_on() -> None:
    with answering(flood) as client:
        assert client.read("org/name", "main", "config.json", 5, 25) == bytes(20)


def test_an_inner_allowance_is_never_longer_than_the_outer() -> None:
    begin = time.monotonic()
    with answering(nothing) as client, allowance(0.5, 10**6), pytest.raises(SlowDownload), allowance(60, 10**6):
        client.read("org/name", "main", "config.json", 0, 10)
    assert time.monotonic() - begin < 5


def test_compressed_answers_are_refused_as_they_could_grow_without_a_limit() -> None:
    packed = gzip.compress(bytes(10**7))
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n".encode()
    with (
        answering(lambda connection: connection.sendall(head + packed)) as client,
        pytest.raises(SourceUnavailable, match="compressed"),
    ):
        client.describe("org/name")


def test_the_environments_proxy_is_used_but_for_addresses_that_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nproxied"
    with answering(lambda connection: connection.sendall(answer)) as client:
        monkeypatch.setenv("http_proxy", client.endpoint)
        monkeypatch.setenv("no_proxy", "left-out.invalid")
        assert HubClient("http://hub.invalid").read("org/name", "main", "config.json", 0, 7) == b"proxied"
        with pytest.raises(SourceUnavailable):
            HubClient("http://left-out.invalid").read("org/name", "main", "config.json", 0, 7)


@pytest.mark.parametrize("content", [b"[]", b"{", b'{"id": 7}', b"[" * 100_000, b'{"siblings": [{"a": 1}]}'])
def test_a_description_that_is_none_is_reported_as_no_hub(content: bytes) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n".encode()
    with answering(lambda connection: connection.sendall(head + content)) as client, pytest.raises(SourceUnavailable):
        client.describe("org/name")
