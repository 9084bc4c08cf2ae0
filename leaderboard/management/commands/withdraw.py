"""Withdraw finished runs from all pages, with a reason that everybody can read."""

from argparse import ArgumentParser
from typing import Any

from leaderboard.figures.history import withdraw
from leaderboard.management.base import PlainCommand
from leaderboard.models import Run
from probing.errors import BadInput


class Command(PlainCommand):
    help = "Delete finished runs with their files; the log of changes keeps their names and the reason."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("runs", nargs="+", type=int, metavar="RUN", help="the number of a finished run")
        parser.add_argument("--reason", required=True, help="what readers are told, in a sentence")

    def run(self, *, runs: list[int], reason: str, **options: Any) -> None:
        chosen = Run.objects.filter(pk__in=runs, state=Run.State.FINISHED)
        if missing := set(runs) - set(chosen.values_list("pk", flat=True)):
            names = ", ".join(map(str, sorted(missing)))
            raise BadInput(f"There are no finished runs with these numbers: {names}.", "Nothing was withdrawn.")
        if not reason.strip():
            raise BadInput("The reason is empty.", "Say in a sentence why the results are withdrawn.")
        withdraw(chosen, reason.strip())
        self.say(f"{len(set(runs))} runs withdrawn.")
