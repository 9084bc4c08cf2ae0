"""Predicates of culture facts: which values count, and which subjects and objects belong to a country."""

from collections.abc import Callable

import pytest

from probing.curation.predicates import HISTORICAL, PREDICATES, SOVEREIGN, UK_COUNTRY, Predicate
from probing.curation.query import Query
from tests.probing.curation.conftest import Source
from tests.probing.curation.world import World

NORWAY = ("Q20",)


def facts(source: Source, predicate: Predicate) -> list[tuple[str, str]]:
    """Return the pairs of subject and object that the first query finds for Norway."""
    patterns = (predicate.region(NORWAY), *predicate.filters, predicate.facts(), *predicate.first, *predicate.objects)
    rows = source.endpoint().rows(Query("Facts", ("subject", "object"), patterns))
    return [(row["subject"], row["object"]) for row in rows]


@pytest.fixture
def world() -> World:
    world = World()
    world.claim("Q20", "P31", SOVEREIGN)
    world.claim("Q34", "P31", SOVEREIGN)
    for person in ("Q1", "Q2", "Q3"):
        world.claim(person, "P31", "Q5")
    world.claim("Q1", "P27", "Q20")
    world.claim("Q2", "P27", "Q20")
    world.claim("Q3", "P27", "Q34")
    return world


def test_there_are_twenty_predicates_under_their_ids() -> None:
    assert len(PREDICATES) == 20
    assert all(id == predicate.id for id, predicate in PREDICATES.items())


def test_a_former_capital_is_no_fact_and_a_former_profession_is_one(
    serve: Callable[[World], Source], world: World
) -> None:
    for subject, property in (("Q20", "P36"), ("Q1", "P106")):
        world.claim(subject, property, "Q100")
        world.claim(subject, property, "Q101", end="1990-01-01")
    source = serve(world)
    assert facts(source, PREDICATES["P36"]) == [("Q20", "Q100")]
    assert facts(source, PREDICATES["P106"]) == [("Q1", "Q100"), ("Q1", "Q101")]


def test_facts_about_people_are_those_of_citizens_who_are_human(serve: Callable[[World], Source], world: World) -> None:
    world.claim("Q4", "P27", "Q20")
    for subject in ("Q1", "Q3", "Q4"):
        world.claim(subject, "P106", "Q100")
    assert facts(serve(world), PREDICATES["P106"]) == [("Q1", "Q100")]


def test_a_citizens_place_of_birth_must_lie_in_the_country_and_not_be_a_country(
    serve: Callable[[World], Source], world: World
) -> None:
    world.claim("Q585", "P17", "Q20")
    world.claim("Q586", "P131", "Q20")
    world.claim("Q90", "P17", "Q142")
    world.claim("Q22", "P31", UK_COUNTRY)
    world.claim("Q22", "P17", "Q20")
    world.claim("Q1", "P19", "Q585", "Q90", "Q22")
    world.claim("Q2", "P19", "Q586")
    assert facts(serve(world), PREDICATES["P19"]) == [("Q1", "Q585"), ("Q2", "Q586")]


def test_neighbours_are_sovereign_states(serve: Callable[[World], Source], world: World) -> None:
    world.claim("Q20", "P47", "Q34", "Q999")
    assert facts(serve(world), PREDICATES["P47"]) == [("Q20", "Q34")]


def test_a_work_comes_from_a_country_that_is_not_a_historical_one(
    serve: Callable[[World], Source], world: World
) -> None:
    world.claim("Q70", "P495", "Q20", "Q71")
    world.claim("Q71", "P31", HISTORICAL)
    assert facts(serve(world), PREDICATES["P495"]) == [("Q70", "Q20")]
