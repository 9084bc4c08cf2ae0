"""Headers of responses: security, compression, and pages that need not be sent again."""

import gzip

import pytest
from django.test import Client

from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db
BROWSER = {"Accept-Encoding": "gzip, deflate, br"}


def test_every_response_forbids_scripts_of_other_sites(client: Client) -> None:
    policy = client.get("/healthz").headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy


def test_the_other_security_headers_are_there(client: Client) -> None:
    headers = client.get("/healthz").headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"


@pytest.mark.parametrize("address", ["/methods/", "/?format=csv", "/api/v1/leaderboard", "/static/style.css"])
def test_text_is_compressed_for_clients_that_accept_it(client: Client, address: str) -> None:
    for _ in range(20):
        make.finished(make.Benchmark.objects.first() or make.benchmark())
    plain, packed = client.get(address), client.get(address, headers=BROWSER)
    assert "Content-Encoding" not in plain
    assert packed["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.getvalue()) == plain.getvalue()
    assert "Accept-Encoding" in packed["Vary"]


@pytest.mark.parametrize("address", ["/", "/methods/", "/?format=csv", "/api/v1/leaderboard"])
@pytest.mark.parametrize("headers", [{}, BROWSER], ids=["plain", "compressed"])
def test_an_unchanged_page_is_not_sent_again(client: Client, address: str, headers: dict[str, str]) -> None:
    on = make.benchmark()
    make.finished(on)
    seen = client.get(address, headers=headers)["ETag"]
    again = client.get(address, headers={**headers, "If-None-Match": seen})
    assert (again.status_code, again.getvalue()) == (304, b"")
    if address != "/methods/":
        make.finished(on)
        assert client.get(address, headers={**headers, "If-None-Match": seen}).status_code == 200


def test_files_and_errors_are_not_compressed(client: Client) -> None:
    for address in ("/static/plotly/plotly.min.js.map", "/nowhere/"):
        response = client.get(address, headers=BROWSER)
        assert response.status_code == 404
        assert "Content-Encoding" not in response
