"""manage.py rqcron: it calls for the one job that the site repeats, and never twice."""

import pytest

from leaderboard import redis_server
from leaderboard.intake import queue
from leaderboard.management.commands.rqcron import Scheduler
from leaderboard.worker.reconciling import SECONDS, reconcile
from tests.leaderboard.workers import manage, until

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_job_is_in_the_queue_once_however_often_it_is_due(redis: None) -> None:
    scheduler = Scheduler(redis_server.connection())
    job = scheduler.register(reconcile, "checks", interval=SECONDS)
    for _ in range(2):
        job.latest_enqueue_time = job.next_enqueue_time = None
        assert scheduler.enqueue_jobs() == [job]
    assert queue.rq_queue("checks").get_job_ids() == ["reconcile"]
    assert scheduler.enqueue_jobs() == [], "it is not due for a while"


@pytest.mark.slow
def test_it_outlasts_a_server_that_is_emptied_and_stops_at_once(redis: None) -> None:
    process = manage("rqcron")
    until(lambda: queue.rq_queue("checks").get_job_ids() == ["reconcile"])
    redis_server.connection().flushall()
    process.terminate()
    output = process.communicate(timeout=60)[0]
    assert process.returncode == 0, output
    assert "Traceback" not in output
