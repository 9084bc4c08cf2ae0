"""What a submitter asks for: to have a model measured, to withdraw that, and to try it again.

A request is answered at once and asks the hub nothing. It stores a `Submission`, and a job checks the model.
"""

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import OperationalError, transaction
from django.utils import timezone

from leaderboard.intake import check_queue, hub, queue, quotas
from leaderboard.intake.checks.identity import refuse_malformed
from leaderboard.intake.model_names import NEWEST, parse_name, refuse_revision
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
    model: str,
    benchmarks: Sequence[Benchmark],
    options: Mapping[str, Any],
    *,
    revisions: Sequence[str] = (),
    submitter: str = "",
    job: bool = True,
) -> list[Submission]:
    """Store a submission for each revision and benchmark, or none of them if there is an error; enqueue their checks.

    One that repeats a known run is answered with the run at once. `model`: its id, or the address of its page at the
    hub. Raises `BadInput` if the id, a revision or an option is not valid, `OverQuota` or `QueueFull` if a limit is
    reached, `SiteBusy` if nothing could be stored. Without `job`, the caller checks the submissions.
    """
    model_id, names = named_revisions(model, revisions)
    for benchmark in benchmarks:
        probe_of(benchmark.settings_with(options))
    _refuse_unstorable(options)
    group = secrets.token_urlsafe(32) if len(benchmarks) * len(names) > 1 else ""
    submissions = [
        Submission(
            token=secrets.token_urlsafe(32),
            group=group,
            model_id=model_id,
            revision=revision,
            benchmark=benchmark,
            options=dict(options),
            submitter=submitter,
        )
        for revision in names
        for benchmark in benchmarks
    ]
    with _busy():
        _store(submissions, submitter, job)
    return submissions


def receive(
    model: str, benchmark: Benchmark, options: Mapping[str, Any], *, submitter: str = "", job: bool = True
) -> Submission:
    """Store the submission of a model at one revision for one benchmark, as `receive_all` does."""
    return receive_all(model, [benchmark], options, submitter=submitter, job=job)[0]


def named_revisions(model: str, revisions: Sequence[str]) -> tuple[str, list[str]]:
    """Return the id of a model and the revisions that are meant, each once; the newest is an empty text.

    Raises `BadInput` if the id or a revision is not valid, or there are more than one submission takes.
    """
    model_id, revision = parse_name(model)
    refuse_malformed(model_id)
    if revision and revisions:
        raise BadInput(f"The address names the revision {revision[:100]!a} already.", "Give the model's id alone.")
    names = list(dict.fromkeys("" if name == NEWEST else name for name in revisions or [revision]))
    for name in names:
        refuse_revision(name)
    if any(names) and hub.is_local(model_id):
        raise BadInput(f"{model_id} is a local model of this site, which has no revisions.", "Leave them out.")
    limit = settings.REVISIONS_LIMIT
    if limit and len(names) > limit:
        raise BadInput(f"These are {len(names):,} revisions; one submission takes {limit:,}.", "Send them in parts.")
    return model_id, names


def _store(submissions: Sequence[Submission], submitter: str, job: bool) -> None:
    """Store all submissions and enqueue their checks, or raise an error of a limit.

    The revisions of a model count as one check of those that are allowed within a minute.
    """
    repeated = _with_known_runs(submissions)
    new = [submission for submission in submissions if submission not in repeated]
    for _ in {submission.benchmark_id for submission in new}:
        quotas.refuse_haste(submitter)
    with transaction.atomic():
        if new:
            quotas.lock()
            quotas.refuse_excess(submitter, len(new))
        Submission.objects.bulk_create(submissions)
        if job and new:
            transaction.on_commit(partial(check_queue.enqueue, new[0].pk))


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


def withdraw_all(submission: Submission) -> None:
    """Withdraw every open submission of those that were sent together with this one, as `withdraw` does."""
    together = Submission.objects.filter(group=submission.group).exclude(group="").select_related("run")
    for one in together.order_by("pk"):
        if can_withdraw(one):
            with suppress(BadInput):  # it has ended in the meantime
                withdraw(one)


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


def _with_known_runs(submissions: Sequence[Submission]) -> list[Submission]:
    """Return those that ask for a run whose commit the hub named a moment ago, with that run as their outcome."""
    accepted = Submission.objects.filter(
        model_id=submissions[0].model_id,
        revision__in={submission.revision for submission in submissions},
        benchmark__in={submission.benchmark for submission in submissions},
        state=State.ACCEPTED,
        checked__gt=timezone.now() - FRESH,
        run__isnull=False,
    ).exclude(run__state__in=UNSUCCESSFUL)
    latest = list(accepted.select_related("run").order_by("-pk")[: LOOKED_AT * len(submissions)])
    repeated = []
    for submission in submissions:
        same = (other for other in latest if _is_the_same(submission, other))
        if other := next(same, None):
            submission.run, submission.checked, submission.checks = other.run, other.checked, other.checks
            submission.state, submission.duplicate = State.ACCEPTED, True
            repeated.append(submission)
    return repeated


def _is_the_same(submission: Submission, other: Submission) -> bool:
    """Tell whether two submissions of a model ask for the same measurement."""
    names = ("revision", "benchmark_id", "options")
    return all(getattr(submission, name) == getattr(other, name) for name in names)


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
