"""Put into RQ what should be there and is not, at once."""

from typing import Any

from django.core.management.base import CommandError

from leaderboard.intake import queue
from leaderboard.management.base import PlainCommand
from leaderboard.worker.reconciling import put_back


class Command(PlainCommand):
    help = "Queue every unfinished run that no worker works on, and try again what waits."

    def run(self, **options: Any) -> None:
        if not queue.reachable():
            raise CommandError(queue.UNREACHABLE)
        self.say(f"{put_back()} runs stand in the queue.")
