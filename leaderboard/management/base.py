"""What commands share: errors as messages, and child processes that end together."""

import os
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from probing.errors import BadInput, ProbingError
from probing.measuring.limits import die_with_parent

MANAGE = "manage.py"
STOP_SECONDS = 10  # how long a process may take to stop before it is killed
Process = subprocess.Popen[bytes]


class PlainCommand(BaseCommand, ABC):
    """A command whose work is in `run`. The exit code is 2 for errors that the user can correct, else 1."""

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.run(**options)
        except ProbingError as error:
            raise CommandError(str(error), returncode=2 if isinstance(error, BadInput) else 1) from error

    @abstractmethod
    def run(self, *args: Any, **options: Any) -> None:
        """Do the work of the command; subclasses name the options that they use."""

    def say(self, text: str) -> None:
        self.stdout.write(text)


@contextmanager
def child(command: list[str], log: Path | None = None) -> Iterator[Process]:
    """Run Python with these arguments during the block; its output goes to a log, or where that of this process goes.

    It has a session of its own: Ctrl-C reaches only this process, which then stops its children in order.
    """
    with ExitStack() as files:
        if log:
            log.parent.mkdir(parents=True, exist_ok=True)
        output = files.enter_context(log.open("ab")) if log else None
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=settings.BASE_DIR,
            env=os.environ | {"DJANGO_SETTINGS_MODULE": "leaderboard.settings"},
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=partial(die_with_parent, os.getpid()),
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def expect_alive(processes: Mapping[str, Process], hint: str = "") -> None:
    """Raise `CommandError` if one of these processes has ended; `hint` says where its output is."""
    for name, process in processes.items():
        if process.poll() is not None:
            raise CommandError(f"The {name} process has stopped (exit code {process.returncode}). {hint}".rstrip())


def wait_for_ever(processes: Mapping[str, Process], hint: str = "") -> None:
    """Wait until a signal ends this process; raise `CommandError` when one of the others ends."""
    while True:
        expect_alive(processes, hint)
        time.sleep(1)
