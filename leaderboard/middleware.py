"""The Content-Security-Policy header, which Django 5.2 does not write itself."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

GetResponse = Callable[[HttpRequest], HttpResponse]


def content_security_policy(get_response: GetResponse) -> GetResponse:
    policy = "; ".join(f"{name} {sources}" for name, sources in settings.CONTENT_SECURITY_POLICY.items())

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", policy)
        return response

    return middleware
