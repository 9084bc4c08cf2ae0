"""What lies above an item: levels, cycles, and territories up to the sovereign state."""

from collections.abc import Callable

import pytest

from probing.curation.facts import PART, SUBCLASS, TERRITORY, ancestors, parents
from tests.probing.curation.conftest import Source
from tests.probing.curation.world import SOMETHING, SOVEREIGN, World


@pytest.fixture
def world() -> World:
    world = World()
    world.claim("Q1", SUBCLASS, "Q10", "Q2")
    world.claim("Q2", SUBCLASS, "Q3")
    world.claim("Q10", SUBCLASS, "Q3")
    return world


def test_everything_above_is_found_level_by_level(serve: Callable[[World], Source], world: World) -> None:
    source = serve(world)
    assert parents(source.endpoint(), SUBCLASS, ["Q1"]) == {
        "Q1": ("Q2", "Q10"),
        "Q2": ("Q3",),
        "Q10": ("Q3",),
        "Q3": (),
    }
    assert len(source.sparql.requests) == 3


def test_no_more_levels_are_followed_than_asked_for(serve: Callable[[World], Source], world: World) -> None:
    assert parents(serve(world).endpoint(), SUBCLASS, ["Q1"], levels=1) == {"Q1": ("Q2", "Q10")}


def test_no_items_need_no_query(serve: Callable[[World], Source], world: World) -> None:
    source = serve(world)
    assert parents(source.endpoint(), SUBCLASS, []) == {}
    assert source.sparql.requests == []


def test_cycles_and_unknown_parents_end_the_search(serve: Callable[[World], Source], world: World) -> None:
    world.claim("Q3", SUBCLASS, "Q1", "Q3", SOMETHING)
    above = parents(serve(world).endpoint(), SUBCLASS, ["Q2"])
    assert above == {"Q2": ("Q3",), "Q3": ("Q1",), "Q1": ("Q2", "Q10"), "Q10": ("Q3",)}


@pytest.mark.parametrize(("property", "above_norway"), [(TERRITORY, ()), (PART, ("Q46",))])
def test_nothing_lies_above_a_sovereign_state_as_a_territory(
    serve: Callable[[World], Source], property: str, above_norway: tuple[str, ...]
) -> None:
    world = World()
    world.claim("Q20", "P31", SOVEREIGN)
    world.claim("Q585", property, "Q20")
    world.claim("Q20", property, "Q46")
    above = parents(serve(world).endpoint(), property, ["Q585"])
    assert (above["Q585"], above["Q20"]) == (("Q20",), above_norway)


def test_each_ancestor_comes_once_and_the_nearest_first() -> None:
    above = {"a": ("b", "c"), "b": ("d",), "c": ("d", "e"), "d": ("a",)}
    assert list(ancestors(above, "a")) == ["b", "c", "d", "e"]
    assert list(ancestors(above, "unknown")) == []
