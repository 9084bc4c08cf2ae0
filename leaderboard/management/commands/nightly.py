"""What a site does every night: a snapshot if one is due, and a random run measured again."""

from datetime import date
from typing import Any

from django.conf import settings
from django.core.management import call_command

from leaderboard.management.base import PlainCommand
from leaderboard.operations.freezing import freeze_when_due


class Command(PlainCommand):
    help = (
        "Freeze the site if CLOZEBOARD_SNAPSHOT_EVERY says so, and measure CLOZEBOARD_REMEASURE_ITEMS items of a "
        "random run again. Let cron or a timer call it every night. The exit code is that of remeasure."
    )

    def run(self, **options: Any) -> None:
        if snapshot := freeze_when_due(date.today()):
            self.say(f"{snapshot.title}: {snapshot.get_absolute_url()}")
        if settings.REMEASURE_ITEMS:
            call_command("remeasure", stdout=self.stdout)
