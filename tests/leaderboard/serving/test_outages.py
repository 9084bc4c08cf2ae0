"""Pages and the API while the database is locked or away."""

from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

pytestmark = pytest.mark.django_db


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
        response = client.get("/api/v1/runs")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "10")
    assert response.json()["error"]["code"] == "database-unavailable"


def test_other_errors_are_left_alone(client: Client) -> None:
    def broken(*args: Any) -> None:
        raise ZeroDivisionError

    client.raise_request_exception = False
    with connection.execute_wrapper(broken):
        assert client.get("/queue/").status_code == 500
