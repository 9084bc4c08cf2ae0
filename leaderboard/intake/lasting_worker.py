"""RQ's worker, made to outlast Redis, to stop at once, and to leave no process behind."""

from contextlib import suppress
from types import FrameType
from typing import Any

from redis.client import Pipeline
from redis.exceptions import RedisError
from rq import Queue, worker_registration
from rq import Worker as RQWorker
from rq.exceptions import StopRequested
from rq.job import Job

from leaderboard.intake.disk import remove_abandoned, remove_abandoned_downloads, temporary_files
from leaderboard.intake.embedded import NO_RETRY, Reconnecting
from probing.measuring.limits import die_with_parent

MONITORING_INTERVAL = 10  # seconds between two heartbeats while a job runs


class LastingWorker(RQWorker):
    """RQ's worker, whose commands wait for Redis, and which registers again where Redis has forgotten it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "job_monitoring_interval": MONITORING_INTERVAL})

    def work(self, *args: Any, **kwargs: Any) -> bool:
        self.connection.set_retry(Reconnecting())
        return super().work(*args, **kwargs)

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        super().heartbeat(timeout, pipeline)
        if pipeline is None and not self.is_horse and not self._is_registered():
            self._register_again()

    def maintain_heartbeats(self, job: Job) -> None:
        super().maintain_heartbeats(job)
        self.heartbeat(self.get_heartbeat_ttl(job))

    def teardown(self) -> None:
        """Sign off, unless Redis is away: a worker that stops does not wait for it."""
        self.connection.set_retry(NO_RETRY)
        with suppress(RedisError):
            super().teardown()  # type: ignore[no-untyped-call]

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Stop at once: an idle worker leaves, a busy one ends the process of its job first."""
        if not self.horse_pid:
            raise StopRequested
        self.connection.set_retry(NO_RETRY)
        self.kill_horse()
        self.wait_for_horse()
        raise SystemExit

    def execute_job(self, job: Job, queue: Queue) -> None:
        with temporary_files():
            super().execute_job(job, queue)

    def run_maintenance_tasks(self) -> None:
        super().run_maintenance_tasks()  # type: ignore[no-untyped-call]
        remove_abandoned()
        remove_abandoned_downloads()

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        die_with_parent(self.pid)
        super().main_work_horse(job, queue)

    def _is_registered(self) -> bool:
        registered = self.connection.sismember(self.redis_workers_keys, self.key)
        return bool(registered and self.connection.hexists(self.key, "birth"))

    def _register_again(self) -> None:
        """Register in a Redis that was emptied or started again, and let maintenance restore the queue next."""
        self.log.warning("Worker %s: Redis has forgotten it; registering again", self.name)
        with self.connection.pipeline() as pipeline:
            pipeline.hset(self.key, mapping=self.serialize())
            pipeline.expire(self.key, self.worker_ttl + 60)
            worker_registration.register(self, pipeline)
            pipeline.execute()
        self.set_state(self.get_state())
        self.last_cleaned_at = None
