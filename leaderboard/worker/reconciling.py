"""The job that makes RQ agree with the database: it puts in whatever should be there and is not.

A job is missing after Redis was emptied, killed, replaced by an older copy or could not be reached, and after a worker
was lost. `manage.py rqcron` calls for this job every half minute, every worker does the same when it starts, and
`manage.py requeue` does it at once. It also tries again what has waited for the hub or for disk space, and removes what
killed processes left in the artefact storage. There is no other maintenance.
"""

from datetime import timedelta

from django.conf import settings
from django.db.models import Count, Exists, F, Max, OuterRef, Q
from django.utils import timezone
from redis.exceptions import RedisError

from leaderboard.figures import artefacts
from leaderboard.figures.artefacts import patiently
from leaderboard.figures.ranks import unranked_benchmarks
from leaderboard.figures.runs import WORKING
from leaderboard.intake import queue
from leaderboard.line import CHECKS, FINISH, MOST_STANDING, QUEUES
from leaderboard.models import Claim, Run, RunEvent, Submission

State = Run.State
CHECKING = Submission.State.CHECKING
SECONDS = 30  # between two such jobs
RETRY_AFTER = timedelta(minutes=5)  # how long a waiting run rests before it is tried again
TRIAL_AFTER = timedelta(seconds=25)  # the same for what has waited longest, which shows whether the fault ended
RESTS = 10  # while a hub is silent, the checks of all that wait for it must leave room for new submissions
UNCHECKED = timedelta(seconds=30)  # after which a submission without a check must have been lost
RECENT = timedelta(minutes=10)


def reconcile() -> None:
    """Put into RQ what should be there, and tidy up: the job of RQ."""
    patiently(put_back, RETRY_AFTER)
    patiently(try_longest_waiting)
    patiently(remove_leftovers)
    patiently(forget_refused)


def put_back(patience: timedelta = timedelta(0)) -> int:
    """Put into RQ what should be there and is not; return the number of runs that stand in its queues then.

    Runs and submissions that wait for the hub or for disk space are tried again once they have waited for `patience`.
    Does nothing if Redis does not answer.
    """
    try:
        present = {job for name in (*QUEUES, CHECKS, FINISH) for job in queue.jobs_in(name)}
    except RedisError:
        return 0
    _put_back_runs(present, patience)
    _put_back_checks(present, patience)
    for benchmark in unranked_benchmarks():
        queue.put_job(FINISH, "rank", benchmark.pk)
    return Run.objects.filter(state=State.QUEUED).exclude(standing_since=None).count()


def _put_back_runs(present: set[str], patience: timedelta) -> None:
    recent = RunEvent.objects.filter(time__gt=timezone.now() - patience).values("run")
    for run in Run.objects.filter(state=State.WAITING).exclude(pk__in=recent).order_by("pk"):
        Run.objects.move(run, State.QUEUED, "Trying again.")
    standing = Q(state=State.QUEUED, standing_since__isnull=False)
    forsaken = Q(state__in=WORKING) & ~Q(pk__in=Claim.objects.fresh().values("run"))
    for run in Run.objects.filter(standing | forsaken).order_by("standing_since", "pk"):
        kind, name = ("finish", FINISH) if run.state == State.AGGREGATING else ("run", run.queue)
        if f"{kind}-{run.pk}" not in present:
            queue.put_job(name, kind, run.pk, again=True)
    counts = Run.objects.filter(state=State.QUEUED).order_by().values("queue", "submitter")
    counts = counts.annotate(standing=Count("standing_since"), number=Count("pk"))
    for count in counts.filter(standing__lt=MOST_STANDING, number__gt=F("standing")):
        queue.put_in_next(count["queue"], count["submitter"])


def _put_back_checks(present: set[str], patience: timedelta) -> None:
    """Enqueue every submission whose job was lost, and those that wait for the hub.

    Of those that were sent together, the first is enqueued, and the others follow after it.
    One that waits is left alone until its last check is `RESTS` times as old as `patience`, that of runs.
    """
    now = timezone.now()
    before = Submission.objects.filter(group=OuterRef("group"), state=CHECKING, pk__lt=OuterRef("pk"))
    lost = Q(state=CHECKING, created__lt=now - UNCHECKED) & (Q(group="") | ~Exists(before))
    rested = Q(state=Submission.State.WAITING) & (Q(checked=None) | Q(checked__lte=now - RESTS * patience))
    for pk in Submission.objects.filter(lost | rested).order_by("pk").values_list("pk", flat=True):
        if f"check-{pk}" not in present:
            queue.put_job(CHECKS, "check", pk, again=True)


def try_longest_waiting() -> None:
    """Try one waiting run and one waiting submission again.

    So an outage of minutes costs seconds, and one of hours does not occupy the workers. Each gets its turn, as the one
    that was tried again has waited for the shortest time.
    """
    now = timezone.now()
    recent = RunEvent.objects.filter(time__gt=now - TRIAL_AFTER).values("run")
    waiting = Run.objects.filter(state=State.WAITING).exclude(pk__in=recent)
    if run := waiting.annotate(since=Max("events__time")).order_by("since").first():
        queue.enqueue(run.pk)
    unchecked = Submission.objects.filter(state=Submission.State.WAITING, checked__lte=now - TRIAL_AFTER)
    if submission := unchecked.order_by("checked").first():
        queue.enqueue_check(submission.pk)


def remove_leftovers() -> None:
    """Remove files that a worker left when it was killed after it had finished a run."""
    for run in Run.objects.filter(state=State.FINISHED, finished__gt=timezone.now() - RECENT).exclude(artefact=""):
        artefacts.remove_leftovers(run)


def forget_refused() -> int:
    """Delete submissions that were refused or withdrawn long ago and led to no run; return their number."""
    if not settings.REFUSED_DAYS:
        return 0
    ended = Submission.objects.filter(state__in=(Submission.State.REFUSED, Submission.State.WITHDRAWN), run=None)
    return ended.filter(created__lt=timezone.now() - timedelta(days=settings.REFUSED_DAYS)).delete()[0]
