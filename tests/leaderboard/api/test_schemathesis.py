"""Requests that are generated from the description of the API: none is an error of the site, and answers conform."""

from collections.abc import Iterator

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from leaderboard.api.documentation import document
from leaderboard.wsgi import application
from tests.leaderboard.conftest import Site

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
REQUESTS = 12  # to each route


def operations() -> list[APIOperation]:
    schema = schemathesis.openapi.from_dict(document())
    schema.app = application
    return [result.ok() for result in schema.get_all_operations()]


@pytest.fixture
def _connection_stays_open() -> Iterator[None]:
    """Keep the connection of the test's transaction open between requests, as Django's own test client does."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.mark.slow
@pytest.mark.usefixtures("_connection_stays_open")
@pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.label)
def test_no_request_is_an_error_of_the_site(operation: APIOperation, site: Site) -> None:
    """Half of the numbers are those of runs that exist, so that requests come as far as the answers."""
    headers = {"Accept-Encoding": "identity"}  # its client unpacks nothing
    runs = [site.first.pk, site.second.pk, site.running.pk]

    @settings(
        max_examples=REQUESTS,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def send(case: Case) -> None:
        number = (case.path_parameters or {}).get("run")
        if isinstance(number, int) and number % 2:
            case.path_parameters["run"] = runs[number % len(runs)]
        case.call_and_validate(headers=headers, checks=CHECKS)

    send()
