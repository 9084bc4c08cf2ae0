"""Middleware for all responses: compression and security headers."""

from collections.abc import Callable, Mapping

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

from leaderboard.serving.errors import API

GetResponse = Callable[[HttpRequest], HttpResponse]
TEXT = ("text/", "application/json", "image/svg+xml")


def security_headers(get_response: GetResponse) -> GetResponse:
    """Set the headers that Django 5.2 does not set: what a page may load, use, and be loaded by."""
    policy = policy_header(settings.CONTENT_SECURITY_POLICY)
    permissions = ", ".join(f"{name}={origins}" for name, origins in settings.PERMISSIONS_POLICY.items())

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", policy)
        response.headers.setdefault("Permissions-Policy", permissions)
        readers = "cross-origin" if request.path.startswith(API) else "same-origin"
        response.headers.setdefault("Cross-Origin-Resource-Policy", readers)
        return response

    return middleware


def policy_header(policy: Mapping[str, str]) -> str:
    """Return what a page may load and who may frame it as the header `Content-Security-Policy`."""
    return "; ".join(f"{name} {sources}" for name, sources in policy.items())


class TextCompression(GZipMiddleware):
    """Compression of complete texts only.

    Parquet files and images are compressed already, and their downloads should have a Content-Length. The length of a
    compressed page reveals nothing about CSRF tokens (BREACH attack): Django masks them differently in every response
    and pads every compressed response at random.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        complete_text = response.status_code == 200 and response.get("Content-Type", "").startswith(TEXT)
        return super().process_response(request, response) if complete_text else response
