"""A run's progress in the terminal, read from the database."""

import time
from collections.abc import Callable

from django.core.management.base import CommandError
from django.db.models import Sum
from tqdm import tqdm

from leaderboard.models import Run

PAUSE = 0.5  # seconds between two looks


def follow(run: Run, watch: Callable[[], None] = lambda: None) -> None:
    """Show the progress until the run has ended; an end without a result is an error.

    `watch` is called at every look and may raise, for example when the worker has died.
    """
    total = run.parts.aggregate(total=Sum("items"))["total"] or 0
    with tqdm(total=total, unit="item", disable=None) as bar:
        while True:
            run.refresh_from_db()
            bar.set_description(run.state)
            bar.update((run.parts.aggregate(done=Sum("items_done"))["done"] or 0) - bar.n)
            if run.state in Run.FINAL:
                break
            watch()
            time.sleep(PAUSE)
    if run.state != Run.State.FINISHED:
        raise CommandError(f"Run {run.pk} is {run.state}. {run.message} {run.next_step}".strip())
