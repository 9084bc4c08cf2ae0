"""Withdraw finished runs from all pages."""

from argparse import ArgumentParser
from typing import Any

from leaderboard.figures.ranks import withdraw
from leaderboard.management.base import PlainCommand
from leaderboard.models import Run
from probing.errors import BadInput


class Command(PlainCommand):
    help = "Delete finished runs with their files, and rank the others again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("runs", nargs="+", type=int, metavar="RUN", help="the number of a finished run")

    def run(self, *, runs: list[int], **options: Any) -> None:
        chosen = Run.objects.filter(pk__in=runs, state=Run.State.FINISHED)
        if missing := set(runs) - set(chosen.values_list("pk", flat=True)):
            names = ", ".join(map(str, sorted(missing)))
            raise BadInput(f"There are no finished runs with these numbers: {names}.", "Nothing was withdrawn.")
        withdraw(chosen)
        self.say(f"{len(set(runs))} runs withdrawn.")
