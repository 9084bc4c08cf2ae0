"""The workers that are alive: from Redis and from claims."""

from datetime import timedelta

import django_rq
import pytest
from django.utils import timezone
from rq import Worker

from leaderboard.figures.live_workers import LiveWorker, live_workers, served_queues
from leaderboard.models import RunPart
from leaderboard.redis_server import connection
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db
ALL = ("measure", "measure-large", "checks", "finish")


def test_without_redis_and_claims_there_is_no_worker() -> None:
    assert live_workers() == []
    assert served_queues() == frozenset()


def test_a_worker_of_rq_is_known_by_its_heartbeat_and_its_queues(rq_worker: Worker) -> None:
    rq_worker.register_birth()
    (live,) = live_workers()
    assert (live.name, live.queues, live.run) == ("host-1", ALL, None)
    assert timezone.now() - live.last_seen < timedelta(seconds=30)
    assert served_queues() == set(ALL)
    rq_worker.register_death()
    assert live_workers() == []
    assert served_queues() == frozenset()


def test_reading_the_workers_opens_no_new_connection(rq_worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    rq_worker.register_birth()
    connection()
    monkeypatch.setattr(django_rq, "get_connection", lambda name: pytest.fail("A connection is there already."))
    assert served_queues() == set(ALL)


def test_a_claim_says_what_its_worker_works_on_and_when_it_reported() -> None:
    run = make.running(make.model(), make.benchmark())
    RunPart.objects.create(run=run, relation="P31", template=0, items=1, done=True, record={"device": "cuda"})
    (live,) = live_workers()
    assert live == LiveWorker("somebody", run.claim.seen, (), "cuda", run)


def test_a_worker_of_redis_that_has_a_run_is_one_worker(rq_worker: Worker) -> None:
    rq_worker.register_birth()
    run = make.run(make.model(), make.benchmark(), "scoring")
    make.claimed(run, "host-1")
    (live,) = live_workers()
    assert (live.queues, live.run, live.device) == (ALL, run, "")
