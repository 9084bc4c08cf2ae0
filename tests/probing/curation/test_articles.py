"""Tests of sizes and numbers of edits of articles."""

import gzip
import json

import pytest

from probing.curation.articles import Articles, SortKey
from probing.errors import BadInput, SourceUnavailable
from tests.probing.curation.conftest import Serve, Source
from tests.probing.curation.servers import Fault
from tests.probing.curation.world import World

TITLES = [f"Title {number:03}" for number in range(120)]


@pytest.fixture
def source(serve: Serve) -> Source:
    world = World()
    for number, title in enumerate(TITLES):
        world.article(f"Q{number}", "en", title, 100 + number)
    world.article("Q1", "ar", "عنوان & قصة", 7)
    return serve(world)


def test_fifty_titles_go_into_one_request_and_only_new_ones_are_requested(source: Source) -> None:
    source.articles().weights([("en", title) for title in TITLES[:60]], "size")
    assert len(source.wikipedia.requests) == 2
    source.wikipedia.requests.clear()
    weights = source.articles().weights([("en", title) for title in TITLES], "size")
    assert weights == {("en", title): 100 + number for number, title in enumerate(TITLES)}
    assert sorted("|".join(source.wikipedia.requests).split("|")) == TITLES[60:]


def test_titles_are_of_any_script_and_pages_may_be_missing(source: Source) -> None:
    articles = [("ar", "عنوان & قصة"), ("ar", "Title 001")]
    assert source.articles().weights(articles, "size") == {("ar", "عنوان & قصة"): 7}
    source.wikipedia.requests.clear()
    assert source.articles().weights(articles, "size") == {("ar", "عنوان & قصة"): 7}
    assert source.wikipedia.requests == []


def test_edits_take_one_request_per_page(source: Source) -> None:
    articles = [("en", TITLES[0]), ("en", TITLES[1]), ("en", "Missing"), ("ar", "عنوان & قصة")]
    assert source.articles().weights(articles, "edits") == {articles[0]: 3, articles[1]: 4, articles[3]: 7}
    assert len(source.wikipedia.requests) == 4


def test_a_request_to_a_busy_site_is_repeated(source: Source) -> None:
    source.wikipedia.faults.extend([Fault(429, {"Retry-After": "0"}), Fault(keep=0.3)])
    assert source.articles().weights([("en", TITLES[0])], "size") == {("en", TITLES[0]): 100}
    assert {agent.split("/")[0] for agent in source.wikipedia.agents} == {"Clozeboard"}


def test_a_compressed_answer_is_read_and_a_redirect_to_another_spelling_followed(source: Source) -> None:
    answer = json.dumps({"count": 12}).encode()
    target = "/en/rest.php/v1/page/Title_001/history/counts/edits"
    source.wikipedia.faults.append(Fault(keep=0, headers={"Content-Encoding": "gzip"}, body=gzip.compress(answer)))
    source.wikipedia.faults.append(Fault(301, {"Location": target, "Content-Length": "0"}))
    weights = source.articles().weights([("en", TITLES[0]), ("en", TITLES[2])], "edits")
    assert weights == {("en", TITLES[0]): 12, ("en", TITLES[2]): 4}


BROKEN = json.dumps({"error": {"code": "internal_api_error_DBQueryError", "info": "Caught exception"}})


@pytest.mark.parametrize("by", ["size", "edits"])
def test_a_request_is_repeated_after_an_error_with_status_200(source: Source, by: SortKey) -> None:
    source.wikipedia.faults.append(Fault(keep=0, body=BROKEN))
    assert source.articles().weights([("en", TITLES[0])], by) == {("en", TITLES[0]): 100 if by == "size" else 3}
    assert len(source.wikipedia.requests) == 2


def test_a_persistent_error_is_reported_and_not_stored(source: Source) -> None:
    source.wikipedia.faults.extend([Fault(keep=0, body=BROKEN)] * 4)
    with pytest.raises(SourceUnavailable, match=r"after 4 attempts.*DBQueryError"):
        source.articles().weights([("en", TITLES[0])], "size")
    assert source.articles().weights([("en", TITLES[0])], "size") == {("en", TITLES[0]): 100}


def test_a_title_that_the_answer_leaves_out_is_not_stored_as_missing(source: Source) -> None:
    other = {"query": {"pages": [{"title": TITLES[1], "length": 101}]}}
    source.wikipedia.faults.append(Fault(keep=0, body=json.dumps(other)))
    articles = [("en", title) for title in TITLES[:2]]
    assert source.articles().weights(articles, "size") == {articles[1]: 101}
    assert source.articles().weights(articles, "size") == {articles[0]: 100, articles[1]: 101}


@pytest.mark.parametrize("by", ["size", "edits"])
def test_a_wrong_address_of_the_sites_is_an_error(source: Source, by: SortKey) -> None:
    source.wikipedia.faults.append(Fault(404, body="<!DOCTYPE html><title>Not Found</title>"))
    with pytest.raises(BadInput, match=r"404.*addresses in endpoint"):
        source.articles().weights([("en", TITLES[0])], by)


def test_status_404_means_a_missing_page_only_for_edits(source: Source) -> None:
    gone = Fault(404, body='{"httpCode": 404}')
    source.wikipedia.faults.extend([gone, gone])
    assert source.articles().weights([("en", TITLES[0])], "edits") == {}
    with pytest.raises(BadInput, match="addresses in endpoint"):
        source.articles().weights([("en", TITLES[0])], "size")


def test_the_address_of_the_sites_needs_a_place_for_the_site(source: Source) -> None:
    with pytest.raises(BadInput, match=r"no \{site\}"):
        Articles(source.cache(), "http://localhost")
