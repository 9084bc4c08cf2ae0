"""Errors that nothing else handles, outages of the database, and JSON from strangers that is none."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.test import Client, RequestFactory

from leaderboard import api
from leaderboard.serving.errors import read_object
from probing.errors import BadInput

pytestmark = pytest.mark.django_db


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Client:
    """A client of a site whose tables cannot be read."""

    def fail(*_: Any) -> None:
        raise RuntimeError("the table is gone")

    monkeypatch.setattr(api.Model.objects, "order_by", fail)
    monkeypatch.setattr("leaderboard.pages.queue_page.queue", fail)
    return Client(raise_request_exception=False)


def test_an_unforeseen_error_of_the_api_is_json_and_is_logged(broken: Client, caplog: pytest.LogCaptureFixture) -> None:
    response = broken.get("/api/v1/models")
    assert response.status_code == 500
    assert response.json()["error"]["code"] == "internal"
    assert "gone" not in response.content.decode()
    assert "the table is gone" in caplog.text


def test_a_form_without_its_cookie_is_answered_with_a_page_of_the_site() -> None:
    response = Client(enforce_csrf_checks=True).post("/submit/", {"model": "org/name"})
    page = response.content.decode()
    assert response.status_code == 403
    assert "Allow cookies for this site" in page and 'class="masthead"' in page


def test_what_an_account_may_not_do_is_answered_with_a_page_of_the_site(admin_user: User, client: Client) -> None:
    client.force_login(admin_user)
    response = client.get("/admin/leaderboard/run/add/")
    page = response.content.decode()
    assert response.status_code == 403
    assert "Your account has no right to do this." in page and 'class="masthead"' in page


def test_an_unforeseen_error_of_a_page_is_a_page(broken: Client) -> None:
    response = broken.get("/queue/")
    assert response.status_code == 500
    assert "<h1>Something went wrong</h1>" in response.content.decode()


def locked(*args: Any) -> None:
    raise OperationalError("database is locked")


@pytest.mark.parametrize("address", ["/", "/queue/", "/benchmarks/", "/runs/1/"])
def test_a_page_says_that_the_site_is_busy(client: Client, address: str) -> None:
    with connection.execute_wrapper(locked):
        response = client.get(address)
    assert (response.status_code, response.headers["Retry-After"]) == (503, "10")
    assert "nothing was changed" in response.content.decode()
    assert "Content-Security-Policy" in response.headers


def test_the_api_answers_in_json(client: Client) -> None:
    with connection.execute_wrapper(locked):
        response = client.get("/api/v1/models")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "10")
    assert response.json()["error"]["code"] == "database-unavailable"


def test_other_errors_are_left_alone(client: Client) -> None:
    def broken(*args: Any) -> None:
        raise ZeroDivisionError

    client.raise_request_exception = False
    with connection.execute_wrapper(broken):
        assert client.get("/queue/").status_code == 500


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
