"""/healthz : tells a load balancer that the site and its database answer."""

import pytest
from django.db import OperationalError, connection
from django.test import Client


def test_it_answers_where_the_database_does(client: Client, db: None) -> None:
    response = client.get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")


def test_it_fails_where_the_database_does_not_answer(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OperationalError("no connection")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "ensure_connection", fail)
        assert Client(raise_request_exception=False).get("/healthz").status_code == 500
