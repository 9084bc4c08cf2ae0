"""Load figures from papers, which pages show as published."""

from typing import Any

from django.conf import settings

from leaderboard.management.base import PlainCommand
from leaderboard.operations import published


class Command(PlainCommand):
    help = "Load the published results that ship with the project; run it again after an update."

    def run(self, **options: Any) -> None:
        count = published.load(settings.BASE_DIR / "fixtures" / "published")
        self.say(f"{count} published results.")
