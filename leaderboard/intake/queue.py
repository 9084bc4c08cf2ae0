"""What is put into RQ: checks of submissions, runs to be measured and to be finished, and ranks.

The database says what there is to do, and RQ who does it when. Each job has a name of its own, such as `run-17`, and is
never there twice. If Redis loses jobs, `leaderboard.worker.reconciling` puts them in again from the database.
"""

import logging
from contextlib import suppress
from typing import Any

import django_rq
from django.db.models import F
from django.utils import timezone
from redis.exceptions import RedisError
from rq import Queue, Retry
from rq.exceptions import DuplicateJobError, NoSuchJobError
from rq.job import Job

from leaderboard.line import CHECKS, FINISH, MOST_STANDING
from leaderboard.models import Run, Submission
from leaderboard.redis_server import connection
from probing.errors import SourceUnavailable

log = logging.getLogger(__name__)
FUNCTIONS = {
    "run": "leaderboard.worker.jobs.measure_run",
    "finish": "leaderboard.worker.jobs.finish_run",
    "rank": "leaderboard.worker.jobs.rank_benchmark",
    "check": "leaderboard.intake.check_job.check",
    "reconcile": "leaderboard.worker.reconciling.reconcile",
}
RETRIES = 3  # by RQ, at once and before all others, of a job whose process was lost; the database counts and decides
# How long RQ keeps a job that failed all the same, during which it is not put in again. A run fails in the database.
FAILURE_SECONDS = {"rank": 3600}
SHORTLY = 30
UNREACHABLE = "The Redis server does not answer. Start it, correct REDIS_URL, or unset it for the embedded one."
LOSSES = 3  # processes that may be lost on the checks of a submission in a row before it is refused
LOST = {
    "name": "checks",
    "state": "failed",
    "message": f"{LOSSES} processes were lost on the checks of this model.",
    "next_step": "Most likely one of its files takes too much memory or time to read; ask the maintainers.",
    "code": "lost-worker",
}


def rq_queue(name: str) -> Queue:
    """Return a queue of RQ into which jobs are put at once, also inside a transaction."""
    return django_rq.get_queue(name, commit_mode="auto", connection=connection())


def reachable() -> bool:
    try:
        return bool(connection().ping())
    except RedisError:
        return False


def put_job(queue: str, kind: str, *number: int, again: bool = False) -> bool:
    """Put the job of this kind and number into a queue unless it is there; return False if Redis does not answer.

    `again`: forget first what RQ has kept of it from before; the caller knows that it is in no queue and performed by
    no worker.
    """
    name = "-".join([kind, *map(str, number)])
    # A job that is done is forgotten after a second, as its name must be free for the next one.
    options: dict[str, Any] = {"job_id": name, "unique": True, "result_ttl": 1}
    options["failure_ttl"] = FAILURE_SECONDS.get(kind, SHORTLY)
    try:
        jobs = rq_queue(queue)
        try:
            if again:
                with suppress(NoSuchJobError):
                    Job.fetch(name, connection=jobs.connection, serializer=jobs.serializer).delete()
            jobs.enqueue(FUNCTIONS[kind], *number, **options, retry=Retry(RETRIES, enqueue_at_front=True))
        except DuplicateJobError:
            return True
    except RedisError as error:
        log.warning("%s waits; Redis does not answer: %s", name, error)
        return False
    return True


def jobs_in(name: str) -> set[str]:
    """Return the names of the jobs that are in a queue or performed by its workers.

    A job whose worker has sent no heartbeat for too long is put back into the queue by this. Raises `RedisError`.
    """
    jobs = rq_queue(name)
    return {*jobs.started_job_registry.get_job_ids(), *jobs.intermediate_queue.get_job_ids(), *jobs.get_job_ids()}


def enqueue(run_id: int) -> bool:
    """See to it that RQ has a run as soon as it is its turn; return False if Redis does not answer.

    A run that had to wait, for the hub or for disk space, is tried again at once.
    """
    run = Run.objects.filter(pk=run_id).first()
    if run is None or run.state in Run.FINAL:
        return reachable()
    if run.state == Run.State.AGGREGATING:
        return put_job(FINISH, "finish", run.pk)
    if run.state in (Run.State.DOWNLOADING, Run.State.SCORING):
        return put_job(run.queue, "run", run.pk)
    if run.state == Run.State.WAITING:
        Run.objects.move(run, Run.State.QUEUED, "Trying again.")
    return put_in_next(run.queue, run.submitter)


def put_in_next(queue: str, submitter: str) -> bool:
    """Put a submitter's oldest queued runs into RQ until `MOST_STANDING` of them stand there.

    Called whenever one is submitted, begun or cancelled. Returns False if Redis does not answer; the database notes all
    the same that they stand there, so that they are put in when it is back.
    """
    queued = Run.objects.filter(state=Run.State.QUEUED, queue=queue, submitter=submitter)
    free = MOST_STANDING - queued.exclude(standing_since=None).count()
    chosen = queued.filter(standing_since=None).order_by("created", "pk")[:free] if free > 0 else []
    return all(put_job(queue, "run", run.pk) for run in chosen if Run.objects.put_in(run))


def end_outage(code: str) -> None:
    """Try all at once that wait because of the error with this code; one of them has just shown that it has passed."""
    for run in Run.objects.filter(state=Run.State.WAITING, code=code).order_by("pk"):
        Run.objects.move(run, Run.State.QUEUED, "Trying again.", code="")
        put_in_next(run.queue, run.submitter)
    if code == SourceUnavailable.code:
        for pk in Submission.objects.filter(state=Submission.State.WAITING).order_by("pk").values_list("pk", flat=True):
            enqueue_check(pk)


def enqueue_check(submission_id: int) -> bool:
    """Have a submission checked; return False if Redis does not answer."""
    return put_job(CHECKS, "check", submission_id)


def enqueue_next_check(submission: Submission) -> None:
    """Enqueue the check of the next one of those that were sent together with this submission, if one is left.

    Each group has one job in the queue, so that a long series of revisions does not keep others from their checks.
    """
    together = Submission.objects.filter(group=submission.group, state=Submission.State.CHECKING)
    if submission.group and (following := together.exclude(pk=submission.pk).order_by("pk").first()):
        enqueue_check(following.pk)


def note_lost_check(submission_id: int) -> None:
    """Count a process that was killed while it checked this submission; after `LOSSES` in a row, refuse it."""
    submission = Submission.objects.filter(pk=submission_id, state__in=Submission.PENDING)
    submission.update(losses=F("losses") + 1)
    refused = {"state": Submission.State.REFUSED, "checks": [LOST], "checked": timezone.now()}
    submission.filter(losses__gte=LOSSES).update(**refused)
