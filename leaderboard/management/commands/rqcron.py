"""django-rq's scheduler with the one job that the site repeats: `leaderboard.worker.reconciling`."""

from contextlib import suppress
from typing import Any

import django_rq
from django.core.management.base import BaseCommand
from django_rq.cron import DjangoCronScheduler
from redis.client import Pipeline
from rq.cron import CronJob
from rq.exceptions import SchedulerNotFound
from rq.utils import now

from leaderboard.intake import queue
from leaderboard.line import CHECKS
from leaderboard.redis_server import Reconnecting, embedded_server
from leaderboard.worker.reconciling import SECONDS, reconcile


class Scheduler(DjangoCronScheduler):
    """RQ's scheduler, which puts its job in as the site does: as JSON, and never twice."""

    def enqueue_jobs(self) -> list[CronJob]:
        due = [job for job in self.get_jobs() if job.should_run()]
        for job in due:
            queue.put_job(job.queue_name, "reconcile")
            job.set_enqueue_time(now())
        return due

    def register_death(self, pipeline: Pipeline | None = None) -> None:
        with suppress(SchedulerNotFound):  # Redis was emptied since
            super().register_death(pipeline)


class Command(BaseCommand):
    help = f"Call every {SECONDS} seconds for the job that puts back what Redis or a lost worker has left behind."

    def handle(self, **options: Any) -> None:
        with embedded_server():
            connection = django_rq.get_connection(CHECKS)
            connection.set_retry(Reconnecting())
            scheduler = Scheduler(connection)
            scheduler.register(reconcile, CHECKS, interval=SECONDS)
            scheduler.start()  # type: ignore[no-untyped-call]
