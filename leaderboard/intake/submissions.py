"""From a submitter's wish to a run: received, checked, and measured once; withdrawn and tried again.

The check job calls the steps from `examined` to `accept` one by one, so that the database is locked only for the last
of them.
"""

import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from django.conf import settings
from django.db import OperationalError, transaction

from leaderboard import line
from leaderboard.figures import benchmarks as benchmarks_module
from leaderboard.intake import hub, queue, quotas
from leaderboard.intake.checks import Check, Examination, adapter_bytes, examine, refuse_malformed
from leaderboard.intake.hub import NEWEST, parse_name, refuse_revision
from leaderboard.models import Benchmark, Model, Run, RunEvent, RunPart, Submission
from leaderboard.ui.visible import visible
from probing.errors import BadInput, ProbingError
from probing.kinds import Kind
from probing.plan import Part, Plan
from probing.probes import probe_of
from probing.settings import LM_EVAL
from probing.time_left import estimate_work

OPTIONS_LENGTH = 10_000  # characters as JSON


class SiteBusy(ProbingError):
    """The database did not answer in time."""

    code = "site-busy"
    permanent = False
    retry_after = 60


def examined(
    model_id: str,
    benchmark: Benchmark,
    options: Mapping[str, Any],
    *,
    revision: str = "",
    submitter: str = "",
    on_check: Callable[[Check], None] | None = None,
) -> Examination:
    """Run every check of a model, at its newest commit unless a revision is named.

    `on_check` is called after each check. Raises `BadInput` if an option is not valid.
    """
    plan = benchmarks_module.usual_plan(benchmark, options)
    dtype_chosen = "dtype" in options or plan.settings.protocol == LM_EVAL
    examination = Examination(model_id.strip(), benchmark, plan, submitter, revision, dtype_chosen=dtype_chosen)
    return examine(examination, on_check)


def queue_of(examination: Examination) -> str:
    """Return the queue of a model that passed its checks; for its size, the hub may be asked once more."""
    listing = examination.listing
    return line.queue_of(hub.weight_bytes(listing) + adapter_bytes(examination) if listing else None)


def expected_work(examination: Examination) -> dict[Part, float]:
    """Return the parts of the run, each with its expected number of token positions.

    The numbers are the same for every model of one kind, so they are taken from an earlier run where there is one.
    """
    earlier = Run.objects.filter(
        benchmark=examination.benchmark,
        settings_digest=examination.settings.digest,
        model__kind=examination.kind,
        parts__isnull=False,
    ).first()
    if earlier:
        return {part.covered: part.work for part in earlier.parts.order_by("pk")}
    return _estimated(examination.plan, examination.kind or "causal")


def _estimated(plan: Plan, kind: Kind) -> dict[Part, float]:
    return {part: estimate_work(plan, part, kind).work for part in plan.parts}


def usual_positions(benchmark: Benchmark, options: Mapping[str, Any]) -> float:
    """Return the expected number of token positions of a run of a causal model."""
    chosen, usual = (benchmarks_module.usual_plan(benchmark, values) for values in (options, {}))
    if benchmark.work is not None and chosen.settings.digest == usual.settings.digest:
        return benchmark.work
    return sum(_estimated(chosen, "causal").values())


@transaction.atomic
def accept(examination: Examination, queue_name: str, work: Mapping[Part, float]) -> tuple[Run, bool]:
    """Make sure that one run measures a model that passed its checks; return it, and whether it was there already.

    One that failed or was cancelled is queued again. `work`: the parts of the run with their expected work.
    """
    run, new = _create(examination, queue_name, work)
    again = not new and run.state in Run.UNSUCCESSFUL and Run.objects.restart(run)
    transaction.on_commit(partial(queue.enqueue, run.pk))
    return run, not (new or again)


def _create(examination: Examination, queue_name: str, work: Mapping[Part, float]) -> tuple[Run, bool]:
    """Return the run of these settings, and True if it is new; two callers at the same time get the same run."""
    run, new = Run.objects.get_or_create(
        model=_model(examination),
        benchmark=examination.benchmark,
        settings_digest=examination.settings.digest,
        defaults={
            "settings": examination.settings.to_json(),
            "state": Run.State.QUEUED,
            "submitter": examination.submitter,
            "queue": queue_name,
            "waiting_work": sum(work.values()),
        },
    )
    if new:
        rows = (RunPart(run=run, work=positions, **part._asdict()) for part, positions in work.items())
        RunPart.objects.bulk_create(rows)
        RunEvent.objects.create(run=run, state=run.state, message="Submitted.")
    return run, new


def _quantisation(examination: Examination) -> str:
    """Return how the weights are quantised, as a GGUF file or a config says; empty where they are not."""
    if examination.quantisation:
        return examination.quantisation.title
    is_file = examination.listing is not None and examination.listing.gguf is not None
    return str((examination.config or {}).get("quantisation", "")) if is_file else ""


def _model(examination: Examination) -> Model:
    """Return the row of the model. What its card and config say is text of a stranger, so it is made visible."""
    listing, weights = examination.listing, examination.weights
    assert listing is not None and weights is not None, "a model that passed its checks has a listing and weights"
    facts = {
        "weight_bytes": weights.bytes + adapter_bytes(examination),
        "parameters": weights.parameters,
        "idle_parameters": examination.idle_parameters,
        "hub_created": (examination.adapter or listing).created,
        "stored_dtype": weights.dtype,
        "weights_file": visible(listing.gguf.name)[:200] if listing.gguf else "",
        "quantisation": _quantisation(examination)[:20],
        "kind": examination.kind,
        "architecture": visible(examination.architecture)[:100],
        "licence": visible(listing.licence)[:100],
        "base_model": visible(listing.base_model)[:200],
    }
    identity = {"commit": listing.commit, "adapter_commit": examination.adapter_commit, "source": examination.source}
    model, _ = Model.objects.get_or_create(hub_id=examination.name, **identity, defaults=facts)
    changed = ["revision", "step", "tokens"] if model.name_revision(examination.revision) else []
    for name in ("idle_parameters", "hub_created", "base_model"):  # which rows of older versions of the site lack
        if getattr(model, name) in (None, "") and facts[name] not in (None, ""):
            setattr(model, name, facts[name])
            changed.append(name)
    if changed:
        model.save(update_fields=changed)
    return model


# What a submitter asks for: to have a model measured, to withdraw that, and to try it again.
#
# A request is answered at once and asks the hub nothing. It stores a `Submission`, and a job checks the model.


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

    `model`: its id, or the address of its page at the hub. Raises `BadInput` if the id, a revision or an option is not
    valid, `OverQuota` or `QueueFull` if a limit is reached, `SiteBusy` if nothing could be stored. Without `job`, the
    caller checks the submissions.
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
    for _ in {submission.benchmark_id for submission in submissions}:
        quotas.refuse_haste(submitter)
    with transaction.atomic():
        quotas.lock()
        quotas.refuse_excess(submitter, len(submissions))
        Submission.objects.bulk_create(submissions)
        if job:
            transaction.on_commit(partial(queue.enqueue_check, submissions[0].pk))


def withdraw(submission: Submission) -> None:
    """Withdraw a submission; its run is cancelled if nobody else submitted the same and it has not ended.

    Raises `BadInput` if there is nothing to withdraw any more.
    """
    with _busy(), transaction.atomic():
        quotas.lock()
        run = _current(submission)
        if not can_withdraw(submission):
            raise BadInput("There is nothing left to cancel.", "See the state of the submission.")
        _change(submission, Submission.State.WITHDRAWN)
        if run and _concerns_nobody_else(submission, run):
            Run.objects.cancel(run, "Cancelled by its submitter.")
            transaction.on_commit(partial(queue.put_in_next, run.queue, run.submitter))


def withdraw_all(submission: Submission) -> None:
    """Withdraw every open submission of those that were sent together with this one, as `withdraw` does."""
    together = Submission.objects.filter(group=submission.group).exclude(group="").select_related("run")
    for one in together.order_by("pk"):
        if can_withdraw(one):
            with suppress(BadInput):  # it has ended in the meantime
                withdraw(one)


def retry(submission: Submission) -> None:
    """Queue a failed or cancelled run again, or check again a model that was refused or withdrawn.

    Raises `BadInput` if nothing has ended without a result, and the errors of `receive_all` if a limit is reached.
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
            # It counts for the one who asks for it again.
            _change(submission, Submission.State.ACCEPTED, duplicate=False)
            Run.objects.restart(run)
            transaction.on_commit(partial(queue.enqueue, run.pk))
        else:
            _change(submission, Submission.State.CHECKING, checks=[], losses=0)
            transaction.on_commit(partial(queue.enqueue_check, submission.pk))


def can_withdraw(submission: Submission) -> bool:
    """Tell whether it is open: not checked yet, or with a run that has not ended."""
    run = submission.run
    return submission.state in Submission.PENDING or bool(
        submission.state == Submission.State.ACCEPTED and run and run.state not in Run.FINAL
    )


def can_retry(submission: Submission) -> bool:
    """Tell whether it ended without a result."""
    if submission.run:
        return submission.run.state in Run.UNSUCCESSFUL
    return submission.state in (Submission.State.REFUSED, Submission.State.WITHDRAWN)


def _current(submission: Submission) -> Run | None:
    """Read the state of a submission and of its run, which no other process can change before the transaction ends."""
    submission.refresh_from_db(from_queryset=Submission.objects.select_for_update())
    submission.run = Run.objects.select_for_update().filter(submissions=submission).first()
    return submission.run


def _change(submission: Submission, state: Submission.State, **fields: Any) -> None:
    submission.state = state
    for name, value in fields.items():
        setattr(submission, name, value)
    submission.save(update_fields=["state", *fields])


def _concerns_nobody_else(submission: Submission, run: Run) -> bool:
    """Tell whether no other submission wants the run; one that no submission created is the operator's."""
    created = run.submissions.filter(duplicate=False).exists()
    return created and not run.submissions.filter(state=Submission.State.ACCEPTED).exclude(pk=submission.pk).exists()


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
