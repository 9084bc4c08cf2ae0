"""What commands share: errors as messages, a run's progress in the terminal, and child processes that end together."""

import os
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from leaderboard.figures.progress import Progress, progress
from leaderboard.models import Run
from leaderboard.ui import cells
from probing.errors import BadInput, ProbingError
from probing.measuring.limits import die_with_parent
from probing.progress_bar import BAR

LOOK_SECONDS = 0.5  # seconds between two looks at a run
LINE_SECONDS = 10.0  # seconds between two lines where there is no terminal on which a bar could move
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


def follow(run: Run, watch: Callable[[], None] = lambda: None) -> None:
    """Show the progress until the run has ended; raise `CommandError` if it ends without a result.

    A terminal gets a bar; anything else, such as a log, gets a line from time to time. `watch` is called after every
    query and may raise, for example when the worker has died.
    """
    last_line = -LINE_SECONDS
    with tqdm(total=1, bar_format=BAR, disable=None) as bar:
        while True:
            run.refresh_from_db()
            current = progress(run)
            bar.set_description(run.benchmark.title)
            bar.set_postfix_str(in_words(run, current), refresh=False)
            bar.update(current.share - bar.n)
            if bar.disable and (run.state in Run.FINAL or time.monotonic() - last_line >= LINE_SECONDS):
                last_line = time.monotonic()
                print(f"{run.benchmark.title}: {in_words(run, current)}", file=sys.stderr, flush=True)
            if run.state in Run.FINAL:
                break
            watch()
            time.sleep(LOOK_SECONDS)
    if run.state != Run.State.FINISHED:
        raise CommandError(f"Run {run.pk} is {run.state}. {run.message} {run.next_step}".strip())


def in_words(run: Run, current: Progress) -> str:
    """Return state, progress and time left as the pages show them."""
    left = (
        f" · {cells.approximate_time(current.left)} left"
        if current.left is not None and run.state not in Run.FINAL
        else ""
    )
    return f"{run.state} · {current.percent} % of the work · {current.done:,} of {current.total:,} items{left}"


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
