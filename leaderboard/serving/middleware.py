"""What every answer gets: the Content-Security-Policy, which Django 5.2 does not write itself, and compression."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.gzip import GZipMiddleware

GetResponse = Callable[[HttpRequest], HttpResponse]
TEXT = ("text/", "application/json", "image/svg+xml")


def content_security_policy(get_response: GetResponse) -> GetResponse:
    policy = "; ".join(f"{name} {sources}" for name, sources in settings.CONTENT_SECURITY_POLICY.items())

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", policy)
        return response

    return middleware


class TextCompression(GZipMiddleware):
    """Parquet and pictures are compressed already, and whoever downloads them wants to know their length.

    Lengths of compressed pages tell nothing about CSRF tokens (BREACH): Django masks each token anew, and pads each
    compressed answer at random.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        whole_text = response.status_code == 200 and response.get("Content-Type", "").startswith(TEXT)
        return super().process_response(request, response) if whole_text else response
