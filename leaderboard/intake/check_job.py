"""The job that checks a submission and, if the model passes, creates its run. It never loads torch."""

import logging
import signal
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from types import FrameType
from typing import Any

from django.db import transaction
from django.utils import timezone
from rq.timeouts import UnixSignalDeathPenalty

from leaderboard.figures.artefacts import UNAVAILABLE, patiently
from leaderboard.intake import hub, queue, submissions
from leaderboard.intake.checks import DEADLINE, Check, Examination
from leaderboard.models import Submission
from leaderboard.ui.visible import visible
from probing.errors import ProbingError, SourceUnavailable

log = logging.getLogger(__name__)
HUB_OUTAGE = timedelta(days=3)  # how long a submission may wait for a hub that does not answer
LOCAL_DEADLINE = 100  # seconds for those of a local model, all of whose files are read when they are new
PAUSE = 0.5  # seconds between two updates of the checks that the page shows
MESSAGE_LENGTH = 1000  # characters
QUEUE_DOWN = Check(
    "queue",
    "warning",
    "The queue server does not answer; the run is kept and starts when it is back.",
    "Nothing to do.",
)


class DeadlinePassed(BaseException):
    """The checks have taken too long. It is no `Exception`, so that no library that asks the hub can swallow it."""


class Deadline(UnixSignalDeathPenalty):
    """A time limit that is enforced every second again: an exception is lost while an object is being deleted."""

    def handle_death_penalty(self, signum: int, frame: FrameType | None) -> None:
        signal.alarm(1)
        super().handle_death_penalty(signum, frame)  # type: ignore[no-untyped-call]  # rq has no types here


class ChecksSoFar:
    """The checks of a submission in progress, stored now and then for its page."""

    def __init__(self, submission: Submission) -> None:
        self.submission = submission
        self.checks: list[Check] = []
        self.stored = time.monotonic()

    def add(self, check: Check) -> None:
        self.checks.append(check)
        if time.monotonic() - self.stored > PAUSE:
            _pending(self.submission).update(checks=to_json(self.checks))
            self.stored = time.monotonic()


def check(submission_id: int) -> None:
    """Check a submission that is open, and then call for the check of the next one that was sent with it."""
    submission = patiently(Submission.objects.select_related("benchmark").filter(pk=submission_id).first)
    if submission is None:
        return
    if submission.state in Submission.PENDING:
        examine_and_settle(submission)
    if submission.state in (*Submission.PENDING, Submission.State.WITHDRAWN):
        patiently(queue.enqueue_next_check, submission)


def examine_and_settle(submission: Submission) -> None:
    """Check an open submission and store the outcome; every error but that of the database is an outcome."""
    so_far = ChecksSoFar(submission)
    try:
        # Leaving the block also ends the alarm of RQ, whose parent process still ends a job that takes too long.
        seconds = LOCAL_DEADLINE if hub.is_local(submission.model_id) else DEADLINE
        with Deadline(seconds, DeadlinePassed):  # type: ignore[no-untyped-call]
            examination = submissions.examined(
                submission.model_id,
                submission.benchmark,
                submission.options,
                revision=submission.revision,
                submitter=submission.submitter,
                on_check=so_far.add,
            )
            passed = not examination.failed and not examination.waiting
            queue_name = submissions.queue_of(examination) if passed else ""
        _settle(submission, examination, queue_name)
        if submission.state == Submission.State.WAITING and not examination.waiting:
            queue.end_outage(SourceUnavailable.code)
    except DeadlinePassed:
        late = f"The checks were not finished within {seconds} seconds, because the hub or this machine is slow."
        _wait(submission, [*so_far.checks, _failure(SourceUnavailable(late, "They are repeated in a few minutes."))])
    except ProbingError as error:
        end = _refuse if error.permanent else _wait
        end(submission, [*so_far.checks, _failure(error)])
    except UNAVAILABLE as error:
        log.warning("Submission %s stays open and is checked again: %s", submission.pk, error)
    except Exception:
        log.exception("The checks of submission %s failed.", submission.pk)
        unforeseen = ProbingError("An unexpected error occurred.", "Try again later, or ask the maintainers.")
        unforeseen.code = "internal"
        _refuse(submission, [*so_far.checks, _failure(unforeseen)])


def to_json(checks: Sequence[Check]) -> list[dict[str, str]]:
    """Return checks as they are stored. Their messages quote strangers, so that hidden characters are written out."""
    return [{name: visible(value)[:MESSAGE_LENGTH] for name, value in asdict(check).items()} for check in checks]


def _settle(submission: Submission, examination: Examination, queue_name: str) -> None:
    """Store what the checks led to. A submission that was withdrawn in the meantime creates no run.

    `queue_name`: the queue of the run if the model passed.
    """
    if examination.failed:
        _refuse(submission, examination.checks)
    elif examination.waiting:
        _wait(submission, examination.checks)
    else:
        work = submissions.expected_work(examination)
        checks = examination.checks if queue.reachable() else (*examination.checks, QUEUE_DOWN)
        with transaction.atomic():
            run, is_duplicate = submissions.accept(examination, queue_name, work)
            if not _store(submission, Submission.State.ACCEPTED, checks, run=run, duplicate=is_duplicate):
                transaction.set_rollback(True)


def _refuse(submission: Submission, checks: Sequence[Check]) -> None:
    _store(submission, Submission.State.REFUSED, checks)


def _wait(submission: Submission, checks: Sequence[Check]) -> None:
    """Let a submission wait for the hub; after days of it, refuse it."""
    waiting = timezone.now() - submission.created < HUB_OUTAGE
    _store(submission, Submission.State.WAITING if waiting else Submission.State.REFUSED, checks)


def _failure(error: ProbingError) -> Check:
    return Check("checks", "failed" if error.permanent else "warning", error.message, error.next_step, error.code)


def _store(submission: Submission, state: Submission.State, checks: Sequence[Check], **facts: Any) -> bool:
    """Store the outcome; return False if the submission is no longer open."""
    facts |= {"state": state, "checks": to_json(checks), "checked": timezone.now(), "losses": 0}
    return bool(_pending(submission).update(**facts))


def _pending(submission: Submission) -> Any:
    return Submission.objects.filter(pk=submission.pk, state__in=Submission.PENDING)
