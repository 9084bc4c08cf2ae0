"""/healthz : tells a load balancer that the site and its database answer."""

from django.db import connection
from django.http import HttpRequest, HttpResponse


def health_view(request: HttpRequest) -> HttpResponse:
    connection.ensure_connection()
    return HttpResponse("ok\n", content_type="text/plain")
