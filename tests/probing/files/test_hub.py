"""A hub over HTTP: what is downloaded, how its errors are reported, and that every request ends in time."""

import gzip
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import httpx2
import pytest
from huggingface_hub.errors import EntryNotFoundError, GatedRepoError, HFValidationError, LocalEntryNotFoundError

from probing.errors import BadConfig, Gated, ModelNotFound, ProbingError, SlowDownload, SourceUnavailable, WrongSizes
from probing.files import hub as hub_module
from probing.files.hub import HubClient, allowance, hub_errors
from tests.hub.local_hub import Hub, serve


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A hub with one model of two files."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    (tmp_path / "model" / "notes.txt").write_text("not needed")
    with serve() as server:
        server.add("org/name", tmp_path / "model")
        yield server


@pytest.fixture
def client(hub: Hub, tmp_path: Path) -> HubClient:
    return HubClient(hub.url, cache=tmp_path / "cache")


def test_a_description_has_the_commit_and_the_sizes_of_the_files(client: HubClient, hub: Hub) -> None:
    info = client.describe("org/name")
    assert info.sha == hub.repositories["org/name"].commit
    assert {file.rfilename: file.size for file in info.siblings or []} == {"config.json": 2, "notes.txt": 10}


def test_only_named_files_of_a_commit_or_the_newest_are_downloaded(client: HubClient, hub: Hub, tmp_path: Path) -> None:
    commit = hub.repositories["org/name"].commit
    folder = client.download("org/name", commit, {"config.json": 2})
    assert [path.name for path in folder.iterdir()] == ["config.json"]
    assert folder.name == commit
    assert folder.is_relative_to(tmp_path / "cache")
    assert client.download("org/name", "", {"config.json": 2}).name == hub.repositories["org/name"].commit


@pytest.mark.parametrize(
    ("start", "stop", "content"), [(0, 10, "not needed"), (4, 8, "need"), (4, 99, "needed"), (50, 60, "")]
)
def test_a_part_of_a_file_is_read(client: HubClient, start: int, stop: int, content: str) -> None:
    assert client.read("org/name", "", "notes.txt", start, stop).decode() == content


def test_an_endless_file_is_read_as_far_as_needed(client: HubClient, hub: Hub) -> None:
    hub.repositories["org/name"].endless = {"notes.txt"}
    assert client.read("org/name", "", "notes.txt", 4, 12) == b"needed\0\0"


def test_a_missing_model_is_reported_with_the_address_of_the_hub(client: HubClient, hub: Hub) -> None:
    with pytest.raises(ModelNotFound, match=f"no public model org/other at {hub.url}"):
        client.describe("org/other")


def test_a_full_disk_is_reported_as_such(client: HubClient, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("probing.files.hub.hf_hub_download", full)
    with pytest.raises(ProbingError) as error:
        client.download("org/name", "", {"config.json": 2})
    assert error.value.code == "no-space"


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (HFValidationError("no id"), ModelNotFound),
        (LocalEntryNotFoundError("offline"), SourceUnavailable),
        (EntryNotFoundError("no file"), BadConfig),
        (ConnectionError("refused"), SourceUnavailable),
    ],
)
def test_an_error_of_the_hub_becomes_a_probing_error(error: Exception, ours: type[ProbingError]) -> None:
    with pytest.raises(ours) as caught, hub_errors("org/name", "http://hub"):
        raise error
    assert type(caught.value) is ours
    assert caught.value.next_step


@pytest.mark.parametrize(
    ("has_token", "words", "step"),
    [
        (False, "there is no token that says who you are", "http://hub/org/name, then log in: hf auth login"),
        (True, "the account of your token may not read it", "Accept its conditions at http://hub/org/name"),
    ],
)
def test_a_gated_model_says_what_to_do_with_and_without_a_token(has_token: bool, words: str, step: str) -> None:
    refusal = httpx2.Response(403, request=httpx2.Request("GET", "http://hub"))
    with pytest.raises(Gated, match=words) as caught, hub_errors("org/name", "http://hub", has_token):
        raise GatedRepoError("gated", response=refusal)
    assert step in caught.value.next_step


def test_other_errors_pass_unchanged() -> None:
    with pytest.raises(ZeroDivisionError), hub_errors("org/name", "http://hub"):
        raise ZeroDivisionError


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
    monkeypatch.setattr(hub_module, "WINDOW", 0.5)
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
