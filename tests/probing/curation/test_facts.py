"""Facts of a property: well-known subjects, their objects in order, and values that are no items."""

from collections.abc import Callable

import pytest

from probing.curation.facts import NOT_AN_ITEM, Subject, TripleCounts, facts_query, label_of, subjects_of
from probing.curation.wikidata import MOST_LINKS
from probing.errors import BadInput
from tests.probing.curation.conftest import Source
from tests.probing.curation.world import SOMETHING, World


@pytest.fixture
def world() -> World:
    world = World()
    for id, links in (("Q9", 40), ("Q10", 40), ("Q1", 90), ("Q2", 5)):
        world.claim(world.item(id, id, links=links), "P36", "Q100")
    world.claim("Q1", "P36", "Q20", SOMETHING)
    world.claim("Q9", "P36", "Q30", end="1990-01-01")
    return world


def test_best_known_subjects_come_first_with_objects_in_order(serve: Callable[[World], Source], world: World) -> None:
    counts = TripleCounts()
    assert subjects_of(serve(world).endpoint(), "P36", 10, counts) == [
        Subject("Q1", 90, ("Q20", "Q100"), others=1),
        Subject("Q9", 40, ("Q30", "Q100")),
        Subject("Q10", 40, ("Q100",)),
    ]
    assert (counts.found, counts.dropped) == (6, {NOT_AN_ITEM: 1})


def test_values_that_have_ended_may_be_left_out(serve: Callable[[World], Source], world: World) -> None:
    subjects = subjects_of(serve(world).endpoint(), "P36", 10, TripleCounts(), current_only=True)
    assert next(subject for subject in subjects if subject.id == "Q9").objects == ("Q100",)


@pytest.mark.parametrize("sitelinks", [-1, MOST_LINKS])
def test_numbers_of_sitelinks_that_no_subject_has_are_refused(sitelinks: int) -> None:
    with pytest.raises(BadInput, match=rf"No subjects have {sitelinks} sitelinks. Ask for 0 to {MOST_LINKS - 1}"):
        facts_query("P36", sitelinks)


def test_an_item_without_a_label_in_a_language_has_an_empty_one() -> None:
    labels = {"Q1": {"en": "Egypt"}}
    assert (label_of(labels, "Q1"), label_of(labels, "Q1", "ar")) == ("Egypt", "")
