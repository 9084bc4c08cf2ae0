"""The workers that are alive: from Redis, from leases and from tokens."""

from datetime import timedelta

import django_rq
import pytest
from django.utils import timezone
from rq import Queue
from rq import Worker as RQWorker

from leaderboard.intake.embedded import embedded_server
from leaderboard.models import LEASE, RunPart, WorkerToken
from leaderboard.operations.site_state import LiveWorker, live_workers
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db


def test_without_redis_and_leases_there_is_no_worker() -> None:
    assert live_workers() == []


def test_a_worker_of_rq_is_known_by_its_heartbeat_and_its_lanes() -> None:
    with embedded_server():
        connection = django_rq.get_connection()
        worker = RQWorker([Queue("large", connection), Queue("default", connection)], "host-1", connection=connection)
        worker.register_birth()
        (live,) = live_workers()
        assert (live.name, live.lanes, live.runs) == ("host-1", ("large", "default"), ())
        assert timezone.now() - live.last_seen < timedelta(seconds=30)
        worker.register_death()
        assert live_workers() == []


def test_a_lease_says_what_its_worker_works_on_and_when_it_was_renewed() -> None:
    run = make.running(make.model(), make.benchmark())
    renewed = timezone.now() - timedelta(seconds=3)
    RunPart.objects.filter(run=run).update(worker="lab", lease_until=renewed + LEASE)
    RunPart.objects.create(
        run=run, relation="P31", template=0, items=1, done=True, worker="lab", record={"device": "cuda"}
    )
    (live,) = live_workers()
    assert live == LiveWorker("lab", renewed, ("default",), "cuda", (run,))


def test_a_token_that_was_used_lately_is_a_worker_unless_it_was_revoked() -> None:
    now = timezone.now()
    WorkerToken.objects.create(name="near", digest="1", last_seen=now - timedelta(seconds=9))
    WorkerToken.objects.create(name="long ago", digest="2", last_seen=now - timedelta(hours=1))
    WorkerToken.objects.create(name="revoked", digest="3", last_seen=now, revoked=True)
    WorkerToken.objects.create(name="never", digest="4")
    assert [worker.name for worker in live_workers()] == ["near"]


def test_a_worker_elsewhere_that_holds_a_part_is_not_listed_by_its_token_as_well() -> None:
    WorkerToken.objects.create(name="lab", digest="1", last_seen=timezone.now())
    run = make.running(make.model(), make.benchmark())
    RunPart.objects.filter(run=run).update(worker="lab/box")
    assert [worker.name for worker in live_workers()] == ["lab/box"]
