"""The entry point of web servers."""

import json
from wsgiref.util import setup_testing_defaults

import pytest

from leaderboard.wsgi import application


@pytest.mark.django_db
def test_a_web_server_reaches_the_site() -> None:
    environment: dict[str, object] = {}
    setup_testing_defaults(environment)
    environment |= {"PATH_INFO": "/healthz", "HTTP_HOST": "localhost"}
    statuses: list[str] = []
    body = b"".join(application(environment, lambda status, headers, error=None: statuses.append(status)))
    assert statuses == ["200 OK"]
    assert json.loads(body)["parts"]["database"]["state"] == "ok"
