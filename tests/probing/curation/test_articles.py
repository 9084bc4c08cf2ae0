"""Sizes of articles and numbers of edits, in few requests."""

import json
from collections.abc import Callable

import pytest

from probing.curation.articles import SortKey
from probing.errors import BadInput, SourceUnavailable
from tests.probing.curation.conftest import Source
from tests.probing.curation.servers import Fault
from tests.probing.curation.world import World

TITLES = [f"Title {number:03}" for number in range(120)]


@pytest.fixture
def source(serve: Callable[[World], Source]) -> Source:
    world = World()
    for number, title in enumerate(TITLES):
        world.article(f"Q{number}", "en", title, 100 + number)
    world.article("Q1", "ar", "عنوان & قصة", 7)
    return serve(world)


def test_fifty_titles_go_into_one_request(source: Source) -> None:
    weights = source.articles().weigh([("en", title) for title in TITLES], "size")
    assert weights == {("en", title): 100 + number for number, title in enumerate(TITLES)}
    assert len(source.wikipedia.asked) == 3


def test_only_new_titles_are_asked_for(source: Source) -> None:
    source.articles().weigh([("en", title) for title in TITLES[:60]], "size")
    source.wikipedia.asked.clear()
    source.articles().weigh([("en", title) for title in TITLES], "size")
    assert sorted("|".join(source.wikipedia.asked).split("|")) == TITLES[60:]


def test_titles_are_of_any_script_and_pages_may_be_missing(source: Source) -> None:
    asked = [("ar", "عنوان & قصة"), ("ar", "Title 001")]
    assert source.articles().weigh(asked, "size") == {("ar", "عنوان & قصة"): 7}
    source.wikipedia.asked.clear()
    assert source.articles().weigh(asked, "size") == {("ar", "عنوان & قصة"): 7}
    assert source.wikipedia.asked == []


def test_edits_are_counted_page_by_page(source: Source) -> None:
    asked = [("en", TITLES[0]), ("en", TITLES[1]), ("en", "Missing"), ("ar", "عنوان & قصة")]
    assert source.articles().weigh(asked, "edits") == {asked[0]: 3, asked[1]: 4, asked[3]: 7}
    assert len(source.wikipedia.asked) == 4


def test_a_busy_site_is_asked_again(source: Source) -> None:
    source.wikipedia.faults.extend([Fault(429, {"Retry-After": "0"}), Fault(keep=0.3)])
    assert source.articles().weigh([("en", TITLES[0])], "size") == {("en", TITLES[0]): 100}
    assert {agent.split("/")[0] for agent in source.wikipedia.agents} == {"Clozeboard"}


BROKEN = json.dumps({"error": {"code": "internal_api_error_DBQueryError", "info": "Caught exception"}})


@pytest.mark.parametrize("by", ["size", "edits"])
def test_an_error_with_status_200_is_no_answer_and_is_asked_again(source: Source, by: SortKey) -> None:
    source.wikipedia.faults.append(Fault(keep=0, body=BROKEN))
    assert source.articles().weigh([("en", TITLES[0])], by) == {("en", TITLES[0]): 100 if by == "size" else 3}
    assert len(source.wikipedia.asked) == 2


def test_an_error_that_stays_is_told_and_nothing_is_kept_of_it(source: Source) -> None:
    source.wikipedia.faults.extend([Fault(keep=0, body=BROKEN)] * 4)
    with pytest.raises(SourceUnavailable, match=r"4 times over.*DBQueryError"):
        source.articles().weigh([("en", TITLES[0])], "size")
    assert source.articles().weigh([("en", TITLES[0])], "size") == {("en", TITLES[0]): 100}


def test_a_title_that_the_answer_does_not_name_is_not_kept_as_missing(source: Source) -> None:
    other = {"query": {"pages": [{"title": TITLES[1], "length": 101}]}}
    source.wikipedia.faults.append(Fault(keep=0, body=json.dumps(other)))
    asked = [("en", title) for title in TITLES[:2]]
    assert source.articles().weigh(asked, "size") == {asked[1]: 101}
    assert source.articles().weigh(asked, "size") == {asked[0]: 100, asked[1]: 101}


@pytest.mark.parametrize("by", ["size", "edits"])
def test_a_wrong_address_is_told_as_such(source: Source, by: SortKey) -> None:
    source.wikipedia.faults.append(Fault(404, body="<!DOCTYPE html><title>Not Found</title>"))
    with pytest.raises(BadInput, match=r"404.*--wikipedia"):
        source.articles().weigh([("en", TITLES[0])], by)


def test_that_there_is_no_page_is_believed_of_edits_only(source: Source) -> None:
    gone = Fault(404, body='{"httpCode": 404}')
    source.wikipedia.faults.extend([gone, gone])
    assert source.articles().weigh([("en", TITLES[0])], "edits") == {}
    with pytest.raises(BadInput, match="--wikipedia"):
        source.articles().weigh([("en", TITLES[0])], "size")
