"""The queue of submissions to be checked. As with runs, the database says what there is to do, and Redis wakes workers.

It is a queue of its own, so that checks, which take seconds, never wait behind a measurement, which takes hours.
"""

import logging
from datetime import timedelta

import django_rq
from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone
from redis.exceptions import RedisError

from leaderboard.models import LEASE, Submission

log = logging.getLogger(__name__)
QUEUE = "checks"
JOB = "leaderboard.intake.check_job.check"
RESTS = 10  # while a hub is silent, the checks of all that wait for it must leave room for new submissions

LOSSES = 3  # processes that may be lost on the checks of a submission in a row before it is refused
LOST = {
    "name": "checks",
    "state": "failed",
    "message": f"{LOSSES} processes were lost on the checks of this model.",
    "next_step": "Most likely one of its files takes too much memory or time to read; ask the maintainers.",
    "code": "lost-worker",
}


def enqueue(submission_id: int) -> bool:
    """Enqueue a job that checks this submission; return False if Redis does not answer."""
    try:
        queue = django_rq.get_queue(QUEUE, commit_mode="auto")
        queue.enqueue(JOB, submission_id, job_id=_job_id(submission_id), failure_ttl=3600)
    except RedisError as error:
        log.warning("Submission %s waits for its check; Redis does not answer: %s", submission_id, error)
        return False
    return True


def enqueue_next(submission: Submission) -> None:
    """Enqueue the check of the next one of those that were sent together with this submission, if one is left.

    Each group has one job in the queue, so that a long series of revisions does not keep others from their checks.
    """
    together = Submission.objects.filter(group=submission.group, state=Submission.State.CHECKING)
    if submission.group and (following := together.exclude(pk=submission.pk).order_by("pk").first()):
        enqueue(following.pk)


def resume_submissions(patience: timedelta = timedelta(0)) -> int:
    """Enqueue every submission whose job was lost, and those that wait for the hub; return their number.

    Of those that were sent together, the first is enqueued, and the others follow after it.
    One that waits is left alone until its last check is `RESTS` times as old as `patience`, that of runs.
    """
    now = timezone.now()
    before = Submission.objects.filter(group=OuterRef("group"), state=Submission.State.CHECKING, pk__lt=OuterRef("pk"))
    lost = Q(state=Submission.State.CHECKING, created__lt=now - LEASE) & (Q(group="") | ~Exists(before))
    rested = Q(state=Submission.State.WAITING) & (Q(checked=None) | Q(checked__lte=now - RESTS * patience))
    ids = list(Submission.objects.filter(lost | rested).order_by("pk").values_list("pk", flat=True))
    try:
        queued = set(django_rq.get_queue(QUEUE).get_job_ids()) if ids else set()
    except RedisError as error:
        log.warning("%s submissions wait for their checks; Redis does not answer: %s", len(ids), error)
        return 0
    return sum(enqueue(pk) for pk in ids if _job_id(pk) not in queued)


def note_loss(submission_id: int) -> None:
    """Count a process that was killed while it checked this submission; after `LOSSES` in a row, refuse it."""
    pending = (Submission.State.CHECKING, Submission.State.WAITING)
    submission = Submission.objects.filter(pk=submission_id, state__in=pending)
    submission.update(losses=F("losses") + 1)
    refused = {"state": Submission.State.REFUSED, "checks": [LOST], "checked": timezone.now()}
    submission.filter(losses__gte=LOSSES).update(**refused)


def forget_refused() -> int:
    """Delete submissions that were refused or withdrawn long ago and led to no run; return their number."""
    if not settings.REFUSED_DAYS:
        return 0
    ended = Submission.objects.filter(state__in=(Submission.State.REFUSED, Submission.State.WITHDRAWN), run=None)
    return ended.filter(created__lt=timezone.now() - timedelta(days=settings.REFUSED_DAYS)).delete()[0]


def try_longest_waiting(patience: timedelta) -> None:
    """Enqueue the submission that has waited longest for the hub, if its last check is `patience` old.

    It shows whether the hub is back; if it is not, the next one has its turn.
    """
    waiting = Submission.objects.filter(state=Submission.State.WAITING, checked__lte=timezone.now() - patience)
    if submission := waiting.order_by("checked").first():
        try:
            queued = _job_id(submission.pk) in django_rq.get_queue(QUEUE).get_job_ids()
        except RedisError:
            return
        if not queued:
            enqueue(submission.pk)


def _job_id(submission_id: int) -> str:
    return f"check-{submission_id}"
