"""Tests of what an operator is asked to send when a test of the real endpoint fails."""

import pytest

from probing.curation.wikidata import Query
from tests.probing.curation.conftest import Source
from tests.probing.curation.live_report import FIRST_BYTES, WatchedEndpoint
from tests.probing.curation.servers import Fault

QUERY = Query("Capitals", ("subject", "object"), ("?subject wdt:P36 ?object .",))


@pytest.fixture
def endpoint(source: Source) -> WatchedEndpoint:
    return WatchedEndpoint(source.cache(), source.endpoint_url)


def failure(endpoint: WatchedEndpoint) -> str:
    with pytest.raises(pytest.fail.Exception) as caught:
        endpoint.rows(QUERY)
    return str(caught.value)


def test_a_failure_names_query_status_headers_and_the_first_bytes(source: Source, endpoint: WatchedEndpoint) -> None:
    source.sparql.faults.append(Fault(403, {"X-Cache": "cp3066 pass"}, "banned until noon" + "x" * 2 * FIRST_BYTES))
    message = failure(endpoint)
    assert message.startswith("Please report this failure")
    for part in ("error: http", "status: 403", "X-Cache: cp3066 pass", "banned until noon", QUERY.text, "Clozeboard/"):
        assert part in message
    assert source.endpoint_url in message
    assert message.count("x") < 1.5 * FIRST_BYTES


def test_the_last_answer_of_several_attempts_is_reported(source: Source, endpoint: WatchedEndpoint) -> None:
    source.sparql.faults.extend([Fault(500, body="first"), *[Fault(503, body="later")] * 3])
    message = failure(endpoint)
    assert (
        "status: 503" in message and "later" in message and "first" not in message.split("query:")[0].split("body")[1]
    )


def test_a_connection_without_an_answer_is_reported(source: Source) -> None:
    endpoint = WatchedEndpoint(source.cache(), "http://127.0.0.1:9/sparql")
    assert "no whole answer: " in failure(endpoint)


def test_after_a_failure_no_further_query_is_sent(source: Source, endpoint: WatchedEndpoint) -> None:
    source.sparql.faults.append(Fault(403))
    failure(endpoint)
    with pytest.raises(pytest.skip.Exception, match="an earlier query failed"):
        endpoint.rows(QUERY)
    assert len(source.sparql.requests) == 1


def test_an_endpoint_that_answers_gives_its_rows(source: Source, endpoint: WatchedEndpoint) -> None:
    assert endpoint.rows(QUERY) == [{"subject": "Q79", "object": "Q85"}]
