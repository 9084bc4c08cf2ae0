"""The queue: Redis wakes workers up, the database says what there is to do.

Each lane is a queue. A job only says that there is work in its lane, and `schedule.next_run` chooses the run. If Redis
loses its jobs, `requeue_lost` makes them again from the database.
"""

import logging
import signal
import time
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import uuid4

import django_rq
from django.db import DatabaseError, close_old_connections, connection
from django.db.models import Max, QuerySet
from django.utils import timezone
from redis.exceptions import RedisError
from rq import Queue
from rq import Worker as RQWorker
from rq.job import Job

from leaderboard import schedule
from leaderboard.figures import artefacts
from leaderboard.figures.artefacts import UNAVAILABLE, DatabaseUnavailable, patiently
from leaderboard.figures.ranks import refresh_standings, unranked_benchmarks
from leaderboard.intake import check_queue
from leaderboard.intake.lasting_worker import LastingWorker
from leaderboard.models import Run, RunEvent, RunPart
from probing.errors import SourceUnavailable

log = logging.getLogger(__name__)
WAKE_UP = "leaderboard.worker.jobs.work_in_lane"
TRY_AGAIN = "leaderboard.worker.jobs.probe_run"
RETRY_AFTER = timedelta(minutes=5)  # how long a waiting run rests before it is tried again
TRIAL_AFTER = timedelta(seconds=30)  # the same for the run that has waited longest, which shows whether the fault ended
RECENT = timedelta(minutes=10)
MAINTENANCE_SECONDS = 10  # how often an idle worker looks for lost runs
TIDY_SECONDS = 3600.0  # how often it looks for submissions that are too old to be kept
UNREACHABLE = "The Redis server does not answer. Start it, correct REDIS_URL, or unset it for the embedded one."


def enqueue(run_id: int) -> bool:
    """See to it that a worker looks at this run in its turn; return False if Redis does not answer.

    A run that had to wait, for the hub or for disk space, is tried again at once.
    """
    run = Run.objects.filter(pk=run_id).first()
    if run is None or run.state in Run.FINAL:
        return reachable()
    if run.state == Run.State.WAITING:
        return _try_again(run)
    return wake(run.lane)


def wake(lane: str, at_least: int = 0) -> bool:
    """Enqueue as many wake-ups as the lane has runs without a worker; return False if Redis does not answer.

    Wake-ups that are enqueued already count, so there are never more than needed. `at_least`: their least number.
    """
    needed = max(schedule.without_worker(lane), at_least)
    try:
        queue = django_rq.get_queue(lane, commit_mode="auto")
        for _ in range(needed - len(_wake_ups(queue))):
            queue.enqueue(WAKE_UP, lane, job_id=f"wake-{uuid4().hex}", failure_ttl=24 * 3600)
    except RedisError as error:
        log.warning("Lane %s: runs stay queued; Redis does not answer: %s", lane, error)
        return False
    return True


def _wake_ups(queue: Queue) -> list[str]:
    return [job_id for job_id in queue.get_job_ids() if job_id.startswith("wake-")]


def _try_again(run: Run) -> bool:
    """Enqueue a job that tries this run again, unless there is one."""
    prefix = f"run-{run.pk}-"
    try:
        queue = django_rq.get_queue(run.lane, commit_mode="auto")
        if not any(job_id.startswith(prefix) for job_id in queue.get_job_ids()):
            queue.enqueue(TRY_AGAIN, run.pk, job_id=prefix + uuid4().hex[:8], failure_ttl=24 * 3600)
    except RedisError as error:
        log.warning("Run %s has to wait; Redis does not answer: %s", run.pk, error)
        return False
    return True


def reachable() -> bool:
    """Return whether Redis answers."""
    try:
        return bool(django_rq.get_connection().ping())
    except RedisError:
        return False


def enqueue_if_idle(run_id: int) -> None:
    """Wake the idle workers up that serve the lane of this run, so that they take a share of the run's parts."""
    run = Run.objects.get(pk=run_id)
    try:
        workers = RQWorker.all(connection=django_rq.get_connection())
        idle = sum(worker.get_state() == "idle" and run.lane in worker.queue_names() for worker in workers)
    except RedisError:
        return
    if idle:
        wake(run.lane, at_least=min(idle, run.parts.free().count()))


def requeue_lost(patience: timedelta = timedelta(0)) -> int:
    """Enqueue jobs for all unfinished runs that no worker works on; return the number of these runs.

    Runs in state "waiting" (for the hub, for disk space) are left out until their last event is `patience` old.
    Submissions whose check was lost, or that wait for the hub, are enqueued as well.
    """
    check_queue.resume_submissions(patience)
    recent = RunEvent.objects.filter(time__gt=timezone.now() - patience).values("run")
    waiting = Run.objects.filter(state=Run.State.WAITING).exclude(pk__in=recent)
    tried_again = sum(_try_again(run) for run in waiting.order_by("pk"))
    return tried_again + sum(schedule.without_worker(lane) for lane in schedule.LANES if wake(lane))


def try_longest_waiting() -> None:
    """Try one waiting run and one waiting submission again.

    So an outage of minutes costs seconds, and one of hours does not occupy the workers. Each gets its turn, as the one
    that was tried again has waited for the shortest time.
    """
    recent = RunEvent.objects.filter(time__gt=timezone.now() - TRIAL_AFTER).values("run")
    waiting = Run.objects.filter(state=Run.State.WAITING).exclude(pk__in=recent)
    if run := waiting.annotate(since=Max("events__time")).order_by("since").first():
        _try_again(run)
    check_queue.try_longest_waiting(TRIAL_AFTER)


def end_outage(code: str) -> None:
    """Try all at once that wait because of the error with this code; one of them has just shown that it has passed."""
    for lane in Run.objects.resume(code, "Trying again."):
        wake(lane)
    if code == SourceUnavailable.code:
        check_queue.resume_submissions()


def remove_leftovers() -> None:
    """Remove files that a worker left when it was killed after it had finished a run."""
    for run in Run.objects.filter(state=Run.State.FINISHED, finished__gt=timezone.now() - RECENT).exclude(artefact=""):
        artefacts.remove_leftovers(run)


def refresh_missing_ranks() -> None:
    """Rank the runs whose worker was killed after it had finished them."""
    for benchmark in unranked_benchmarks():
        refresh_standings(benchmark)


class Worker(LastingWorker):
    """The site's worker, which makes no process for a wake-up without work, and enqueues lost runs again."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "maintenance_interval": MAINTENANCE_SECONDS})
        self._tidied = -TIDY_SECONDS

    def run_maintenance_tasks(self) -> None:
        super().run_maintenance_tasks()
        close_old_connections()
        with suppress(DatabaseUnavailable):  # the next maintenance tries again
            patiently(requeue_lost, RETRY_AFTER)
            patiently(try_longest_waiting)
            patiently(remove_leftovers)
            patiently(refresh_missing_ranks)
            if time.monotonic() - self._tidied > TIDY_SECONDS:
                patiently(check_queue.forget_refused)
                self._tidied = time.monotonic()
        connection.close()  # the process of the next job must not inherit it

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Perform a job in a process of its own, unless it is a wake-up and its lane has no work."""
        if job.func_name == WAKE_UP and not self._has_work(queue.name):
            self._drop_wake_ups(job, queue)
            return
        super().execute_job(job, queue)
        if queue.name in schedule.LANES and self._has_work(queue.name):
            self._wake(queue.name)

    def _has_work(self, lane: str) -> bool:
        """Ask the database; if it does not answer, leave it to the job to find out."""
        close_old_connections()
        try:
            return schedule.has_work(lane)
        except DatabaseError as error:
            self.log.warning("Lane %s: the database does not answer: %s", lane, error)
            return True
        finally:
            connection.close()

    def _drop_wake_ups(self, job: Job, queue: Queue) -> None:
        """Delete all wake-ups of a lane without work, and make new ones for runs that came in meanwhile."""
        self.connection.lrem(queue.intermediate_queue_key, 1, job.id)
        job.delete()
        useless = _wake_ups(queue)
        with self.connection.pipeline() as pipeline:
            for job_id in useless:
                pipeline.lrem(queue.key, 1, job_id)
                pipeline.delete(Job.key_for(job_id))
            pipeline.execute()
        self.log.info("Worker %s: no work in lane %s; %d wake-ups dropped", self.name, queue.name, 1 + len(useless))
        self._wake(queue.name)

    def _wake(self, lane: str) -> None:
        try:
            wake(lane, at_least=int(schedule.has_work(lane)))
        except DatabaseError as error:
            self.log.warning("Lane %s: the database does not answer: %s", lane, error)
        finally:
            connection.close()

    def handle_work_horse_killed(self, job: Job, retpid: int, ret_val: int, rusage: Any) -> None:
        """Free the part of a job's process that was killed from outside, most likely for its use of memory.

        The attempt counts, so that a part that kills every worker ends its run after a few attempts. So do the checks
        of a submission.
        """
        super().handle_work_horse_killed(job, retpid, ret_val, rusage)
        with suppress(DatabaseUnavailable):  # the lease will run out
            if job.origin in schedule.LANES:
                patiently(self._leased_parts().update, lease_until=None)
                patiently(wake, job.origin, at_least=1)
            else:
                patiently(check_queue.note_loss, job.args[0])  # maintenance enqueues the check again
        connection.close()

    def kill_horse(self, sig: signal.Signals = signal.SIGKILL) -> None:
        """Kill the job's process because the worker has to stop, and release its part for the next worker."""
        super().kill_horse(sig)
        with suppress(*UNAVAILABLE):  # the lease will run out
            for part in self._leased_parts():
                RunPart.objects.release(part)
        connection.close()

    def _leased_parts(self) -> QuerySet[RunPart]:
        return RunPart.objects.filter(worker=self.name, done=False, lease_until__isnull=False)
