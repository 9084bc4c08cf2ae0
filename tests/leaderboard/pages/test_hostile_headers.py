"""Whatever methods and headers strangers send, no address answers with an error of the site, and none changes data."""

import pytest
from django.test import Client

from leaderboard.models import Run
from tests.leaderboard.conftest import Site
from tests.leaderboard.pages.test_hostile_requests import addresses

FILES = ("items.parquet", "items.jsonl", "picture.png", "every-eval-ever.json", "reproduce.sh")
HEADERS: dict[str, tuple[str, ...]] = {
    "Range": (
        *("bytes=", "bytes=-", "bytes=9-1", "bytes=-0", "bytes=0-99999999999999999999", "bytes=99999999999999999999-"),
        *("bytes=\u0663-", "items=0-1", "bytes=0-1,2-3", "bytes=0x1-2", "bytes=" + "0-1," * 1000, "=", "bytes"),
    ),
    "If-None-Match": ('"', "*", "W/", "a" * 5000, "\xe9", '"\x00"', ", ," * 100),
    "If-Match": ('"x"', "*"),
    "If-Modified-Since": ("never", "Mon, 31 Feb 2026 25:61:00 GMT", "Sun, 06 Nov 99999999 08:49:37 GMT", "-1"),
    "If-Unmodified-Since": ("Sun, 06 Nov 1994 08:49:37 GMT", "\x00"),
    "Accept": ("*/*;q=NaN", "text/html;" * 500, "\xe9", ";;;,,,", "application/json;q=-1"),
    "Accept-Encoding": ("gzip;q=0", "gzip, " * 500, "\x00", "identity;q=0"),
    "Accept-Language": ("xx-" * 1000, "de;q=1e999", "\u202e"),
    "Cookie": ("sessionid=\x00", "csrftoken=" + "a" * 5000, "messages=!!!", "sessionid=../../etc/passwd", ";=;=", "="),
    "Authorization": ("Bearer " + "\xe9" * 1000, "Basic !!!", "Bearer", "Digest x", "\x00"),
    "Content-Type": ("multipart/form-data", "application/json; charset=nonsense", "\xe9", "a" * 5000),
    "Content-Length": ("0", "99999999999999999999"),
    "X-Request-ID": ("a\nb", "\x00" * 20, "a" * 5000),
    "X-Forwarded-For": ("evil", "127.0.0.1, " * 500),
    "X-Forwarded-Host": ("evil.example",),
    "X-HTTP-Method-Override": ("DELETE",),
    "HX-Request": ("true", "\xe9"),
    "HX-Current-URL": ("javascript:alert(1)", "%ff", "http://[::"),
    "HX-Target": ("<script>", "\x00"),
    "Referer": ("http://[::", "javascript:alert(1)", "a" * 5000),
    "Origin": ("null", "http://[::", "https://evil.example"),
}
METHODS = ("OPTIONS", "TRACE", "PUT", "PATCH", "DELETE", "PROPFIND", "get", "A" * 200)


@pytest.fixture
def visitor(site: Site) -> Client:
    """A client that gets the page of an error instead of an exception."""
    return Client(raise_request_exception=False)


@pytest.mark.slow
def test_no_header_is_an_error_of_the_site(visitor: Client, site: Site, subtests: pytest.Subtests) -> None:
    run = f"/runs/{site.first.pk}/"
    pages = ["/", run, "/submit/", "/api/v1/runs", "/api/v1/submissions", "/nowhere/", "/static/site.css", "/healthz"]
    for name, values in HEADERS.items():
        for address in (*pages, *(f"{run}{file}" for file in FILES)):
            with subtests.test(f"{name} {address}"):
                for value in values:
                    response = visitor.get(address, headers={name: value})
                    body, headers = response.getvalue(), str(response.headers)
                    assert response.status_code < 500, value[:80]
                    assert b"evil.example" not in body and "evil.example" not in headers, value[:80]


def test_no_other_method_is_an_error_of_the_site_or_changes_anything(visitor: Client, site: Site) -> None:
    before = list(Run.objects.order_by("pk").values())
    for address in (*addresses(site), f"/runs/{site.first.pk}/items.parquet", "/metrics", "/admin/"):
        for method in METHODS:
            assert visitor.generic(method, address).status_code < 500, (method, address)
    assert list(Run.objects.order_by("pk").values()) == before
