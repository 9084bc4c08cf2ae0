"""How many requests one address may send, and how large a request may be."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse
from pytest_django.fixtures import Settings

from leaderboard.serving import limits
from leaderboard.serving.limits import (
    EXPORTS,
    EXPORTS_OF_ADDRESS,
    MAX_ADDRESS,
    MAX_BODY,
    Exports,
    allow,
    client_address,
    retry_after,
)
from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db


def test_exactly_the_allowed_number_of_concurrent_uses_passes() -> None:
    with ThreadPoolExecutor(16) as pool:
        passed = sum(pool.map(lambda _: allow("checks", "192.0.2.1", 20, 60), range(200)))
    assert passed == 20
    assert allow("checks", "192.0.2.2", 20, 60)
    assert allow("pages", "192.0.2.1", 20, 60)


def test_a_refused_client_is_told_when_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(limits.time, "monotonic", lambda: now)
    assert allow("checks", "192.0.2.1", 2, 60)
    now += 20
    assert [allow("checks", "192.0.2.1", 2, 60) for _ in range(3)] == [True, False, False]
    assert retry_after("checks", "192.0.2.1", 60) == 40
    now += 39
    assert not allow("checks", "192.0.2.1", 2, 60)
    now += 1
    assert [allow("checks", "192.0.2.1", 2, 60) for _ in range(2)] == [True, False]


def test_a_process_does_not_count_more_names_than_its_memory_should_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_NAMES", 10)
    addresses = [f"192.0.2.{number}" for number in range(30)]
    assert all(allow("checks", address, 1, 60) for address in addresses)
    assert len(limits.counted) == 10
    assert [allow("checks", address, 1, 60) for address in (addresses[0], addresses[-1])] == [True, False]


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
    assert "3 in 60 seconds" in page.content.decode()
    assert answer.json()["error"]["code"] == "too-many"


def test_health_checks_and_styles_are_not_limited(client: Client, settings: Settings) -> None:
    settings.REQUESTS_PER_MINUTE = 1
    for path in ("/healthz", "/static/style.css"):
        assert [client.get(path).status_code for _ in range(3)] == [200, 200, 200]


def test_guesses_of_a_password_are_limited_by_address_and_name(client: Client, settings: Settings) -> None:
    settings.REQUESTS_PER_MINUTE = 600

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


@pytest.mark.parametrize("file_format", ["csv", "json"])
def test_an_export_that_was_read_or_left_makes_room_for_the_next(client: Client, site: Site, file_format: str) -> None:
    address = f"/runs/{site.first.pk}/items/?format={file_format}"
    waiting = [client.get(address) for _ in range(EXPORTS_OF_ADDRESS)]
    refused = client.get(address)
    assert (refused.status_code, refused["Retry-After"]) == (429, "5")
    assert waiting.pop().getvalue()
    for _ in range(3):
        response = client.get(address)
        assert response.status_code == 200
        assert response.getvalue()


def test_a_client_is_counted_by_its_address_or_its_network() -> None:
    counted = {
        "192.0.2.7": "192.0.2.7",
        "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
        "2001:db8:1:2::ffff": "2001:db8:1:2::/64",
        "::ffff:192.0.2.7": "192.0.2.7",
        "fe80::1%eth0": "fe80::/64",
        "": "unknown",
        "localhost": "unknown",
        "1.2.3.4, 5.6.7.8": "unknown",
    }
    for address, name in counted.items():
        assert client_address(RequestFactory().get("/", REMOTE_ADDR=address)) == name, address


def test_a_client_cannot_choose_the_address_that_it_is_counted_by() -> None:
    request = RequestFactory().get("/", REMOTE_ADDR="192.0.2.7", headers={"X-Forwarded-For": "198.51.100.1"})
    assert client_address(request) == "192.0.2.7"
