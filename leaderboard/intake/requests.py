"""What a submitter asks for: to have a model measured, to withdraw that, and to try it again.

A request is answered at once and asks the hub nothing. It stores a `Submission`, and a job checks the model.
"""

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import OperationalError, transaction
from django.utils import timezone

from leaderboard.intake import check_queue, queue, quotas
from leaderboard.intake.checks import refuse_malformed
from leaderboard.intake.model_names import parse_name, refuse_revision
from leaderboard.models import Benchmark, Run, Submission
from probing.errors import BadInput, ProbingError
from probing.probes import probe_of

State = Submission.State
UNSUCCESSFUL = (Run.State.FAILED, Run.State.CANCELLED)
FRESH = timedelta(minutes=10)  # how long the commit that the hub named counts as the newest one
LOOKED_AT = 20  # submissions of the same model, each perhaps with other options
OPTIONS_LENGTH = 10_000  # characters as JSON


class SiteBusy(ProbingError):
    """The database did not answer in time."""

    code = "site-busy"
    permanent = False
    retry_after = 60


def receive_all(
    model: str, benchmarks: Sequence[Benchmark], options: Mapping[str, Any], *, submitter: str = ""
) -> list[Submission]:
    """Store one submission for each benchmark; either all of them are stored or, if there is an error, none."""
    group = secrets.token_urlsafe(32) if len(benchmarks) > 1 else ""
    with _busy(), transaction.atomic():
        return [receive(model, benchmark, options, submitter=submitter, group=group) for benchmark in benchmarks]


def receive(
    model: str,
    benchmark: Benchmark,
    options: Mapping[str, Any],
    *,
    submitter: str = "",
    group: str = "",
    job: bool = True,
) -> Submission:
    """Store a submission and enqueue its check; one that repeats a known run is answered with the run at once.

    `model`: its id, or the address of its page at the hub. `group`: shared by the submissions that were sent together.
    Raises `BadInput` if the id or an option is not valid, `OverQuota` or `QueueFull` if a limit is reached, `SiteBusy`
    if nothing could be stored. Without `job`, the caller checks the submission.
    """
    model_id, revision = parse_name(model)
    refuse_malformed(model_id)
    refuse_revision(revision)
    probe_of(benchmark.settings_with(options))
    _refuse_unstorable(options)
    submission = Submission(
        token=secrets.token_urlsafe(32),
        group=group,
        model_id=model_id,
        revision=revision,
        benchmark=benchmark,
        options=dict(options),
        submitter=submitter,
    )
    with _busy():
        if not _repeats(submission):
            quotas.refuse_haste(submitter)
            with transaction.atomic():
                quotas.lock()
                quotas.refuse_excess(submitter)
                submission.save()
                if job:
                    transaction.on_commit(partial(check_queue.enqueue, submission.pk))
    return submission


def withdraw(submission: Submission) -> None:
    """Withdraw a submission; its run is cancelled if nobody else submitted the same and it has not ended.

    Raises `BadInput` if there is nothing to withdraw any more.
    """
    with _busy(), transaction.atomic():
        quotas.lock()
        run = _current(submission)
        if not can_withdraw(submission):
            raise BadInput("There is nothing left to cancel.", "See the state of the submission.")
        _change(submission, State.WITHDRAWN)
        if run and _concerns_nobody_else(submission, run):
            Run.objects.cancel(run, "Cancelled by its submitter.")


def retry(submission: Submission) -> None:
    """Queue a failed or cancelled run again, or check again a model that was refused or withdrawn.

    Raises `BadInput` if nothing has ended without a result, and the errors of `receive` if a limit is reached.
    """
    if not submission.run:
        quotas.refuse_haste(submission.submitter)
    with _busy(), transaction.atomic():
        quotas.lock()
        run = _current(submission)
        if not can_retry(submission):
            raise BadInput("There is nothing to try again.", "See the state of the submission.")
        quotas.refuse_excess(submission.submitter)
        if run:
            _change(submission, State.ACCEPTED, duplicate=False)  # it counts for the one who asks for it again
            Run.objects.restart(run)
            transaction.on_commit(partial(queue.enqueue, run.pk))
        else:
            _change(submission, State.CHECKING, checks=[], losses=0)
            transaction.on_commit(partial(check_queue.enqueue, submission.pk))


def can_withdraw(submission: Submission) -> bool:
    """Tell whether it is open: not checked yet, or with a run that has not ended."""
    run = submission.run
    return submission.state in quotas.PENDING or bool(
        submission.state == State.ACCEPTED and run and run.state not in Run.FINAL
    )


def can_retry(submission: Submission) -> bool:
    """Tell whether it ended without a result."""
    if submission.run:
        return submission.run.state in UNSUCCESSFUL
    return submission.state in (State.REFUSED, State.WITHDRAWN)


def _repeats(submission: Submission) -> bool:
    """Store the submission with the run that measures the same, if the hub named that run's commit a moment ago."""
    same = Submission.objects.filter(
        model_id=submission.model_id,
        revision=submission.revision,
        benchmark=submission.benchmark,
        state=State.ACCEPTED,
        checked__gt=timezone.now() - FRESH,
        run__isnull=False,
    ).exclude(run__state__in=UNSUCCESSFUL)
    for other in same.select_related("run").defer("checks").order_by("-pk")[:LOOKED_AT]:
        if other.options == submission.options:
            submission.run, submission.checked, submission.checks = other.run, other.checked, other.checks
            submission.state, submission.duplicate = State.ACCEPTED, True
            submission.save()
            return True
    return False


def _current(submission: Submission) -> Run | None:
    """Read the state of a submission and of its run, which no other process can change before the transaction ends."""
    submission.refresh_from_db(from_queryset=Submission.objects.select_for_update())
    submission.run = Run.objects.select_for_update().filter(submissions=submission).first()
    return submission.run


def _change(submission: Submission, state: State, **fields: Any) -> None:
    submission.state = state
    for name, value in fields.items():
        setattr(submission, name, value)
    submission.save(update_fields=["state", *fields])


def _concerns_nobody_else(submission: Submission, run: Run) -> bool:
    """Tell whether no other submission wants the run; one that no submission created is the operator's."""
    created = run.submissions.filter(duplicate=False).exists()
    return created and not run.submissions.filter(state=State.ACCEPTED).exclude(pk=submission.pk).exists()


def _refuse_unstorable(options: Mapping[str, Any]) -> None:
    text = json.dumps(dict(options))
    if len(text) > OPTIONS_LENGTH or "\\u0000" in text:
        raise BadInput("The options are too long, or they contain a null character.", "Shorten them.")


@contextmanager
def _busy() -> Iterator[None]:
    """Turn the error of a database that is locked or away into one that tells the submitter to come again."""
    try:
        yield
    except OperationalError as error:
        raise SiteBusy("The site is busy and stored nothing.", "Send it again in a minute.") from error
