"""Real worker processes on the database and the data folder of a test."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import quote

from django.conf import settings
from django.db import connection

PATIENCE = 180  # seconds, enough where many processes share the machine


def environment() -> dict[str, str]:
    return os.environ | {
        "DATABASE_URL": database_url(),
        "CLOZEBOARD_DATA": str(settings.DATA),
        "CLOZEBOARD_MODELS": str(settings.MODELS),
        "HF_ENDPOINT": settings.HF_ENDPOINT,
        "OMP_NUM_THREADS": "1",
    }


def database_url() -> str:
    """Of the database that the tests use, which is not the one that the settings name."""
    used = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{used['NAME']}"
    host = quote(used["HOST"], safe="")  # may be the folder of a socket
    return f"postgres://{used['USER']}:{used['PASSWORD']}@{host}:{used['PORT']}/{used['NAME']}"


def manage(*arguments: str) -> subprocess.Popen[str]:
    """A management command in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=settings.BASE_DIR,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@contextmanager
def scheduler() -> Iterator[None]:
    """Run what has lost jobs put in again every half minute, as beside every worker of a site."""
    process = manage("rqcron")
    try:
        yield
    finally:
        kill(process)


@contextmanager
def worker(*options: str) -> Iterator[subprocess.Popen[str]]:
    process = manage("rqworker", *options)
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[str]) -> None:
    """As a machine that loses power: the worker and the process that does its job, without a word."""
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True)
    for pid in [process.pid, *map(int, children.stdout.split())]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait()


def until(condition: Callable[[], object], patience: float = PATIENCE) -> None:
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
