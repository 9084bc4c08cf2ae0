"""Sizes of articles and numbers of edits, in few requests."""

from collections.abc import Callable

import pytest

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
