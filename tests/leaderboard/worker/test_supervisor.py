"""A process that is kept running beside another one."""

from pathlib import Path

import psutil
import pytest
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.worker import supervisor
from leaderboard.worker.supervisor import kept_running
from tests.leaderboard.workers import until

PROGRAM = """
import os, signal, sys, time
print(os.getpid(), file=open("numbers", "a"))
{ignore}
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def folder(settings: DjangoSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose manage.py notes its process number, and then sleeps."""
    settings.BASE_DIR = tmp_path
    (tmp_path / "manage.py").write_text(PROGRAM.format(ignore=""))
    monkeypatch.setattr(supervisor, "RESTART_SECONDS", 0.1)
    monkeypatch.setattr(supervisor, "STOP_SECONDS", 0.5)
    return tmp_path


def numbers(folder: Path) -> list[int]:
    path = folder / "numbers"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def test_it_is_started_again_when_it_dies_and_stopped_at_the_end(folder: Path) -> None:
    with kept_running(["rqworker", "checks"]):
        until(lambda: len(numbers(folder)) == 1, 20)
        psutil.Process(numbers(folder)[0]).kill()
        until(lambda: len(numbers(folder)) == 2, 20)
    assert not any(psutil.pid_exists(number) for number in numbers(folder))


def test_one_that_does_not_stop_is_killed(folder: Path) -> None:
    ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    (folder / "manage.py").write_text(
        PROGRAM.format(ignore=ignore).replace("time.sleep", "open('deaf', 'w'); time.sleep")
    )
    with kept_running([]):
        until(lambda: (folder / "deaf").exists(), 20)
    assert not psutil.pid_exists(numbers(folder)[0])
