"""Refusals of requests: too large, too many, or too much work at once; and by which address a client is counted."""

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse
from pytest_django.fixtures import Settings

from leaderboard.serving.errors import read_object
from leaderboard.serving.limits import EXPORTS, EXPORTS_OF_ADDRESS, MAX_ADDRESS, MAX_BODY, Exports, client_address
from probing.errors import BadInput
from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db
PEOPLE, PROGRAMS = "/queue/", "/api/v1/models"


def test_a_long_query_string_is_refused_and_a_page_repeats_little_of_the_longest_one(
    client: Client, site: Site
) -> None:
    longest = "/?" + "x" * (MAX_ADDRESS - 1)
    plain, reflected = (len(client.get(address).content) for address in ("/", longest))
    assert reflected - plain < 100_000
    page, answer = (client.get(f"{path}?{'x' * MAX_ADDRESS}") for path in (PEOPLE, PROGRAMS))
    assert (page.status_code, answer.status_code) == (414, 414)
    assert len(page.content) < 10_000
    assert answer.json()["error"]["code"] == "request-too-large"


@pytest.mark.parametrize("path", ["/api/v1/submit", "/submit/", "/admin/login/"])
def test_a_large_body_is_refused(client: Client, path: str) -> None:
    response = client.post(path, b"[" * (MAX_BODY + 1), content_type="application/json")
    assert response.status_code == 413


def test_more_fields_than_a_form_has_are_refused(client: Client) -> None:
    response = client.post("/api/v1/submit", "&".join(["a=1"] * 2000), content_type="application/x-www-form-urlencoded")
    assert response.status_code == 400
    response = client.post("/submit/", "&".join(["a=1"] * 2000), content_type="application/x-www-form-urlencoded")
    assert response.status_code == 413


def test_the_requests_of_an_address_are_limited_as_the_settings_say(client: Client, settings: Settings) -> None:
    settings.REQUESTS_PER_MINUTE = 3
    for path in (PEOPLE, PROGRAMS):
        assert [client.get(path).status_code for _ in range(4)] == [200, 200, 200, 429]
        assert client.get(path, REMOTE_ADDR="192.0.2.9").status_code == 200
    page, answer = client.get(PEOPLE), client.get(PROGRAMS)
    assert 0 < int(page["Retry-After"]) <= 60
    assert "3 per minute" in page.content.decode()
    assert answer.json()["error"]["code"] == "too-many"


def test_health_checks_and_styles_are_not_limited(client: Client, settings: Settings) -> None:
    settings.REQUESTS_PER_MINUTE = 1
    for path in ("/healthz", "/static/style.css"):
        assert [client.get(path).status_code for _ in range(3)] == [200, 200, 200]


def test_guesses_of_a_password_are_limited_by_address_and_name(client: Client, settings: Settings) -> None:
    settings.REQUESTS_PER_MINUTE = 600
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # the usual one takes 0.3 s

    def guess(name: str, address: str = "192.0.2.1") -> int:
        fields = {"username": name, "password": "guess"}
        return client.post(reverse("admin:login"), fields, REMOTE_ADDR=address).status_code

    assert [guess("root") for _ in range(11)] == [200] * 10 + [429]
    assert guess("root", "192.0.2.2") == 200
    assert [guess(f"user{number}") for number in range(30)][-1] == 429


def test_only_some_exports_are_written_at_the_same_time() -> None:
    exports = Exports()
    assert [exports.begin("192.0.2.1") for _ in range(EXPORTS_OF_ADDRESS + 1)] == [True, True, False]
    assert sum(exports.begin(f"192.0.2.{number}") for number in range(2, 10)) == EXPORTS - EXPORTS_OF_ADDRESS
    exports.end("192.0.2.1")
    assert exports.begin("192.0.2.50")


def test_an_export_that_was_read_or_left_makes_room_for_the_next(client: Client, site: Site) -> None:
    address = f"/runs/{site.first.pk}/items/?format=csv"
    waiting = [client.get(address) for _ in range(EXPORTS_OF_ADDRESS)]
    refused = client.get(address)
    assert (refused.status_code, refused["Retry-After"]) == (429, "5")
    assert waiting.pop().getvalue()
    for _ in range(3):
        response = client.get(address)
        assert response.status_code == 200
        assert response.getvalue()


@pytest.mark.parametrize(
    ("remote_address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::ffff", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "unknown"),
        ("localhost", "unknown"),
        ("1.2.3.4, 5.6.7.8", "unknown"),
    ],
)
def test_a_client_is_counted_by_its_address_or_its_network(remote_address: str, counted: str) -> None:
    assert client_address(RequestFactory().get("/", REMOTE_ADDR=remote_address)) == counted


def test_a_client_cannot_choose_the_address_that_it_is_counted_by() -> None:
    request = RequestFactory().get("/", REMOTE_ADDR="192.0.2.7", headers={"X-Forwarded-For": "198.51.100.1"})
    assert client_address(request) == "192.0.2.7"


def read(body: bytes, content_type: str = "application/json") -> dict[str, object]:
    return read_object(RequestFactory().post("/", body, content_type=content_type))


def test_an_object_is_read() -> None:
    assert read('{"model": "gpt2", "words": ["é", 1.5]}'.encode()) == {"model": "gpt2", "words": ["é", 1.5]}


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"\xff", b"[" * 9000, b'{"a": NaN}', b'{"a": 1e999}', b'{"a": "\\ud800"}', b'{"a": "\\u0000"}'],
)
def test_anything_else_is_bad_input(body: bytes) -> None:
    with pytest.raises(BadInput):
        read(body)


def test_another_content_type_is_bad_input() -> None:
    with pytest.raises(BadInput):
        read(b"{}", "text/plain")
