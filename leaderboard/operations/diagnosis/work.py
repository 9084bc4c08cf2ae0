"""Checks of the queue and the workers: Redis answers, no run is lost or abandoned, no lease is stuck."""

from collections.abc import Iterator
from datetime import timedelta

import django_rq
from django.conf import settings
from django.utils import timezone
from redis.exceptions import RedisError

from leaderboard.intake import queue
from leaderboard.models import LEASE, Run, RunPart
from leaderboard.operations import statistics
from leaderboard.operations.diagnosis.findings import Finding, fine, problem, warning
from leaderboard.operations.workers import live_workers

LOADING_TIME = timedelta(minutes=10)  # for loading a model, during which nothing is recorded


def redis() -> Iterator[Finding]:
    if queue.reachable():
        yield fine("queue", "Redis answers.")
    elif settings.EMBEDDED_REDIS:
        yield warning(
            "queue", "The embedded Valkey does not run.", "Start a worker (manage.py rqworker): it starts it."
        )
    else:
        yield problem("queue", "Redis does not answer; nothing new is measured.", queue.UNREACHABLE)


def lost_runs() -> Iterator[Finding]:
    """Check that runs which wait for a worker have a job that will wake one up."""
    waiting = statistics.measured().filter(state=Run.State.QUEUED).count()
    leased = RunPart.objects.filter(done=False, lease_until__gt=timezone.now()).exists()
    try:
        jobs = sum(len(django_rq.get_queue(lane)) for lane in settings.RQ_QUEUES)
    except RedisError:
        return
    if waiting and not jobs and not leased:
        yield problem("lost runs", f"{waiting} runs wait, but the queue is empty.", "Run manage.py requeue.")
    else:
        yield fine("lost runs", f"{waiting} runs wait for a worker, {jobs} jobs are in the queue.")


def workers() -> Iterator[Finding]:
    alive = live_workers()
    if alive:
        yield fine("workers", f"Alive: {', '.join(worker.name for worker in alive)}.")
    else:
        waiting = statistics.measured().filter(state=Run.State.QUEUED).count()
        step = "Start one: manage.py rqworker. If one runs, look into its log."
        yield (problem if waiting else warning)("workers", f"No worker is alive; {waiting} runs wait for one.", step)


def leases() -> Iterator[Finding]:
    """Check that no part is held longer than a lease lasts, or for a run that has ended."""
    now = timezone.now()
    leased = RunPart.objects.filter(done=False, lease_until__gt=now)
    ahead = leased.filter(lease_until__gt=now + 2 * LEASE).count()
    ended = leased.filter(run__state__in=[Run.State.FINISHED, Run.State.FAILED, Run.State.CANCELLED]).count()
    if ahead:
        yield problem(
            "leases", f"{ahead} leases end far in the future.", "Set the clocks of the workers' machines right."
        )
    if ended:
        step = "Wait a minute: workers notice it at the end of their part. If it stays so, restart the workers."
        yield warning("leases", f"{ended} parts of runs that have ended are still held.", step)
    if not ahead and not ended:
        yield fine("leases", f"{leased.count()} parts are held by workers.")


def forsaken() -> Iterator[Finding]:
    runs = statistics.forsaken_runs(timezone.now(), LOADING_TIME)
    if runs:
        names = ", ".join(f"{run.pk} ({run.model.hub_id})" for run in runs[:5])
        yield problem("progress", f"No worker works on runs that are in progress: {names}.", "Run manage.py requeue.")
    else:
        yield fine("progress", "No run in progress has been without a worker for long.")
