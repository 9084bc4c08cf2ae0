"""A run's progress in the terminal, read from the database."""

import sys
import time
from collections.abc import Callable

from django.core.management.base import CommandError
from tqdm import tqdm

from leaderboard.figures.progress import Progress, progress
from leaderboard.models import Run
from leaderboard.ui import cells
from probing.progress_bar import BAR

PAUSE = 0.5  # seconds between two queries
LINES = 10.0  # seconds between two lines where there is no terminal on which a bar could move


def follow(run: Run, watch: Callable[[], None] = lambda: None) -> None:
    """Show the progress until the run has ended; raise `CommandError` if it ends without a result.

    A terminal gets a bar; anything else, such as a log, gets a line from time to time. `watch` is called after every
    query and may raise, for example when the worker has died.
    """
    last_line = -LINES
    with tqdm(total=1, bar_format=BAR, disable=None) as bar:
        while True:
            run.refresh_from_db()
            current = progress(run)
            bar.set_description(run.benchmark.title)
            bar.set_postfix_str(in_words(run, current), refresh=False)
            bar.update(current.share - bar.n)
            if bar.disable and (run.state in Run.FINAL or time.monotonic() - last_line >= LINES):
                last_line = time.monotonic()
                print(f"{run.benchmark.title}: {in_words(run, current)}", file=sys.stderr, flush=True)
            if run.state in Run.FINAL:
                break
            watch()
            time.sleep(PAUSE)
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
