"""The embedded Valkey: shared by several processes, started again when it is lost."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import django_rq
import psutil
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard import redis_server
from leaderboard.intake import queue
from leaderboard.redis_server import embedded_server
from tests.leaderboard.workers import until


def process_number(data: Path) -> int:
    return int((data / "valkey" / "valkey.pid").read_text())


def kill_server(data: Path) -> None:
    server = psutil.Process(process_number(data))
    server.kill()
    until(lambda: not server.is_running() or server.status() == psutil.STATUS_ZOMBIE, 5)


def test_the_server_is_stopped_by_the_last_that_uses_it() -> None:
    with embedded_server():
        with embedded_server():
            assert queue.reachable()
        assert queue.reachable()
    assert not queue.reachable()


def test_of_several_processes_that_start_at_once_one_starts_the_server(data: Path) -> None:
    with embedded_server():
        first = process_number(data)
        kill_server(data)
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda _: redis_server.start(), range(4)))
        assert process_number(data) != first
        log = (data / "valkey" / "valkey.log").read_text()
        assert log.count("Ready to accept connections") == 2


def test_a_server_that_redis_url_names_is_not_started(settings: DjangoSettings) -> None:
    settings.EMBEDDED_REDIS = None
    with embedded_server():
        redis_server.start()
        assert not queue.reachable()


def test_a_command_of_a_worker_survives_the_loss_of_the_server(data: Path) -> None:
    with embedded_server():
        connection = django_rq.get_connection("checks")
        connection.set_retry(redis_server.Reconnecting())
        connection.ping()
        kill_server(data)
        assert connection.ping()


def test_nothing_of_the_server_is_left_in_the_data_folder_but_its_log(data: Path) -> None:
    with embedded_server():
        pass
    assert {path.name for path in (data / "valkey").iterdir()} == {"valkey.log", "lock", "users"}
