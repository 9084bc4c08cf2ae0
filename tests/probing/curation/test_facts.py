"""What all curations share: facts of a property, what lies above an item, and the account of triples."""

import pytest

from probing.curation.facts import (
    NOT_AN_ITEM,
    PART,
    SUBCLASS,
    TERRITORY,
    Subject,
    TripleCounts,
    ancestors,
    facts_query,
    label_of,
    parents,
    subjects_of,
)
from probing.curation.wikidata import MOST_LINKS
from probing.errors import BadInput, Incomplete
from tests.probing.curation.conftest import Serve
from tests.probing.curation.world import SOMETHING, SOVEREIGN, World


@pytest.fixture
def world() -> World:
    world = World()
    for id, links in (("Q9", 40), ("Q10", 40), ("Q1", 90), ("Q2", 5)):
        world.claim(world.item(id, id, links=links), "P36", "Q100")
    world.claim("Q1", "P36", "Q20", SOMETHING)
    world.claim("Q9", "P36", "Q30", end="1990-01-01")
    return world


def test_best_known_subjects_come_first_with_objects_in_order(serve: Serve, world: World) -> None:
    counts = TripleCounts()
    assert subjects_of(serve(world).endpoint(), "P36", 10, counts) == [
        Subject("Q1", 90, ("Q20", "Q100"), others=1),
        Subject("Q9", 40, ("Q30", "Q100")),
        Subject("Q10", 40, ("Q100",)),
    ]
    assert (counts.found, counts.dropped) == (6, {NOT_AN_ITEM: 1})


def test_values_that_have_ended_may_be_left_out(serve: Serve, world: World) -> None:
    subjects = subjects_of(serve(world).endpoint(), "P36", 10, TripleCounts(), current_only=True)
    assert next(subject for subject in subjects if subject.id == "Q9").objects == ("Q100",)


@pytest.mark.parametrize("sitelinks", [-1, MOST_LINKS])
def test_numbers_of_sitelinks_that_no_subject_has_are_refused(sitelinks: int) -> None:
    with pytest.raises(BadInput, match=rf"No subjects have {sitelinks} sitelinks. Ask for 0 to {MOST_LINKS - 1}"):
        facts_query("P36", sitelinks)


def test_an_item_without_a_label_in_a_language_has_an_empty_one() -> None:
    labels = {"Q1": {"en": "Egypt"}}
    assert (label_of(labels, "Q1"), label_of(labels, "Q1", "ar")) == ("Egypt", "")


@pytest.fixture
def hierarchy() -> World:
    hierarchy = World()
    hierarchy.claim("Q1", SUBCLASS, "Q10", "Q2")
    hierarchy.claim("Q2", SUBCLASS, "Q3")
    hierarchy.claim("Q10", SUBCLASS, "Q3")
    return hierarchy


def test_everything_above_is_found_level_by_level(serve: Serve, hierarchy: World) -> None:
    source = serve(hierarchy)
    assert parents(source.endpoint(), SUBCLASS, ["Q1"]) == {
        "Q1": ("Q2", "Q10"),
        "Q2": ("Q3",),
        "Q10": ("Q3",),
        "Q3": (),
    }
    assert len(source.sparql.requests) == 3


def test_no_more_levels_are_followed_than_asked_for(serve: Serve, hierarchy: World) -> None:
    assert parents(serve(hierarchy).endpoint(), SUBCLASS, ["Q1"], levels=1) == {"Q1": ("Q2", "Q10")}


def test_no_items_need_no_query(serve: Serve, hierarchy: World) -> None:
    source = serve(hierarchy)
    assert parents(source.endpoint(), SUBCLASS, []) == {}
    assert source.sparql.requests == []


def test_cycles_and_unknown_parents_end_the_search(serve: Serve, hierarchy: World) -> None:
    hierarchy.claim("Q3", SUBCLASS, "Q1", "Q3", SOMETHING)
    above = parents(serve(hierarchy).endpoint(), SUBCLASS, ["Q2"])
    assert above == {"Q2": ("Q3",), "Q3": ("Q1",), "Q1": ("Q2", "Q10"), "Q10": ("Q3",)}


@pytest.mark.parametrize(("property", "above_norway"), [(TERRITORY, ()), (PART, ("Q46",))])
def test_nothing_lies_above_a_sovereign_state_as_a_territory(
    serve: Serve, property: str, above_norway: tuple[str, ...]
) -> None:
    hierarchy = World()
    hierarchy.claim("Q20", "P31", SOVEREIGN)
    hierarchy.claim("Q585", property, "Q20")
    hierarchy.claim("Q20", property, "Q46")
    above = parents(serve(hierarchy).endpoint(), property, ["Q585"])
    assert (above["Q585"], above["Q20"]) == (("Q20",), above_norway)


def test_each_ancestor_comes_once_and_the_nearest_first() -> None:
    above = {"a": ("b", "c"), "b": ("d",), "c": ("d", "e"), "d": ("a",)}
    assert list(ancestors(above, "a")) == ["b", "c", "d", "e"]
    assert list(ancestors(above, "unknown")) == []


def test_reasons_for_dropping_are_counted_and_sorted() -> None:
    counts = TripleCounts(found=5, added=1, kept=2)
    counts.drop("no label", 3)
    counts.drop("no article")
    counts.drop("never", 0)
    assert counts.to_json() == {"found": 5, "added": 1, "dropped": {"no article": 1, "no label": 3}, "kept": 2}
    assert list(counts.to_json()["dropped"]) == ["no article", "no label"]


def test_triples_that_are_neither_kept_nor_dropped_are_an_error() -> None:
    with pytest.raises(Incomplete, match="neither kept nor dropped"):
        TripleCounts(found=3, kept=2).to_json()
