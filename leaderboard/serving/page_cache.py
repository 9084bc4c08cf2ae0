"""Pages that are kept until the data change, so that an unchanged page is neither read nor rendered again.

Every process keeps its own copies and asks the database for the version of the data with each request. A kept page is
therefore correct at once after a run finishes, whichever process noticed.

Pages are kept compressed, as most clients accept them: a tenth of the memory, and no page is compressed twice. Their
compressed length gives nothing away, because a page that is for everybody has no secret in it. The token of a form is a
reader's own: it is left out of the page that is kept, and put in for each reader.
"""

import gzip
import hashlib
import re
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.csrf import get_token
from django.middleware.gzip import re_accepts_gzip
from django.utils.cache import get_max_age, patch_vary_headers, set_response_etag

from leaderboard.data_version import data_version

LONGEST = 300  # seconds; pages may say how long ago something was
# Compressed bytes of a page that is kept. Times the number of pages (MAX_ENTRIES in the settings), this is the most
# memory that all of them take. The tables of figures in the same cache are few (`leaderboard/figures/board.py`).
LARGEST = 200 * 1024
LEVEL = 6  # of compression, like that of all other responses
# Cookies of readers to whom a page may show something of their own.
OWN_COOKIES = frozenset({settings.SESSION_COOKIE_NAME, "messages"})

TOKEN = re.compile(rb'(?<=name="csrfmiddlewaretoken" value=")\w*(?=")')  # as Django writes it into a form

View = Callable[..., HttpResponseBase]


# A page as it is kept: its compressed text, without the token of its forms, its headers, and whether it had a token.
KeptPage = tuple[bytes, dict[str, str], bool]


def kept(view: View, seconds: int = LONGEST) -> View:
    """Keep the responses of a view for all readers until the data change, and for at most this many seconds.

    The progress of a run is no change of the data: a page that shows it states how long it may be kept (`max-age`).

    Nothing is kept for or from a reader who is logged in, or of a response that says that it is not for everybody
    (`Cache-Control: private` or `no-store`).
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        shared = request.method == "GET" and OWN_COOKIES.isdisjoint(request.COOKIES)
        version = data_version() if shared else ""
        if not version:
            return view(request, *args, **kwargs)
        key = _key(request, version)
        if stored := cache.get(key):
            return _sent(request, stored)
        response = view(request, *args, **kwargs)
        if not isinstance(response, HttpResponse):
            return response
        text, tokens = TOKEN.subn(b"", response.content)
        if not _is_for_everybody(request, response, has_token=bool(tokens)):
            return response
        if not tokens:
            set_response_etag(response)  # the same for a page that was just made and one that was kept
        packed = gzip.compress(text, LEVEL, mtime=0)
        page = packed, dict(response.headers), bool(tokens)
        if len(packed) <= LARGEST:
            max_age = get_max_age(response)
            cache.set(key, page, seconds if max_age is None else min(seconds, max_age))
        return response if tokens or not _wants_packed(request) else _sent(request, page)

    return answer


def _wants_packed(request: HttpRequest) -> bool:
    return bool(re_accepts_gzip.search(request.headers.get("Accept-Encoding", "")))


def _sent(request: HttpRequest, page: KeptPage) -> HttpResponse:
    """Return a page in an encoding that the client accepts; one with a form is compressed with the reader's token."""
    packed, headers, has_token = page
    if has_token:
        return HttpResponse(TOKEN.sub(get_token(request).encode(), gzip.decompress(packed)), headers=headers)
    if not _wants_packed(request):
        return HttpResponse(gzip.decompress(packed), headers=headers)
    of_packed = {"Content-Encoding": "gzip", "ETag": f"W/{headers['ETag']}"}
    response = HttpResponse(packed, headers=headers | of_packed)
    patch_vary_headers(response, ("Accept-Encoding",))
    return response


def _key(request: HttpRequest, version: str) -> str:
    """Return what a response depends on, beside the data: the whole address, and what htmx and the reader ask for."""
    htmx = sorted((name, value) for name, value in request.headers.items() if name.lower().startswith("hx-"))
    parts = (version, request.scheme, request.get_host(), request.get_full_path(), request.headers.get("Accept"), htmx)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _is_for_everybody(request: HttpRequest, response: HttpResponse, has_token: bool) -> bool:
    directives = response.get("Cache-Control", "")
    return (
        response.status_code == 200
        and not response.cookies
        and (has_token or "CSRF_COOKIE_NEEDS_UPDATE" not in request.META)
        and not any(word in directives for word in ("private", "no-store", "no-cache"))
    )
