"""A run's progress in the terminal, read from the database."""

import time
from collections.abc import Callable

from django.core.management.base import CommandError
from tqdm import tqdm

from leaderboard.lists.progress import progress
from leaderboard.models import Run
from probing.estimate.work import BAR

PAUSE = 0.5  # seconds between two queries


def follow(run: Run, watch: Callable[[], None] = lambda: None) -> None:
    """Show the progress until the run has ended; raise `CommandError` if it ends without a result.

    `watch` is called after every query and may raise, for example when the worker has died.
    """
    with tqdm(total=1, bar_format=BAR, disable=None) as bar:
        while True:
            run.refresh_from_db()
            current = progress(run)
            bar.set_description(run.state)
            bar.set_postfix_str(f"{current.done} of {current.total} items", refresh=False)
            bar.update(current.share - bar.n)
            if run.state in Run.FINAL:
                break
            watch()
            time.sleep(PAUSE)
    if run.state != Run.State.FINISHED:
        raise CommandError(f"Run {run.pk} is {run.state}. {run.message} {run.next_step}".strip())
