"""Tests of the HTTP cache: pauses, retries, stored answers."""

import json
import socket
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from probing.curation.http_cache import HttpCache
from probing.curation.wikidata import Binding, Endpoint, Query, current_value, stated_value
from probing.errors import BadInput, NoSpace, SourceUnavailable
from tests.probing.curation.conftest import Source
from tests.probing.curation.servers import Fault

CAPITALS = Query("Capitals", ("subject", "object"), (current_value("subject", "P36", "object"),))
EGYPT: list[Binding] = [{"subject": "Q79", "object": "Q85"}]


def unknown_host(*_: object, **__: object) -> None:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record the pauses between attempts instead of sleeping."""
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", lambda seconds: slept.append(seconds) if seconds else None)
    return slept


def test_requests_name_their_client(source: Source) -> None:
    source.endpoint().rows(CAPITALS)
    (agent,) = source.sparql.agents
    assert agent.startswith("Clozeboard/")


@pytest.mark.parametrize("contact", ["ann@example.org", "https://example.org/~ann"])
def test_requests_name_the_contact_of_the_user(source: Source, contact: str) -> None:
    with HttpCache(source.cache_file, interval=0, contact=contact) as cache:
        Endpoint(cache, source.endpoint_url).rows(CAPITALS)
        cache.session.get(source.wikipedia_url.format(site="en") + "/rest.php/v1/page/Egypt/history/counts/edits")
    assert source.sparql.agents == source.wikipedia.agents
    assert f"({contact}; " in next(iter(source.sparql.agents))


@pytest.mark.parametrize("contact", ["me", "a@b.c\r\nX: y", "ann@example.org (Ann)", "ftp://example.org"])
def test_a_contact_that_is_no_address_is_refused(tmp_path: Path, contact: str) -> None:
    with pytest.raises(BadInput, match="Give --contact an e-mail address or a web page"):
        HttpCache(tmp_path / "answers.sqlite", contact=contact)


def test_a_throttled_client_pauses_for_a_minute_if_no_time_is_given(source: Source, pauses: list[float]) -> None:
    source.sparql.faults.append(Fault(429))
    cache = HttpCache(source.cache_file, interval=0)
    assert Endpoint(cache, source.endpoint_url).rows(CAPITALS) == EGYPT
    assert pauses == [60.0]


def test_a_banned_client_is_told_about_its_contact(source: Source) -> None:
    source.sparql.faults.append(Fault(403, body="You have been banned until 2026-12-01T00:00:00Z"))
    with pytest.raises(BadInput, match=r"banned until 2026-12-01.*without a --contact may be blocked"):
        source.endpoint().rows(CAPITALS)


def test_an_answer_is_fetched_once_from_each_endpoint(source: Source) -> None:
    assert source.endpoint().rows(CAPITALS) == source.endpoint().rows(CAPITALS) == EGYPT
    assert len(source.sparql.requests) == 1
    Endpoint(source.cache(), f"{source.sparql.url}/other").rows(CAPITALS)
    assert len(source.sparql.requests) == 2


@pytest.mark.parametrize(
    "fault",
    [
        *(Fault(500, body="no memory"), Fault(503), Fault(502), Fault(keep=0.5), Fault(keep=0), Fault(429)),
        Fault(headers={"Content-Length": "5000"}),
        *(Fault(status, {"Content-Length": "500", "Connection": "close"}, "cut") for status in (429, 502, 503)),
    ],
    ids=["500", "503", "502", "truncated", "empty", "429", "cut 200", "cut 429", "cut 502", "cut 503"],
)
def test_a_request_is_repeated_after_a_fault(source: Source, fault: Fault) -> None:
    source.sparql.faults.extend([fault, fault])
    assert source.endpoint().rows(CAPITALS) == EGYPT
    assert len(source.sparql.requests) == 3


@pytest.mark.parametrize("status", [429, 500, 503])
def test_the_pause_is_as_long_as_the_server_asks_for(source: Source, pauses: list[float], status: int) -> None:
    source.sparql.faults.append(Fault(status, {"Retry-After": "7"}))
    assert source.endpoint().rows(CAPITALS) == EGYPT
    assert pauses == [7.0]


def test_the_server_may_give_a_date_to_wait_for(source: Source, pauses: list[float]) -> None:
    then = datetime.now(UTC) + timedelta(seconds=100)
    source.sparql.faults.append(Fault(429, {"Retry-After": format_datetime(then, usegmt=True)}))
    source.endpoint().rows(CAPITALS)
    assert 90 < pauses[0] <= 100


def test_pauses_double_without_a_readable_retry_after_header(source: Source, pauses: list[float]) -> None:
    source.sparql.faults.extend([Fault(500), Fault(500, {"Retry-After": "soon"}), Fault(500)])
    source.endpoint().rows(CAPITALS)
    assert pauses == [0.001, 0.002, 0.004]


def test_a_pause_is_announced_so_that_nobody_takes_it_for_a_hang(
    source: Source, pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    source.sparql.faults.append(Fault(503, {"Retry-After": "7"}))
    source.endpoint().rows(CAPITALS)
    assert [record.getMessage() for record in caplog.records if record.name == "probing.curation.http_cache"] == [
        f"A request to {source.endpoint_url} failed (status 503). It is sent again in 7 s."
    ]


def test_the_last_failed_attempt_is_an_error_with_a_next_step(source: Source) -> None:
    source.sparql.faults.extend([Fault(503)] * 4)
    step = r"Try again later, or with a longer timeout \(endpoint in the file of curate\)"
    with pytest.raises(SourceUnavailable, match=rf"after 4 attempts.*503.*{step}"):
        source.endpoint().rows(CAPITALS)
    assert source.endpoint().rows(CAPITALS) == EGYPT


def test_a_server_that_asks_for_a_pause_of_an_hour_is_not_waited_for(source: Source, pauses: list[float]) -> None:
    source.sparql.faults.append(Fault(429, {"Retry-After": "3600"}))
    with pytest.raises(SourceUnavailable, match="pause of 3600 seconds"):
        source.endpoint().rows(CAPITALS)
    assert pauses == []


def chunked(text: str) -> str:
    """Return a body for the header `Transfer-Encoding: chunked`."""
    return f"{len(text):x}\r\n{text}\r\n0\r\n\r\n"


CHUNKED = {"Transfer-Encoding": "chunked"}


def test_answers_and_errors_may_come_in_chunks_or_with_their_length(source: Source) -> None:
    row = '{"subject": {"type": "literal", "value": "one"}}'
    answer = f'{{"results": {{"bindings": [{row}]}}}}'
    source.sparql.faults.append(Fault(headers=CHUNKED, keep=0, body=chunked(answer)))
    assert source.endpoint().rows(CAPITALS) == [{"subject": "one"}]
    source.forget()
    source.sparql.faults.append(Fault(403, CHUNKED, chunked("not like this")))
    source.sparql.faults.append(Fault(400, {"Content-Length": "13"}, "not like this"))
    for status in (403, 400):
        with pytest.raises(BadInput, match=rf"{status} not like this\."):
            source.endpoint().rows(CAPITALS)


def test_a_server_that_hangs_is_sent_the_same_query_again(source: Source) -> None:
    source.sparql.faults.extend([Fault(late=1.1), Fault(late=1.1)])
    assert source.endpoint(timeout=1).rows(CAPITALS) == EGYPT
    assert source.sparql.requests == [CAPITALS.text] * 3


def test_a_slow_answer_is_not_waited_for_longer_than_the_timeout(source: Source) -> None:
    source.sparql.faults.append(Fault(late=1.6))
    begin = time.monotonic()
    assert source.endpoint(timeout=1).rows(CAPITALS) == EGYPT
    assert time.monotonic() - begin < 1.6


def test_requests_are_spaced_out(source: Source, pauses: list[float]) -> None:
    endpoint = Endpoint(HttpCache(source.cache_file, interval=10), source.endpoint_url)
    endpoint.rows(CAPITALS)
    endpoint.rows(Query("Capitals again", ("subject", "object"), (stated_value("subject", "P36", "object"),)))
    assert len(pauses) == 1
    assert 9 < pauses[0] <= 10


@pytest.mark.parametrize("page", ["<!DOCTYPE html>\n<html>", " <html lang=en>"])
def test_a_web_page_is_an_error_at_once(source: Source, page: str) -> None:
    source.sparql.faults.append(Fault(keep=0, body=page, headers={"Content-Type": "text/html"}))
    with pytest.raises(BadInput, match=r"a web page instead of data.*endpoint"):
        source.endpoint().rows(CAPITALS)
    assert len(source.sparql.requests) == 1


def test_a_refused_connection_is_an_error(source: Source) -> None:
    source.sparql.server_close()
    with pytest.raises(SourceUnavailable, match="refused"):
        Endpoint(source.cache(), "http://127.0.0.1:9/sparql").rows(CAPITALS)


def test_a_machine_without_a_network_is_told_after_two_attempts(
    source: Source, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", unknown_host)
    monkeypatch.setenv("NO_PROXY", "*")
    with pytest.raises(SourceUnavailable, match=r"after 2 attempts.*Check the connection to the internet"):
        Endpoint(source.cache(), "http://nothing.invalid/sparql").rows(CAPITALS)
    assert len(pauses) == 1


def test_a_file_that_is_not_a_cache_is_refused(tmp_path: Path) -> None:
    (tmp_path / "answers.sqlite").write_text("hello " * 1000)
    with pytest.raises(BadInput, match=r"cannot hold answers.*--cache"):
        HttpCache(tmp_path / "answers.sqlite")
    with pytest.raises(BadInput, match=r"cannot hold answers.*--cache"):
        HttpCache(tmp_path / "answers")
    with pytest.raises(BadInput, match=r"cannot hold answers.*--cache"):
        HttpCache(tmp_path / "answers.sqlite" / "below")
    with pytest.raises(BadInput, match=r"is a folder, which cannot hold answers\. Give --cache the name of a file\.$"):
        HttpCache(tmp_path)


def test_a_file_that_may_not_be_written_is_refused(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    source.cache()
    monkeypatch.setattr("os.access", lambda path, mode: False)  # of root, who may write everywhere, as well
    with pytest.raises(BadInput, match=r"cannot hold answers \(it may not be written\).*--cache"):
        source.cache()


def test_a_stored_answer_keeps_the_time_when_it_was_given(source: Source) -> None:
    first = source.cache()
    assert Endpoint(first, source.endpoint_url).rows(CAPITALS) == EGYPT
    time.sleep(1.1)
    second = source.cache()
    assert Endpoint(second, source.endpoint_url).rows(CAPITALS) == EGYPT
    assert second.answer_period() == first.answer_period()


def test_a_note_keeps_the_time_when_it_was_made(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    first = source.cache()
    first.put_note("a question", 1)
    second = source.cache()
    assert second.note("a question") == 1
    assert second.answer_period() == first.answer_period()
    assert second.answer_period()["from"].startswith("20")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert second.answer_period() == {"from": "1970-01-01T00:00:00+00:00", "to": "1970-01-01T00:00:00+00:00"}


def test_a_full_disk_is_an_error(source: Source) -> None:
    cache = source.cache()
    for table in (cache._notes, cache.session.cache.responses):
        with table.connection() as database:
            database.execute("PRAGMA max_page_count = 3")
    with pytest.raises(NoSpace, match="Free some space"):
        cache.put_note("a question", "x" * 100_000)
    row = {"subject": {"type": "literal", "value": "x" * 100_000}}
    source.sparql.faults.append(Fault(keep=0, body=json.dumps({"results": {"bindings": [row]}})))
    with pytest.raises(NoSpace, match="Free some space"):
        Endpoint(cache, source.endpoint_url).rows(CAPITALS)
