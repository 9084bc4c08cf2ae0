"""/healthz and /metrics: what load balancers, monitors and Prometheus ask."""

from ipaddress import ip_address
from secrets import compare_digest

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from leaderboard.operations.metrics import page
from leaderboard.operations.site_state import watch

# /healthz : tells load balancers and monitors which parts of the site work.
#
# The status is 200 while the site can serve pages, which needs the database alone: a load balancer must not take a site
# offline only because it has no worker. Any failing part gives 503 where the request says `strict=1`.


TYPES = ["application/json", "text/plain"]


@never_cache
def health_view(request: HttpRequest) -> HttpResponse:
    parts = watch.health()
    serves = parts["database"].ok
    healthy = all(part.ok for part in parts.values())
    word = "ok" if healthy else "degraded" if serves else "failing"
    status = 200 if healthy or (serves and not request.GET.get("strict")) else 503
    if request.get_preferred_type(TYPES) == "text/plain":
        return HttpResponse(f"{word}\n", content_type="text/plain", status=status)
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
    return HttpResponse(page.text(), CONTENT_TYPE_PLAIN_0_0_4)


def _has_token(request: HttpRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if not settings.METRICS_TOKEN or scheme.lower() != "bearer":
        return False
    return compare_digest(token.strip().encode(), settings.METRICS_TOKEN.encode())


def _is_near(request: HttpRequest) -> bool:
    """Tell whether the request comes directly from an address that may read the metrics.

    One that a proxy has passed on needs the token: behind some web servers its address is that of the proxy.
    """
    if {"X-Forwarded-For", "Forwarded"} & request.headers.keys():
        return False
    try:
        address = ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:  # a socket of the file system has no address
        return False
    return any(address in network for network in settings.METRICS_NETWORKS)
