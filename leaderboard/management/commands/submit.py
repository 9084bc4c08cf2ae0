"""Submit a model as the form does."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from leaderboard.intake.submissions import submit
from leaderboard.management.base import PlainCommand
from leaderboard.management.follow import follow
from leaderboard.stored import benchmarks
from probing.probes import probe_named
from probing.probes.probe import parse

MARKS = {"ok": "✓", "failed": "✗", "warning": "!", "skipped": "–"}


class Command(PlainCommand):
    help = "Check a model and queue it for a benchmark."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", help="org/name on the hub or among the local models")
        parser.add_argument("--benchmark", default="starter", help="the benchmark's slug (default: starter)")
        parser.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE", help="an option of the probe; may be repeated"
        )
        parser.add_argument("--wait", action="store_true", help="show the progress until the run has ended")

    def run(self, *, model: str, benchmark: str, wait: bool, **options: Any) -> None:
        row = benchmarks.current(benchmark)
        submission = submit(model, row, parse(probe_named(row.probe), options["set"]))
        for check in submission.checks:
            self.say(f"{MARKS[check.state]} {check.name}: {check.message} {check.next_step}".rstrip())
        if submission.run is None:
            raise CommandError("Not submitted: see the checks above.", returncode=2)
        self.say(f"Run {submission.run.pk} is {submission.run.state}.")
        if wait:
            follow(submission.run)
