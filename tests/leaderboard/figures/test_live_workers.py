"""The workers that are alive: from Redis and from leases."""

from datetime import timedelta

import pytest
from django.utils import timezone
from rq import Worker

from leaderboard.figures.live_workers import LiveWorker, live_workers, served_lanes
from leaderboard.models import LEASE, RunPart
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db


def test_without_redis_and_leases_there_is_no_worker() -> None:
    assert live_workers() == []
    assert served_lanes() == frozenset()


def test_a_worker_of_rq_is_known_by_its_heartbeat_and_its_lanes(rq_worker: Worker) -> None:
    rq_worker.register_birth()
    (live,) = live_workers()
    assert (live.name, live.lanes, live.runs) == ("host-1", ("large", "default"), ())
    assert timezone.now() - live.last_seen < timedelta(seconds=30)
    assert served_lanes() == {"large", "default"}
    rq_worker.register_death()
    assert live_workers() == []
    assert served_lanes() == frozenset()


def test_a_lease_says_what_its_worker_works_on_and_when_it_was_renewed() -> None:
    run = make.running(make.model(), make.benchmark())
    renewed = timezone.now() - timedelta(seconds=3)
    RunPart.objects.filter(run=run).update(worker="lab", lease_until=renewed + LEASE)
    RunPart.objects.create(
        run=run, relation="P31", template=0, items=1, done=True, worker="lab", record={"device": "cuda"}
    )
    (live,) = live_workers()
    assert live == LiveWorker("lab", renewed, ("default",), "cuda", (run,))
