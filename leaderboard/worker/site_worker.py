"""RQ's worker as the site uses it: it outlasts Redis, stops at once, and leaves no process and no file behind.

The workers of one machine share out its devices among themselves, without loading torch.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import psutil
from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection
from filelock import FileLock, Timeout
from redis.client import Pipeline
from redis.exceptions import RedisError
from redis.retry import Retry
from rq import Queue, Worker, worker_registration
from rq.exceptions import NoSuchJobError, StopRequested
from rq.job import Job
from rq.utils import as_text

from leaderboard.figures.artefacts import DatabaseUnavailable, patiently
from leaderboard.intake import queue
from leaderboard.intake.disk import remove_abandoned, remove_abandoned_downloads, temporary_files
from leaderboard.line import CHECKS
from leaderboard.models import STALE, Claim
from leaderboard.redis_server import NO_RETRY, Reconnecting
from probing.measuring.limits import die_with_parent

HEARTBEAT = 10  # seconds between two heartbeats while a job is performed
# Seconds without a heartbeat after which RQ puts the job of a worker back. The last heartbeat may be older than the
# last report of the claim, and a job that comes back while the claim still holds ends without having done anything.
SILENCE = int(STALE.total_seconds()) + HEARTBEAT + 5
CLEANING = 10  # seconds between two looks for such jobs by an idle worker
AUTO = "auto"  # a device that no other worker of the machine has
MACHINE = "machine"  # what the numbers of processes belong to, in Redis beside the number of a worker's process


class SiteWorker(Worker):
    """RQ's worker, whose commands wait for Redis, and which registers again where Redis has forgotten it."""

    _is_forking = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        intervals = {"job_monitoring_interval": HEARTBEAT, "maintenance_interval": CLEANING}
        super().__init__(*args, **{**kwargs, **intervals})

    def work(self, *args: Any, **kwargs: Any) -> bool:
        self._retry_by(Reconnecting())
        sys.unraisablehook = _print_unless_stopping
        self.put_back_jobs_of_the_dead()
        return super().work(*args, **kwargs)

    def put_back_jobs_of_the_dead(self) -> None:
        """Free what workers of this machine had whose processes are gone, without waiting for their silence."""
        for dead in SiteWorker.all(self.connection, serializer=self.serializer):
            machine = as_text(self.connection.hget(dead.key, MACHINE) or "")
            if machine and machine == this_machine() and _is_gone(dead.pid):
                self.log.warning("Worker %s is dead: what it had goes on at once", dead.name)
                patiently(Claim.objects.release_of, dead.name, lost=True)
                with suppress(NoSuchJobError):
                    _put_back(dead.get_current_job(), dead.name)
                dead.register_death()  # type: ignore[no-untyped-call]

    def serialize(self) -> dict[Any, Any]:
        return {**super().serialize(), MACHINE: this_machine()}

    def get_heartbeat_ttl(self, job: Job) -> int:
        return SILENCE

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        if self._stop_requested and not self.horse_pid and not self.is_horse:
            raise StopRequested
        super().heartbeat(timeout, pipeline)
        if pipeline is None and not self.is_horse and not self._is_registered():
            self._register_again()

    def maintain_heartbeats(self, job: Job) -> None:
        super().maintain_heartbeats(job)
        self.heartbeat(HEARTBEAT + SILENCE)

    def teardown(self) -> None:
        """Sign off, unless Redis is away: a worker that stops does not wait for it."""
        self._retry_by(NO_RETRY)
        with suppress(RedisError):
            super().teardown()  # type: ignore[no-untyped-call]

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Perform a job in a process of its own, with a folder for its temporary files."""
        remove_abandoned()
        remove_abandoned_downloads()
        with temporary_files():
            super().execute_job(job, queue)

    def fork_work_horse(self, job: Job, queue: Queue) -> None:
        """Start the process of a job; a signal in between takes effect afterwards, as its exception would be lost."""
        self._is_forking = True
        super().fork_work_horse(job, queue)
        with suppress(OSError):  # it does the same; whoever is first, killing its group never kills the worker
            os.setpgid(self.horse_pid, self.horse_pid)
        self._is_forking = False
        if self._stop_requested:
            self._stop_horse()

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        die_with_parent(self.pid)
        super().main_work_horse(job, queue)

    def handle_work_horse_killed(self, job: Job, retpid: int, ret_val: int, rusage: Any) -> None:
        """Free the run of a job whose process was killed, most likely for its use of memory; RQ puts the job back.

        The loss counts, unless the worker itself has to stop, so that a run that kills every worker ends at last.
        """
        super().handle_work_horse_killed(job, retpid, ret_val, rusage)  # type: ignore[no-untyped-call]
        with suppress(DatabaseUnavailable):  # the claim will become stale
            if not self._stop_requested:
                _note_lost_check(job)
            patiently(Claim.objects.release_of, self.name, lost=not self._stop_requested)
        connection.close()  # the process of the next job must not inherit it

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Stop at once: an idle worker leaves, a busy one ends the process of its job first, and RQ puts it back."""
        self._stop_requested = True
        if self._is_forking:
            return
        if not self.horse_pid:
            raise StopRequested  # lost where Python ignores exceptions, as in finalizers: `heartbeat` asks again
        self._stop_horse()

    def _stop_horse(self) -> None:
        self._retry_by(NO_RETRY)
        self.kill_horse()

    def _retry_by(self, retry: Retry) -> None:
        """Repeat commands that fail in this way, on the connections of the worker and of each of its queues."""
        for client in (self.connection, *(jobs.connection for jobs in self.queues)):
            client.set_retry(retry)

    def _is_registered(self) -> bool:
        registered = self.connection.sismember(self.redis_workers_keys, self.key)
        return bool(registered and self.connection.hexists(self.key, "birth"))

    def _register_again(self) -> None:
        """Register in a Redis that was emptied or started again."""
        self.log.warning("Worker %s: Redis has forgotten it; registering again", self.name)
        with self.connection.pipeline() as pipeline:
            pipeline.hset(self.key, mapping=self.serialize())
            pipeline.expire(self.key, self.worker_ttl + SILENCE)
            worker_registration.register(self, pipeline)
            pipeline.execute()
        self.set_state(self.get_state())
        queue.put_job(CHECKS, "reconcile")


@cache
def this_machine() -> str:
    """Return what tells this boot of this machine, and this container, from all others; empty if Linux is missing."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _put_back(job: Job | None, dead: str) -> None:
    """Have RQ put back the job of a dead worker, as if there had been no heartbeat for long.

    Nothing is done where another worker that starts at the same time has done so already.
    """
    if job is None or job.worker_name != dead:
        return
    registry = queue.rq_queue(job.origin).started_job_registry
    executions = [parts for parts in registry.get_job_and_execution_ids(cleanup=False) if parts[0] == job.id]
    if executions:
        _note_lost_check(job)
        registry.connection.zadd(registry.key, {":".join(parts): 0 for parts in executions})
        registry.cleanup()


def _note_lost_check(job: Job) -> None:
    if job.origin == CHECKS and job.id.startswith("check-"):
        patiently(queue.note_lost_check, job.args[0])


def _is_gone(pid: int | None) -> bool:
    """Return whether a worker's process has ended. If it has the number of this one, that was given out again."""
    if pid == os.getpid():
        return True
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def _print_unless_stopping(ignored: "sys.UnraisableHookArgs") -> None:
    """Print an exception that Python ignores, unless it is a stop, for which `heartbeat` asks again."""
    if not isinstance(ignored.exc_value, StopRequested):
        sys.__unraisablehook__(ignored)


# The devices of a machine.


@contextmanager
def own_device(name: str = AUTO) -> Iterator[str]:
    """Yield the device on which a worker measures, and keep other workers of this machine from choosing it.

    With "auto" on a machine with several GPUs it is the first one that no worker has. If all have one, it is one of
    them; a device that `name` states is used even if another worker has it. Raises `CommandError` for several.
    """
    if "," in name:
        raise CommandError(f"A worker measures on one device, not on {name:.80}. Start a worker for each.")
    gpus = [f"cuda:{number}" for number in range(count_gpus())]
    choices = gpus if name == AUTO and len(gpus) > 1 else [name]
    lock = next((lock for device in choices if device != AUTO and (lock := _locked(device))), None)
    try:
        yield Path(lock.lock_file).name if lock else choices[os.getpid() % len(choices)]
    finally:
        if lock:
            lock.release()


def count_gpus() -> int:
    """Return how many CUDA devices this process may use."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([device for device in visible.split(",") if device.strip() not in ("", "-1")])
    try:
        listing = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return 0
    return sum(line.startswith("GPU ") for line in listing.stdout.splitlines())


def _locked(device: str) -> FileLock | None:
    """Lock a device of this machine; return None if another worker has it. The system frees a dead worker's device."""
    folder = Path(settings.DATA) / "devices" / socket.gethostname()
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / device)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return None
    return lock
