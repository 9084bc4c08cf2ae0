"""Submit a model as the form does."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.urls import reverse

from leaderboard.intake import check_job, requests
from leaderboard.management.base import PlainCommand
from leaderboard.management.follow import follow
from leaderboard.models import Submission
from leaderboard.stored import benchmarks
from probing.probes import probe_named
from probing.probes.probe import offered_options, parse

MARKS = {"ok": "✓", "failed": "✗", "warning": "!", "skipped": "–"}


class Command(PlainCommand):
    help = "Check a model and queue it for a benchmark."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", help="org/name on the hub or among the local models")
        parser.add_argument("--benchmark", default="starter", help="the benchmark's slug (default: starter)")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="an option of the probe, or templates, sample, pll, reduction or dtype; may be repeated",
        )
        parser.add_argument("--wait", action="store_true", help="show the progress until the run has ended")

    def run(self, *, model: str, benchmark: str, wait: bool, **options: Any) -> None:
        row = benchmarks.current(benchmark)
        offered = offered_options(probe_named(row.probe))
        chosen = parse(offered, options["set"], f"Benchmark {row.slug}")
        submission = requests.receive(model, row, chosen, job=False)
        check_job.check(submission.pk)
        submission.refresh_from_db()
        for check in submission.checks:
            self.say(f"{MARKS[check['state']]} {check['name']}: {check['message']} {check['next_step']}".rstrip())
        if submission.state == Submission.State.WAITING:
            raise CommandError("The hub does not answer; the worker for checks tries it again.")
        if submission.run is None:
            raise CommandError("Not submitted: see the checks above.", returncode=2)
        self.say(f"Run {submission.run.pk} is {submission.run.state}.")
        self.say(f"Its submission is at {reverse('submission', args=[submission.token])}")
        if wait:
            follow(submission.run)
