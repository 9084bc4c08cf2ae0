"""Freeze tables of the site at an address that never changes."""

from argparse import ArgumentParser
from typing import Any

from leaderboard.management.base import PlainCommand
from leaderboard.operations.freezing import freeze, freeze_site


class Command(PlainCommand):
    help = "Freeze the overview and all leaderboards, or the tables of some pages, as a snapshot."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pages", nargs="*", help='addresses such as "/benchmarks/bear/?sort=parameters"')
        parser.add_argument("--name", default="", help="what the snapshot is called, such as “November 2026”")

    def run(self, *, pages: list[str], name: str, **options: Any) -> None:
        snapshot = freeze(pages, name) if pages else freeze_site(name)
        self.say(f"{snapshot.title}: {snapshot.get_absolute_url()}")
