"""Enqueue again the runs that Redis has lost."""

from typing import Any

from django.core.management.base import CommandError

from leaderboard.intake import queue
from leaderboard.management.base import PlainCommand


class Command(PlainCommand):
    help = "Queue every unfinished run that no worker works on, and check again the runs that wait."

    def run(self, **options: Any) -> None:
        if not queue.reachable():
            raise CommandError(queue.UNREACHABLE)
        self.say(f"{queue.requeue_lost()} runs queued.")
