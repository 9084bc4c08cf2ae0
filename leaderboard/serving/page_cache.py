"""Pages that are kept until the data change, so that an unchanged page is neither read nor rendered again.

Every process keeps its own copies and asks the database for the version of the data with each request. A kept page is
therefore correct at once after a run finishes, whichever process noticed.
"""

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from leaderboard.data_version import data_version

LONGEST = 300  # seconds; pages may say how long ago something was
LARGEST = 2 * 1024**2  # bytes of a page that is kept
# Cookies of readers to whom a page may show something of their own.
OWN_COOKIES = frozenset({settings.SESSION_COOKIE_NAME, "messages"})

View = Callable[..., HttpResponseBase]


def kept(view: View, seconds: int = LONGEST) -> View:
    """Keep the responses of a view for all readers until the data change, and no longer than so many seconds.

    The progress of a run is no change of the data: a page that shows it is kept for a few seconds.

    Nothing is kept for or from a reader who is logged in, of a page with a form (its token is one reader's own), or of
    a response that says that it is not for everybody (`Cache-Control: private` or `no-store`).
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        shared = request.method == "GET" and OWN_COOKIES.isdisjoint(request.COOKIES)
        version = data_version() if shared else ""
        if not version:
            return view(request, *args, **kwargs)
        key = _key(request, version)
        if stored := cache.get(key):
            content, headers = stored
            return HttpResponse(content, headers=headers)
        response = view(request, *args, **kwargs)
        if isinstance(response, HttpResponse) and _is_for_everybody(request, response):
            cache.set(key, (response.content, dict(response.headers)), seconds)
        return response

    return answer


def _key(request: HttpRequest, version: str) -> str:
    """Return what a response depends on, beside the data: the whole address, and what htmx and the reader ask for."""
    htmx = sorted((name, value) for name, value in request.headers.items() if name.lower().startswith("hx-"))
    parts = (version, request.scheme, request.get_host(), request.get_full_path(), request.headers.get("Accept"), htmx)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _is_for_everybody(request: HttpRequest, response: HttpResponse) -> bool:
    directives = response.get("Cache-Control", "")
    return (
        response.status_code == 200
        and not response.cookies
        and "CSRF_COOKIE_NEEDS_UPDATE" not in request.META
        and not any(word in directives for word in ("private", "no-store", "no-cache"))
        and len(response.content) <= LARGEST
    )
