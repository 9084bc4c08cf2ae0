"""Middleware for all responses: compression and security headers."""

import gzip
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware, re_accepts_gzip
from django.utils.cache import patch_vary_headers
from whitenoise.middleware import WhiteNoiseFileResponse

from leaderboard.serving.errors import API

GetResponse = Callable[[HttpRequest], HttpResponse]
TEXT = ("text/", "application/json", "image/svg+xml")
TABLE_FORMATS = ("csv", "json")  # what `format` in a query string may name


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
    and pads every compressed response at random. Scripts and styles are compressed once in each process.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.status_code != 200 or not response.get("Content-Type", "").startswith(TEXT):
            return response
        if isinstance(response, WhiteNoiseFileResponse) and response.file_to_stream and _accepts_gzip(request):
            return packed_file(response)
        return super().process_response(request, response)


def _accepts_gzip(request: HttpRequest) -> bool:
    return bool(re_accepts_gzip.search(request.headers.get("Accept-Encoding", "")))


def packed_file(response: WhiteNoiseFileResponse) -> HttpResponse:
    """Return the response for a static file with its content compressed."""
    response.file_to_stream.close()
    packed = HttpResponse(compressed(response.file_to_stream.name, response["ETag"]), headers=response.headers)
    packed["Content-Encoding"], packed["Content-Length"] = "gzip", str(len(packed.content))
    patch_vary_headers(packed, ["Accept-Encoding"])
    return packed


@cache
def compressed(path: str, etag: str) -> bytes:
    """Return the content of a static file, compressed; `etag` changes with the file, as it does during development."""
    return gzip.compress(Path(path).read_bytes(), mtime=0)
