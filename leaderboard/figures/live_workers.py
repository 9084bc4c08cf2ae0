"""The workers that are alive: those of RQ in Redis, and holders of leases."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import django_rq
from django.utils import timezone
from redis.exceptions import RedisError
from rq import Worker as RQWorker

from leaderboard.models import LEASE, Run, RunPart

ALIVE = timedelta(minutes=2)  # every worker sends a heartbeat at least every 15 seconds, busy or not


@dataclass(frozen=True)
class LiveWorker:
    """A worker with the time of its newest heartbeat.

    `lanes` are the queues that it takes jobs from, `device` is where its last part was computed, and `runs` are those
    of which it holds a part.
    """

    name: str
    last_seen: datetime
    lanes: tuple[str, ...] = ()
    device: str = ""
    runs: tuple[Run, ...] = field(default=())


def live_workers() -> list[LiveWorker]:
    """Return the workers with a heartbeat in the last two minutes, the newest first. Three queries."""
    now = timezone.now()
    workers = {worker.name: worker for worker in _workers_of_redis(now)}
    leased: dict[str, list[RunPart]] = {}
    for part in RunPart.objects.filter(done=False, lease_until__gt=now).select_related("run__model", "run__benchmark"):
        leased.setdefault(part.worker, []).append(part)
    for name, parts in leased.items():
        workers[name] = _with_parts(name, parts, workers.get(name))
    devices = _devices(workers)
    rows = [replace(worker, device=devices.get(worker.name, "")) for worker in workers.values()]
    return sorted(rows, key=lambda worker: (worker.last_seen, worker.name), reverse=True)


def served_lanes() -> frozenset[str]:
    """Return the lanes from which a living worker takes runs; none if Redis does not answer."""
    return frozenset(lane for worker in _workers_of_redis(timezone.now()) for lane in worker.lanes)


def _with_parts(name: str, parts: list[RunPart], worker: LiveWorker | None) -> LiveWorker:
    """Return the worker with the runs of its leased parts; a renewed lease counts as a heartbeat."""
    last_seen = max(part.lease_until - LEASE for part in parts if part.lease_until)
    runs = {part.run_id: part.run for part in parts}
    lanes = worker.lanes if worker and worker.lanes else tuple(sorted({run.lane for run in runs.values()}))
    return LiveWorker(name, max(last_seen, worker.last_seen) if worker else last_seen, lanes, runs=tuple(runs.values()))


def _workers_of_redis(now: datetime) -> list[LiveWorker]:
    """Return RQ's workers with a heartbeat in the last two minutes; nothing if Redis does not answer."""
    try:
        workers = RQWorker.all(connection=django_rq.get_connection())
    except RedisError:  # the health of the queue says so
        return []
    return [
        LiveWorker(worker.name, _aware(worker.last_heartbeat), tuple(worker.queue_names()))
        for worker in workers
        if worker.last_heartbeat and now - _aware(worker.last_heartbeat) < ALIVE
    ]


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _devices(names: Iterable[str]) -> dict[str, str]:
    """Return the device on which each of these workers computed its last part, where it has finished one."""
    parts = RunPart.objects.filter(worker__in=list(names), done=True).order_by("pk")
    return {name: device for name, device in parts.values_list("worker", "record__device") if device}
