"""Whatever strangers send, no address answers with an error of the site, the API answers with JSON, nothing changes.

They send addresses, query strings, bodies, hosts, methods and headers.
"""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaderboard.models import Run
from tests.leaderboard.conftest import Site

PARAMETERS = (
    "page", "sort", "format", "table", "columns", "benchmark", "m", "right", "search", "correct", "relation",
    "template", "kind", "published", "model", "state", "metric", "items-page", "domain", "look", "size", "licence",
    "relations-sort",
)  # fmt: skip
HOSTILE = (
    "9" * 4000, "9" * 5000, "-1", "1e999", "99999999999999999999", "٣", "²", "\x00", "a\x00b", "\ud7ff", "%", "csv",
    "-", "--model", "NaN", "2026-13-45", "2026-02-30T25:61", "\r\nSet-Cookie: a=b", "<script>alert(1)</script>",
    "' OR 1=1 --", "{{7*7}}", "../../etc/passwd", "a" * 7000, "\U0010ffff", "(a+)+$", "true", "null", "[]", "all",
)  # fmt: skip
# One of each kind, for every parameter of every address at once; any of them meet by chance below.
KINDS = (
    "9" * 150, "99999999999999999999", "-1", "1e999", "²", "a\x00b", "\ud7ff", "csv", "2026-13-45",
    "\r\nSet-Cookie: a=b", "<script>alert(1)</script>", "[]",
)  # fmt: skip
# More digits than Python reads as a number, and more letters than any name has.
LONG = {"page": "9" * 5000, "m": "9" * 5000, "benchmark": "9" * 5000, "sort": "a" * 7000, "search": "a" * 7000}
RAW_QUERIES = (
    "page=%ff%fe",
    "%00=1",
    "page=%",
    "m=1&" * 900,
    "&" * 3000,
    "=" * 3000,
    "a;b=c",
    "page[]=1",
    "m=%ED%A0%80",
)
PATHS = (
    "/runs/99999999999999999999/",
    "/runs/99999999999999999999/items/",
    "/runs/99999999999999999999/items.parquet",
    f"/runs/{'9' * 5000}/",
    "/runs/9223372036854775808/items/P30/0/0/",
    "/runs/RUN/items/P30/99999999999999999999/0/",
    "/runs/RUN/items/P30/0/99999999999999999999/",
    "/runs/RUN/items/%00/0/0/",
    "/runs/%D9%A3/",
    "/models/%00/%00/",
    "/models/a%0d%0ab/c/",
    "/models/%ff/%fe/",
    "/models/../../",
    "/benchmarks/small/relations/%00/",
    "/benchmarks/small/relations/%F0%9F%98%80/",
    "/api/v1/runs/99999999999999999999",
    "/api/v1/runs/99999999999999999999/items",
    "/api/v1/runs/99999999999999999999/scores",
    f"/api/v1/{'a/' * 3000}",
    "/api/v1/%00",
    "/api/v1/submissions/%F0%9F%98%80",
    f"/api/v1/submissions/{'a' * 3000}",
    "/submissions/%ff%fe/",
    "/submissions/a%0d%0ab/",
    "/%00",
    "//evil.example/",
    "/admin/leaderboard/run/99999999999999999999/change/",
    "/admin/login/?next=%00",
)
API = ("leaderboard", "models", "benchmarks", "runs", "runs/RUN", "runs/RUN/scores", "runs/RUN/items")
BODIES = (
    b"[" * 100_000,
    b'{"model": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
    b'{"model": "a/b", "options": ' + b'{"a":' * 20_000 + b"1" + b"}" * 20_000 + b"}",
    b"\x00", b"\xff\xfe", b"null", b"1" * 5000, b'{"model": NaN}', b'{"model": "\\ud800"}', b'{"model": "a\\u0000/b"}',
    b'{"model": {"a": 1}}', b'{"model": "a/b", "options": []}', b'{"model": "a/b", "benchmark": {"a": []}}',
    b'{"model": "a/b", "benchmark": "\\u0000"}', b'{"model": "' + b"a" * 60_000 + b'"}', b'{"model": 1e999}',
    b'{"model": "a/b", "options": {"templates": ' + b"9" * 5000 + b"}}", b"{" + b'"a":1,' * 5000 + b'"model":"a/b"}',
)  # fmt: skip

# About the content that is sent, and about the visitor.
CONTENT_HEADERS: dict[str, tuple[str, ...]] = {
    "Range": (
        *("bytes=", "bytes=-", "bytes=9-1", "bytes=-0", "bytes=0-99999999999999999999", "bytes=99999999999999999999-"),
        *("bytes=\u0663-", "items=0-1", "bytes=0-1,2-3", "bytes=0x1-2", "bytes=" + "0-1," * 1000, "=", "bytes"),
    ),
    "If-None-Match": ('"', "*", "W/", "a" * 5000, "\xe9", '"\x00"', ", ," * 100),
    "If-Match": ('"x"', "*"),
    "If-Modified-Since": ("never", "Mon, 31 Feb 2026 25:61:00 GMT", "Sun, 06 Nov 99999999 08:49:37 GMT", "-1"),
    "If-Unmodified-Since": ("Sun, 06 Nov 1994 08:49:37 GMT", "\x00"),
}
HEADERS: dict[str, tuple[str, ...]] = {
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
METHODS = ("OPTIONS", "DELETE", "get", "A" * 200)


@pytest.fixture
def visitor(site: Site) -> Client:
    """A client that gets the page of an error instead of an exception."""
    return Client(raise_request_exception=False)


def expect_no_error(visitor: Client, address: str, **request: Any) -> None:
    response = visitor.get(address, **request)
    body = b"".join(response) if response.streaming else response.content
    assert response.status_code < 500, (address[:200], response.status_code)
    if address.startswith("/api/v1/") and response.status_code >= 400:
        assert set(json.loads(body)["error"]) == {"code", "message", "next_step"}, address[:200]


def addresses(site: Site) -> list[str]:
    """Return every kind of address once, without its query string."""
    api = [f"/api/v1/{route}".replace("RUN", str(site.first.pk)) for route in API]
    return list(dict.fromkeys([*(address.partition("?")[0] for address in site.addresses), *api]))


def test_no_path_is_an_error_of_the_site(visitor: Client, site: Site, subtests: pytest.Subtests) -> None:
    for path in PATHS:
        with subtests.test(path[:80]):
            expect_no_error(visitor, path.replace("RUN", str(site.first.pk)))


@pytest.mark.slow
def test_no_query_string_is_an_error_of_the_site(visitor: Client, site: Site, subtests: pytest.Subtests) -> None:
    for address in ("/", "/benchmarks/small/", "/compare/", "/nowhere/", "/api/v1/models"):
        with subtests.test(address):
            for query in RAW_QUERIES:
                expect_no_error(visitor, address, QUERY_STRING=query)
    for address in addresses(site):
        with subtests.test(address):
            for hostile in KINDS:
                expect_no_error(visitor, f"{address}?{urlencode(dict.fromkeys(PARAMETERS, hostile))}")


@pytest.mark.slow
def test_no_long_value_is_an_error_of_the_site(visitor: Client, site: Site, subtests: pytest.Subtests) -> None:
    for address in addresses(site):
        with subtests.test(address):
            for name, value in LONG.items():
                expect_no_error(visitor, f"{address}?{name}={value}")


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_combination_of_parameters_is_an_error_of_the_site(visitor: Client, site: Site, data: st.DataObject) -> None:
    value = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40).filter(lambda text: text.isprintable()))
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(PARAMETERS), value), max_size=6))
    address = data.draw(st.sampled_from(addresses(site)))
    expect_no_error(visitor, f"{address}?{urlencode(pairs)}")


@pytest.mark.slow
def test_no_body_is_an_error_of_the_site(visitor: Client, site: Site, subtests: pytest.Subtests) -> None:
    others = ("/api/v1/models", "/api/v1/submissions/a/cancel", "/submit/", "/submissions/a/", "/", "/admin/login/")
    for address in ("/api/v1/submit", *others):  # the others read no JSON
        for body in BODIES[:6] if address in others else BODIES:
            with subtests.test(f"{address} {body[:40]!r}"):
                response = visitor.post(address, body, content_type="application/json")
                assert response.status_code < 500
                if address.startswith("/api/v1/"):
                    assert set(response.json()["error"]) == {"code", "message", "next_step"}


def test_an_invalid_host_is_refused(visitor: Client, site: Site, subtests: pytest.Subtests) -> None:
    for host in ("evil.example", "a b", "localhost\x00", "[::", "é"):
        with subtests.test(host):
            page, answer = (visitor.get(path, headers={"Host": host}) for path in ("/queue/", "/api/v1/models"))
            assert (page.status_code, answer.status_code) == (400, 400)
            assert "<h1>" in page.content.decode()
            assert answer.json()["error"]["code"] == "bad-request"


@pytest.mark.slow
def test_no_header_is_an_error_of_the_site(visitor: Client, site: Site, subtests: pytest.Subtests) -> None:
    run = f"/runs/{site.first.pk}/"
    contents = (run, "/static/site.css", f"{run}items.parquet", f"{run}items.jsonl", f"{run}reproduce.sh")
    by_header = [
        *((name, values, contents) for name, values in CONTENT_HEADERS.items()),
        *((name, values, ("/", "/submit/", "/api/v1/models", "/healthz")) for name, values in HEADERS.items()),
    ]
    for name, values, addresses in by_header:
        for address in addresses:
            with subtests.test(f"{name} {address}"):
                for value in values:
                    response = visitor.get(address, headers={name: value})
                    body, headers = response.getvalue(), str(response.headers)
                    assert response.status_code < 500, value[:80]
                    assert b"evil.example" not in body and "evil.example" not in headers, value[:80]


@pytest.mark.slow
def test_no_other_method_is_an_error_of_the_site_or_changes_anything(visitor: Client, site: Site) -> None:
    before = list(Run.objects.order_by("pk").values())
    for address in (*addresses(site), f"/runs/{site.first.pk}/items.parquet", "/metrics", "/admin/"):
        for method in METHODS:
            assert visitor.generic(method, address).status_code < 500, (method, address)
    assert list(Run.objects.order_by("pk").values()) == before
