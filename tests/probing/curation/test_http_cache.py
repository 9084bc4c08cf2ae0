"""Politeness: pauses, retries, what is kept."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from probing.curation.endpoint import Endpoint, Row
from probing.curation.http_cache import HttpCache
from probing.curation.query import Query, current, stated
from probing.errors import BadInput, NoSpace, SourceUnavailable
from tests.probing.curation.conftest import Source
from tests.probing.curation.servers import Fault
from tests.probing.curation.world import World

CAPITALS = Query("Capitals", ("subject", "object"), (current("subject", "P36", "object"),))
EGYPT: list[Row] = [{"subject": "Q79", "object": "Q85"}]


@pytest.fixture
def source(serve: Callable[[World], Source]) -> Source:
    world = World()
    world.claim("Q79", "P36", "Q85")
    world.article("Q79", "en", "Egypt", 300)
    return serve(world)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between attempts, which are not slept."""
    found: list[float] = []
    monkeypatch.setattr(time, "sleep", lambda seconds: found.append(seconds) if seconds else None)
    return found


def test_it_says_who_asks(source: Source) -> None:
    source.endpoint().rows(CAPITALS)
    (agent,) = source.sparql.agents
    assert agent.startswith("Clozeboard/")


def test_an_answer_is_asked_for_once(source: Source) -> None:
    assert source.endpoint().rows(CAPITALS) == source.endpoint().rows(CAPITALS) == EGYPT
    assert len(source.sparql.asked) == 1


def test_another_endpoint_has_its_own_answers(source: Source) -> None:
    source.endpoint().rows(CAPITALS)
    Endpoint(source.answers(), f"{source.sparql.url}/other").rows(CAPITALS)
    assert len(source.sparql.asked) == 2


@pytest.mark.parametrize(
    "fault",
    [
        *(Fault(500, body="no memory"), Fault(503), Fault(502), Fault(keep=0.5), Fault(keep=0), Fault(429)),
        *(Fault(status, {"Content-Length": "500", "Connection": "close"}, "cut") for status in (429, 502, 503)),
    ],
    ids=["500", "503", "502", "truncated", "empty", "429", "cut 429", "cut 502", "cut 503"],
)
def test_it_asks_again_after_a_fault(source: Source, fault: Fault) -> None:
    source.sparql.faults.extend([fault, fault])
    assert source.endpoint().rows(CAPITALS) == EGYPT
    assert len(source.sparql.asked) == 3


@pytest.mark.parametrize("status", [429, 500, 503])
def test_it_waits_as_long_as_the_server_says(source: Source, pauses: list[float], status: int) -> None:
    source.sparql.faults.append(Fault(status, {"Retry-After": "7"}))
    assert source.endpoint().rows(CAPITALS) == EGYPT
    assert pauses == [7.0]


def test_it_understands_a_date_to_wait_for(source: Source, pauses: list[float]) -> None:
    then = datetime.now(UTC) + timedelta(seconds=100)
    source.sparql.faults.append(Fault(429, {"Retry-After": format_datetime(then, usegmt=True)}))
    source.endpoint().rows(CAPITALS)
    assert 90 < pauses[0] <= 100


def test_pauses_double_where_the_server_says_nothing(source: Source, pauses: list[float]) -> None:
    source.sparql.faults.extend([Fault(500), Fault(500, {"Retry-After": "soon"}), Fault(500)])
    source.endpoint().rows(CAPITALS)
    assert pauses == [0.001, 0.002, 0.004]


def test_it_gives_up_in_the_end_and_says_what_to_do(source: Source) -> None:
    source.sparql.faults.extend([Fault(503)] * 4)
    with pytest.raises(SourceUnavailable, match=r"4 times over.*503.*Try again later"):
        source.endpoint().rows(CAPITALS)
    assert source.endpoint().rows(CAPITALS) == EGYPT


def test_a_server_that_wants_an_hour_is_asked_another_day(source: Source, pauses: list[float]) -> None:
    source.sparql.faults.append(Fault(429, {"Retry-After": "3600"}))
    with pytest.raises(SourceUnavailable, match="pause of 3600 seconds"):
        source.endpoint().rows(CAPITALS)
    assert pauses == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 414])
def test_a_refused_query_is_not_repeated(source: Source, status: int) -> None:
    source.sparql.faults.append(Fault(status, body="not like this"))
    with pytest.raises(BadInput, match=f"{status}.*not like this"):
        source.endpoint().rows(CAPITALS)
    assert len(source.sparql.asked) == 1


OVER_LIMIT = "java.util.concurrent.TimeoutException"


@pytest.mark.parametrize(
    "fault",
    [Fault(504, body=OVER_LIMIT), Fault(500, body=OVER_LIMIT), Fault(keep=0.5, body=OVER_LIMIT)],
    ids=["504", "500", "truncated"],
)
def test_a_query_that_is_twice_over_the_servers_limit_is_sliced_for_good(source: Source, fault: Fault) -> None:
    source.sparql.faults.extend([fault, fault])
    assert source.endpoint().rows(CAPITALS) == EGYPT
    assert len(source.sparql.asked) == 12
    assert 'STRENDS(STR(?subject), "9")' in source.sparql.asked[-1]
    assert source.endpoint().rows(CAPITALS) == EGYPT
    assert len(source.sparql.asked) == 12


def test_a_query_that_a_gateway_twice_gives_up_is_sliced_this_time(source: Source) -> None:
    source.sparql.faults.extend([Fault(504), Fault(504)])
    assert source.endpoint().rows(CAPITALS) == EGYPT
    assert len(source.sparql.asked) == 2 + 10
    assert source.endpoint().rows(CAPITALS) == EGYPT
    assert len(source.sparql.asked) == 2 + 10 + 1
    assert "STRENDS" not in source.sparql.asked[-1]


def test_a_server_that_hangs_is_asked_the_same_again(source: Source) -> None:
    source.sparql.faults.extend([Fault(late=1.1), Fault(late=1.1)])
    assert source.endpoint(timeout=1).rows(CAPITALS) == EGYPT
    assert source.sparql.asked == [CAPITALS.text] * 3


def test_a_well_known_query_that_takes_too_long_is_asked_in_few_slices(source: Source) -> None:
    source.sparql.faults.extend([Fault(500, body=OVER_LIMIT)] * 2)
    source.endpoint().rows(replace(CAPITALS, least=50))
    assert len(source.sparql.asked) == 2 + 2


def test_a_slow_answer_is_not_waited_for_longer_than_the_time_out(source: Source) -> None:
    source.sparql.faults.append(Fault(late=1.6))
    begin = time.monotonic()
    assert source.endpoint(timeout=1).rows(CAPITALS) == EGYPT
    assert time.monotonic() - begin < 1.6


def test_requests_keep_their_distance(source: Source, pauses: list[float]) -> None:
    endpoint = Endpoint(HttpCache(source.cache, interval=10), source.endpoint_url)
    endpoint.rows(CAPITALS)
    endpoint.rows(Query("Capitals again", ("subject", "object"), (stated("subject", "P36", "object"),)))
    assert len(pauses) == 1
    assert 9 < pauses[0] <= 10


def test_a_server_that_speaks_of_something_else_is_told_as_such(source: Source) -> None:
    with pytest.raises(SourceUnavailable, match=r"something else than rows.*--endpoint"):
        Endpoint(source.answers(), source.wikipedia_url.format(site="en") + "/rest.php/v1/page/Egypt").rows(CAPITALS)


@pytest.mark.parametrize("page", ["<!DOCTYPE html>\n<html>", " <html lang=en>"])
def test_a_page_for_people_is_told_as_such_at_once(source: Source, page: str) -> None:
    source.sparql.faults.append(Fault(keep=0, body=page, headers={"Content-Type": "text/html"}))
    with pytest.raises(BadInput, match=r"a page for people.*--endpoint"):
        source.endpoint().rows(CAPITALS)
    assert len(source.sparql.asked) == 1


def test_no_address_is_refused(source: Source) -> None:
    with pytest.raises(BadInput, match="no address"):
        Endpoint(source.answers(), "wikidata")


def test_a_server_that_is_not_there_is_told_as_such(source: Source) -> None:
    source.sparql.server_close()
    with pytest.raises(SourceUnavailable, match="refused"):
        Endpoint(source.answers(), "http://127.0.0.1:9/sparql").rows(CAPITALS)


def test_a_file_that_is_no_store_of_answers_is_refused(tmp_path: Path) -> None:
    (tmp_path / "answers").write_text("hello " * 1000)
    with pytest.raises(BadInput, match=r"cannot hold answers.*--cache"):
        HttpCache(tmp_path / "answers")
    with pytest.raises(BadInput, match=r"cannot hold answers.*--cache"):
        HttpCache(tmp_path / "answers" / "below")


def test_the_time_of_kept_answers_is_that_of_asking(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    first = source.answers()
    first.keep("a question", 1)
    second = source.answers()
    assert second.known("a question") == 1
    assert second.asked() == first.asked()
    assert second.asked()["from"].startswith("20")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert second.asked() == {"from": "1970-01-01T00:00:00+00:00", "to": "1970-01-01T00:00:00+00:00"}


def test_a_full_disk_is_told_as_such(source: Source) -> None:
    answers = source.answers()
    answers._store.execute("PRAGMA max_page_count = 3")
    with pytest.raises(NoSpace, match="Free some space"):
        answers.keep("a question", "x" * 100_000)
