"""The workers that are alive: those of RQ in Redis, with the runs that they have."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.utils import timezone
from redis.exceptions import RedisError
from rq import Worker

from leaderboard.models import Claim, Run, RunPart
from leaderboard.redis_server import connection

ALIVE = timedelta(minutes=2)  # every worker sends a heartbeat at least every 15 seconds, busy or not


@dataclass(frozen=True)
class LiveWorker:
    """A worker with the time of its newest heartbeat.

    `queues`: those that it takes jobs from. `device`: where it measures, as far as its run tells. `run`: the one that
    it has.
    """

    name: str
    last_seen: datetime
    queues: tuple[str, ...] = ()
    device: str = ""
    run: Run | None = None


def live_workers() -> list[LiveWorker]:
    """Return the workers with a heartbeat in the last two minutes, the newest first. Two queries.

    A worker that Redis does not know, as it was emptied a moment ago, is known by its run.
    """
    workers = {worker.name: worker for worker in _workers_of_redis(timezone.now())}
    claims = {claim.worker: claim for claim in Claim.objects.fresh().select_related("run__model", "run__benchmark")}
    devices = _devices([claim.run_id for claim in claims.values()])
    rows = []
    for name in workers.keys() | claims.keys():
        worker, claim = workers.get(name), claims.get(name)
        seen = [time for time in (worker and worker.last_seen, claim and claim.seen) if time]
        queues = worker.queues if worker else ()
        device = devices.get(claim.run_id, "") if claim else ""
        rows.append(LiveWorker(name, max(seen), queues, device, claim.run if claim else None))
    return sorted(rows, key=lambda row: (row.last_seen, row.name), reverse=True)


def served_queues() -> frozenset[str]:
    """Return the queues from which a living worker takes jobs; none if Redis does not answer."""
    return frozenset(queue for worker in _workers_of_redis(timezone.now()) for queue in worker.queues)


def _workers_of_redis(now: datetime) -> list[LiveWorker]:
    """Return RQ's workers with a heartbeat in the last two minutes; nothing if Redis does not answer."""
    try:
        workers = Worker.all(connection=connection())
    except RedisError:  # the health of the queue says so
        return []
    return [
        LiveWorker(worker.name, _aware(worker.last_heartbeat), tuple(worker.queue_names()))
        for worker in workers
        if worker.last_heartbeat and now - _aware(worker.last_heartbeat) < ALIVE
    ]


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _devices(runs: Iterable[int]) -> dict[int, str]:
    """Return the device on which the last part of each of these runs was computed, where one is done."""
    parts = RunPart.objects.filter(run__in=list(runs), done=True).order_by("pk")
    return {run: device for run, device in parts.values_list("run", "record__device") if device}
