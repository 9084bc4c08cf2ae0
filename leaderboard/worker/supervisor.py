"""A process that keeps another one running beside itself: a worker's companion, which checks submitted models."""

import logging
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread

from django.conf import settings

log = logging.getLogger(__name__)
RESTART_SECONDS = 2.0  # pause before a process that has ended is started again
STOP_SECONDS = 10.0  # how long a process may take to stop before it is killed


@contextmanager
def kept_running(arguments: Sequence[str]) -> Iterator[None]:
    """Run `manage.py` with these arguments beside the block; start it again whenever it ends, and stop it at last."""
    stop = Event()
    thread = Thread(target=_keep, args=([sys.executable, "manage.py", *arguments], stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _keep(command: Sequence[str], stop: Event) -> None:
    """Start the process again and again until `stop` is set."""
    while not stop.is_set():
        process = subprocess.Popen(command, cwd=settings.BASE_DIR, start_new_session=True)
        while process.poll() is None and not stop.wait(0.2):
            pass
        if process.returncode is None:
            _end(process)
        elif not stop.is_set():
            log.warning("%s ended with exit code %s. Starting it again.", " ".join(command[1:]), process.returncode)
            stop.wait(RESTART_SECONDS)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
