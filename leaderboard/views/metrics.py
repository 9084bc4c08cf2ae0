"""/metrics : figures for Prometheus, for the operator's machines only."""

from ipaddress import ip_address
from secrets import compare_digest

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from leaderboard.operations.metrics import page

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
