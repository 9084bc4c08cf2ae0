"""Fill an empty site from a backup."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from leaderboard.management.base import PlainCommand
from leaderboard.models import WorkerToken
from leaderboard.operations.restore import restore_backup


class Command(PlainCommand):
    help = "Fill an empty site from a file that backup has made; a site with content is refused."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a file that manage.py backup has made")

    def run(self, *, file: Path, **options: Any) -> None:
        manifest = restore_backup(file)
        rows = sum(manifest.rows.values())
        self.say(f"{rows:,} rows and {len(manifest.files) - 1:,} files of {manifest.made} are restored.")
        if tokens := WorkerToken.objects.filter(revoked=False).count():
            self.say(f"Tokens of programs elsewhere that are valid again: {tokens}. Revoke those that you do not know.")
        self.say("Create an account for the administration (createsuperuser), start the workers, and run requeue.")
