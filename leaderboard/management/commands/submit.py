"""Submit a model as the form does, and follow its run in the terminal."""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from django.core.management.base import CommandError
from django.urls import reverse
from tqdm import tqdm

from leaderboard.figures import benchmarks
from leaderboard.figures.progress import Progress, progress
from leaderboard.intake import check_job
from leaderboard.intake.hub import NEWEST, listed_revisions
from leaderboard.intake.submissions import receive_all
from leaderboard.management.base import PlainCommand
from leaderboard.models import Benchmark, Run, Submission
from leaderboard.ui import spelled
from probing.probes import probe_named
from probing.probes.probe import offered_options, parse
from probing.progress_bar import BAR

LOOK_SECONDS = 0.5  # seconds between two looks at a run
LINE_SECONDS = 10.0  # seconds between two lines where there is no terminal on which a bar could move
MARKS = {"ok": "✓", "failed": "✗", "warning": "!", "skipped": "–"}


class Command(PlainCommand):
    help = "Check a model and queue it for a benchmark."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", help="org/name on the hub or among the local models")
        parser.add_argument(
            "--benchmark",
            default="starter",
            help="the benchmark's name (default: starter); culture:answering names one with another probe",
        )
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="an option of the probe, or templates, sample, language, pll, reduction or dtype; may be repeated",
        )
        parser.add_argument(
            "--revisions",
            default="",
            metavar="NAME,NAME,…",
            help="branches, tags or commits of the model; each becomes a run of its own",
        )
        parser.add_argument("--wait", action="store_true", help="show the progress until the run has ended")

    def run(self, *, model: str, benchmark: str, revisions: str, wait: bool, **options: Any) -> None:
        row = benchmarks.current(benchmark)
        offered = offered_options(probe_named(row.probe))
        chosen = parse(offered, options["set"], f"Benchmark {row.name}")
        names, submissions = listed_revisions(revisions), []
        for submission in submitted(model, [row], chosen, names):
            submissions.append(submission)
            if len(names) > 1:
                self.say(outcome(submission))
            else:
                self._say_checks(submission)
        self._refuse_failed(submissions)
        self.say(f"Its submission is at {reverse('submission', args=[submissions[0].token])}")
        for submission in submissions:
            if wait and submission.run:
                follow(submission.run)

    def _say_checks(self, submission: Submission) -> None:
        for check in submission.checks:
            self.say(f"{MARKS[check['state']]} {check['name']}: {check['message']} {check['next_step']}".rstrip())
        if submission.run:
            self.say(f"Run {submission.run.pk} is {submission.run.state}.")

    def _refuse_failed(self, submissions: Sequence[Submission]) -> None:
        """Raise `CommandError` unless each submission has a run."""
        without_run = [submission for submission in submissions if submission.run is None]
        if not without_run:
            return
        if all(submission.state == Submission.State.WAITING for submission in without_run):
            raise CommandError("The hub does not answer; the worker for checks tries it again.")
        number = f"{len(without_run)} of {len(submissions)} were not" if len(submissions) > 1 else "Not"
        raise CommandError(f"{number} submitted: see the checks above.", returncode=2)


def submitted(
    model: str, on: Sequence[Benchmark], options: Mapping[str, Any], revisions: Sequence[str] = ()
) -> Iterator[Submission]:
    """Store the operator's submissions of a model, and yield each as soon as it is checked, here and now."""
    for submission in receive_all(model, on, options, revisions=revisions, job=False):
        check_job.examine_and_settle(submission)
        submission.refresh_from_db()
        yield submission


def outcome(submission: Submission) -> str:
    """Return in one line what became of a submission."""
    name, run = submission.revision or NEWEST, submission.run
    faults = sorted(
        (check for check in submission.checks if check["state"] in ("failed", "warning")),
        key=lambda check: check["state"] != "failed",
    )
    fault = f"{faults[0]['message']} {faults[0]['next_step']}".strip() if faults else "Not checked."
    return f"{MARKS['ok']} {name}: run {run.pk} is {run.state}." if run else f"{MARKS['failed']} {name}: {fault}"


def follow(run: Run, watch: Callable[[], None] = lambda: None) -> None:
    """Show the progress until the run has ended; raise `CommandError` if it ends without a result.

    A terminal gets a bar; anything else, such as a log, gets a line from time to time. `watch` is called after every
    query and may raise, for example when the worker has died.
    """
    last_line = -LINE_SECONDS
    with tqdm(total=1, bar_format=BAR, disable=None) as bar:
        while True:
            run.refresh_from_db()
            current = progress(run)
            bar.set_description(run.benchmark.title)
            bar.set_postfix_str(in_words(run, current), refresh=False)
            bar.update(current.share - bar.n)
            if bar.disable and (run.state in Run.FINAL or time.monotonic() - last_line >= LINE_SECONDS):
                last_line = time.monotonic()
                print(f"{run.benchmark.title}: {in_words(run, current)}", file=sys.stderr, flush=True)
            if run.state in Run.FINAL:
                break
            watch()
            time.sleep(LOOK_SECONDS)
    if run.state != Run.State.FINISHED:
        raise CommandError(f"Run {run.pk} is {run.state}. {run.message} {run.next_step}".strip())


def in_words(run: Run, current: Progress) -> str:
    """Return state, progress and time left as the pages show them."""
    left = (
        f" · {spelled.approximate_time(current.left)} left"
        if current.left is not None and run.state not in Run.FINAL
        else ""
    )
    return f"{run.state} · {current.percent} % of the work · {current.done:,} of {current.total:,} items{left}"
