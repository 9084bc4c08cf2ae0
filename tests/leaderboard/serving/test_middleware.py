"""Headers of responses: security, compression, static files, and pages that need not be sent again."""

import gzip
import re

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from leaderboard.serving import middleware
from leaderboard.serving.web_server import VersionedFiles
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db
BROWSER = {"Accept-Encoding": "gzip, deflate, br"}


def test_every_response_forbids_scripts_of_other_sites(client: Client) -> None:
    policy = client.get("/healthz").headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "script-src 'self';" in policy
    assert "style-src 'self';" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_the_other_security_headers_are_there(client: Client) -> None:
    headers = client.get("/queue/").headers
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"


def test_styles_and_refusals_have_the_headers_as_well(client: Client) -> None:
    for response in (client.get("/static/icon.svg"), client.get("/queue/", headers={"Host": "evil.example"})):
        assert "Content-Security-Policy" in response.headers
        assert response["X-Content-Type-Options"] == "nosniff"


def test_programs_elsewhere_may_read_the_api(client: Client) -> None:
    assert client.get("/api/v1/models")["Cross-Origin-Resource-Policy"] == "cross-origin"


@pytest.mark.parametrize("secure", [True, False])
def test_https_is_kept_to_where_the_settings_say_so(client: Client, settings: Settings, secure: bool) -> None:
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = True, 3600
    response = client.get("/queue/?a=1", secure=secure)
    if secure:
        assert response["Strict-Transport-Security"] == "max-age=3600"
    else:
        assert (response.status_code, response["Location"]) == (301, "https://testserver/queue/?a=1")
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize("address", ["/methods/", "/?format=csv", "/api/v1/models", "/static/style.css"])
def test_text_is_compressed_for_clients_that_accept_it(client: Client, address: str) -> None:
    for _ in range(20):
        make.finished(make.Benchmark.objects.first() or make.benchmark())
    plain, packed = client.get(address), client.get(address, headers=BROWSER)
    assert "Content-Encoding" not in plain
    assert packed["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.getvalue()) == plain.getvalue()
    assert "Accept-Encoding" in packed["Vary"]


def test_scripts_are_compressed_once_in_each_process(client: Client) -> None:
    middleware.compressed.cache_clear()
    answers = [client.get("/static/plotly/plotly.min.js", headers=BROWSER) for _ in range(3)]
    assert len({answer.content for answer in answers}) == 1
    assert answers[0]["Content-Length"] == str(len(answers[0].content))
    assert middleware.compressed.cache_info().misses == 1
    known = {**BROWSER, "If-None-Match": answers[0]["ETag"]}
    assert client.get("/static/plotly/plotly.min.js", headers=known).status_code == 304


@pytest.mark.parametrize("address", ["/", "/methods/", "/?format=csv", "/api/v1/models"])
@pytest.mark.parametrize("headers", [{}, BROWSER], ids=["plain", "compressed"])
def test_an_unchanged_page_is_not_sent_again(client: Client, address: str, headers: dict[str, str]) -> None:
    on = make.benchmark()
    make.finished(on)
    etag = client.get(address, headers=headers)["ETag"]
    again = client.get(address, headers={**headers, "If-None-Match": etag})
    assert (again.status_code, again.getvalue()) == (304, b"")
    if address != "/methods/":
        make.finished(on)
        assert client.get(address, headers={**headers, "If-None-Match": etag}).status_code == 200


def test_files_and_errors_are_not_compressed(client: Client) -> None:
    for address in ("/static/plotly/plotly.min.js.map", "/nowhere/"):
        response = client.get(address, headers=BROWSER)
        assert response.status_code == 404
        assert "Content-Encoding" not in response


@pytest.mark.django_db  # a page is kept by the version of the data, which the database holds
def test_a_style_sheet_has_an_address_with_its_digest_and_may_be_cached_for_a_year(client: Client) -> None:
    address = re.search(r'href="(/static/style\.css\?v=\w{12})"', client.get("/methods/").content.decode())
    assert address
    answer = client.get(address[1])
    assert "max-age=31536000" in answer["Cache-Control"]
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_a_missing_file_has_an_address_without_a_digest() -> None:
    assert VersionedFiles().url("nowhere.css") == "/static/nowhere.css"
