"""/healthz and /metrics: what load balancers, monitors and Prometheus ask.

Metrics are read from the database and Redis for each request. Nothing is counted in the memory of a process, so that
every web process gives the same figures.
"""

import platform
import shutil
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from ipaddress import ip_address
from secrets import compare_digest
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from django.db.models import Count, Manager, QuerySet, Sum
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from leaderboard.figures.live_workers import live_workers
from leaderboard.figures.runs import WORKING
from leaderboard.intake import queue
from leaderboard.line import CHECKS, FINISH, QUEUES
from leaderboard.models import Run, RunEvent, RunPart, Submission
from leaderboard.operations import site_state
from leaderboard.operations.site_state import watch
from leaderboard.serving.web_server import PASSED_ON, SIGNS_OF_PROXIES
from probing.extras import package_version

# /healthz : tells load balancers and monitors which parts of the site work.
#
# The status is 200 while the site can serve pages, which needs the database alone: a load balancer must not take a site
# offline only because it has no worker. Any failing part gives 503 where the request says `strict=1`.


@never_cache
def health_view(request: HttpRequest) -> HttpResponse:
    parts = watch.health()
    serves = parts["database"].ok
    healthy = all(part.ok for part in parts.values())
    word = "ok" if healthy else "degraded" if serves else "failing"
    status = 200 if healthy or (serves and not request.GET.get("strict")) else 503
    described = {
        name: {"state": "ok" if part.ok else "failing", "message": part.message, "age_seconds": part.seconds}
        for name, part in parts.items()
    }
    return JsonResponse({"state": word, "parts": described}, status=status)


# /metrics : figures for Prometheus, for the operator's machines only.


REFUSED = "Ask from an address in CLOZEBOARD_METRICS_FROM, or send CLOZEBOARD_METRICS_TOKEN as a bearer token.\n"


@never_cache
def metrics_view(request: HttpRequest) -> HttpResponse:
    if not (_has_token(request) or _is_near(request)):
        return HttpResponse(REFUSED, "text/plain", 403)
    return HttpResponse(generate_latest(registry), CONTENT_TYPE_PLAIN_0_0_4)


def _has_token(request: HttpRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if not settings.METRICS_TOKEN or scheme.lower() != "bearer":
        return False
    return compare_digest(token.strip().encode(), settings.METRICS_TOKEN.encode())


def _is_near(request: HttpRequest) -> bool:
    """Tell whether the request comes directly from an address that may read the metrics.

    One that a proxy has passed on needs the token: its address may be that of a proxy on this machine.
    """
    if request.META.get(PASSED_ON) or any(header in request.META for header in SIGNS_OF_PROXIES):
        return False
    try:
        address = ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:  # a socket of the file system has no address
        return False
    return any(address in network for network in settings.METRICS_NETWORKS)


State = Run.State
UNFINISHED = (State.QUEUED, *WORKING)
Values = Mapping[Any, float]  # by tuples of the values of the labels


class MetricsOfSite(Collector):
    def collect(self) -> Iterator[Metric]:
        """Yield all metrics of the site; without the database, those that do not need it."""
        facts = {"version": package_version(), "django": version("django"), "python": platform.python_version()}
        yield InfoMetricFamily("clozeboard_build", "Versions of the site.", facts)
        yield gauge("disk_free_bytes", "Free space where a folder lies.", disk_free(), "folder")
        yield gauge("redis_up", "1 if Redis answers.", int(queue.reachable()))
        try:
            metrics = list(from_database())
        except DatabaseError:
            metrics = []
        yield gauge("database_up", "1 if the database answers.", int(bool(metrics)))
        yield from metrics


registry = CollectorRegistry(auto_describe=False)
registry.register(MetricsOfSite())


def disk_free() -> Values:
    """Return the free space where the data and the models are or will be."""
    free = {}
    for name, folder in (("data", settings.DATA), ("hub_cache", settings.HUB_CACHE)):
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        free[name,] = shutil.disk_usage(existing).free
    return free


def from_database() -> Iterator[Metric]:
    """Yield the metrics that need the database, by a constant number of queries."""
    yield from queue_metrics()
    yield from outcome_metrics()
    yield from worker_metrics()
    submissions = {(state,): 0 for state in Submission.State.values} | counted(Submission.objects, "state")
    yield gauge("submissions", "Submissions by state.", submissions, "state")


def queue_metrics() -> Iterator[Metric]:
    runs = {(state, name): 0 for state in State.values for name in QUEUES}
    runs |= counted(site_state.measured(), "state", "queue")
    yield gauge("runs", "Measured runs by state and queue.", runs, "state", "queue")
    unfinished = sum(number for (state, _), number in runs.items() if state in UNFINISHED)
    yield gauge("unfinished_runs", "Runs that wait for a worker or have one, in all queues.", unfinished)
    ages = dict.fromkeys(QUEUES, site_state.ages([])) | site_state.waiting_ages(timezone.now())
    quantiles = {(name, "0.5"): age["p50"] for name, age in ages.items()}
    quantiles |= {(name, "0.9"): age["p90"] for name, age in ages.items()}
    text = "How long the runs that wait now have been waiting, by quantile."
    yield gauge("queue_age_seconds", text, quantiles, "queue", "quantile")
    oldest = {(name,): age["longest"] for name, age in ages.items()}
    yield gauge("queue_oldest_age_seconds", "Age of the run that waits longest.", oldest, "queue")


def outcome_metrics() -> Iterator[Metric]:
    now = timezone.now()
    outcomes = site_state.outcomes(now)
    ended = {("finished",): outcomes["finished"], ("failed",): outcomes["failed"]}
    yield gauge("ended_runs", "Runs that ended in the last 30 days.", ended, "outcome")
    if outcomes["success"] is not None:
        yield gauge("success_ratio", "Share of the runs of the last 30 days with a result.", outcomes["success"])
    failed = site_state.measured().filter(state=State.FAILED, finished__gte=now - site_state.PERIOD)
    yield gauge("failed_runs", "Failed runs of the last 30 days by error code.", counted(failed, "code"), "code")
    entered = CounterMetricFamily("clozeboard_run_transitions", "How often a run entered a state.", labels=["state"])
    for labels, number in sorted(counted(RunEvent.objects, "state").items()):  # events are never deleted
        entered.add_metric(labels, number)
    yield entered
    items = RunPart.objects.filter(done=True).aggregate(total=Sum("items", default=0))["total"]
    yield CounterMetricFamily("clozeboard_items_scored", "Items of finished parts.", items)


def worker_metrics() -> Iterator[Metric]:
    workers = live_workers()
    served = [name for worker in workers for name in worker.queues]
    by_queue = {(name,): served.count(name) for name in sorted({*QUEUES, CHECKS, FINISH, *served})}
    yield gauge("workers", "Workers alive that serve a queue.", by_queue, "queue")
    if workers:
        age = max(0.0, (timezone.now() - workers[0].last_seen).total_seconds())
        yield gauge("worker_newest_heartbeat_age_seconds", "Age of the newest heartbeat.", age)


def counted(rows: Manager[Any] | QuerySet[Any], *fields: str) -> dict[Any, int]:
    """Return the number of rows for each tuple of values that these fields have. One query."""
    counts = rows.order_by().values_list(*fields).annotate(number=Count("pk"))
    return {(*values,): number for *values, number in counts}


def gauge(name: str, text: str, values: float | Values, *labels: str) -> Metric:
    """Return a gauge with one value, or with one for each combination of values of its labels."""
    metric = GaugeMetricFamily(f"clozeboard_{name}", text, labels=labels)
    for key, value in values.items() if isinstance(values, Mapping) else [((), values)]:
        metric.add_metric(key, value)
    return metric
