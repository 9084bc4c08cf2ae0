"""Restore the queue from the database."""

from typing import Any

from django.core.management.base import CommandError

from leaderboard.intake import queue
from leaderboard.management.base import PlainCommand


class Command(PlainCommand):
    help = "Queue every unfinished run that no worker has, and look again at those that wait."

    def run(self, **options: Any) -> None:
        if not queue.reachable():
            raise CommandError(queue.UNREACHABLE)
        self.say(f"{queue.requeue_lost()} runs queued.")
