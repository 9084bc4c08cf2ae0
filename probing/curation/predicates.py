"""The 20 predicates of culture facts (methods 4.1, 4.3): kinds of subject and object, country, filters.

Facts about countries, cities and places are those that hold now; of people and works, all that are stated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from probing.curation.query import current, is_a, is_no, stated, values

SOVEREIGN, HISTORICAL, BIG_CITY, UK_COUNTRY = "Q3624078", "Q3024240", "Q1549591", "Q3336843"
VOICE = "Q17172850"

Region = Callable[[Sequence[str]], str]  # the ids of a country -> pattern that ties a fact to it


def citizen(country: Sequence[str]) -> str:
    return f"{values('country', country)}\n?subject wdt:P27 ?country .  # a citizen"


def lies_in(country: Sequence[str]) -> str:
    return f"{values('country', country)}\n?subject wdt:P17 ?country .  # it lies there"


def origin(country: Sequence[str]) -> str:
    return f"{values('country', country)}\n?subject wdt:P495 ?country .  # made there"


def is_country(country: Sequence[str]) -> str:
    return values("subject", country)


def citizen_of_a_city(country: Sequence[str]) -> str:
    place = f"{values('place', country)}\n?object (wdt:P131|wdt:P17) ?place .  # the city lies there as well"
    return f"{citizen(country)}\n{place}"


def object_is_country(country: Sequence[str]) -> str:
    return values("object", country)


SOVEREIGN_SUBJECT = is_a("subject", SOVEREIGN, "sovereign state")
SOVEREIGN_OBJECT = is_a("object", SOVEREIGN, "sovereign state")
NO_HISTORICAL_OBJECT = is_no("object", HISTORICAL, "historical country")
PLACED = "FILTER EXISTS { ?subject wdt:P625 ?coordinates }  # a place"
A_PERSON = is_a("subject", "Q5", "human")


@dataclass(frozen=True)
class Predicate:
    """`filters` are patterns that hold for each fact; those in `first` only for facts that tie a subject to a country,
    those in `objects` for every object of a subject.

    `current`: whether only values that hold now count (a capital), or all that are stated (a profession).
    `by_territory`: objects are augmented by the territories that contain them, else by their superclasses.
    """

    id: str
    name: str
    subject: str
    object: str
    region: Region
    filters: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    current: bool = False
    by_territory: bool = False

    def facts(self) -> str:
        """The pattern of a fact: ?subject, this predicate, ?object."""
        pattern: Callable[[str, str, str], str] = current if self.current else stated
        return pattern("subject", self.id, "object")


NO_STATE = (
    is_no("object", SOVEREIGN, "sovereign state"),
    is_no("object", UK_COUNTRY, "country within the United Kingdom"),
)


def _of_person(id: str, name: str, object: str, region: Region = citizen, **more: Any) -> Predicate:
    return Predicate(id, name, "person", object, region, filters=(A_PERSON,), **more)


def _of_country(id: str, name: str, object: str, *objects: str) -> Predicate:
    return Predicate(
        id, name, "country", object, is_country, filters=(SOVEREIGN_SUBJECT,), objects=objects, current=True
    )


def _of_work(id: str, name: str, object: str, *objects: str) -> Predicate:
    return Predicate(id, name, "piece of work", object, origin, objects=objects)


_ALL = (
    Predicate(
        *("P17", "country", "place", "country", lies_in),
        filters=(PLACED,),
        objects=(NO_HISTORICAL_OBJECT,),
        current=True,
    ),
    _of_person("P19", "place of birth", "city", citizen_of_a_city, first=NO_STATE, by_territory=True),
    _of_person("P20", "place of death", "city", citizen_of_a_city, first=NO_STATE, by_territory=True),
    _of_person("P27", "country of citizenship", "country", object_is_country, objects=(NO_HISTORICAL_OBJECT,)),
    _of_country("P30", "continent", "continent"),
    _of_country("P36", "capital", "city"),
    _of_country("P37", "official language", "language"),
    _of_country("P47", "shares border with", "country", SOVEREIGN_OBJECT),
    _of_person("P103", "native language", "language"),
    _of_person("P106", "occupation", "occupation"),
    _of_person("P136", "genre", "genre"),
    Predicate(
        *("P190", "sister city", "city", "city", lies_in),
        filters=(is_a("subject", BIG_CITY, "big city"),),
        objects=(is_a("object", BIG_CITY, "big city"),),
        current=True,
    ),
    _of_person("P264", "record label", "record label"),
    _of_work("P364", "original language of work", "language"),
    _of_work("P449", "original network", "original network"),
    _of_work("P495", "country of origin", "country", NO_HISTORICAL_OBJECT),
    _of_country("P530", "diplomatic relation", "country", SOVEREIGN_OBJECT),
    _of_person("P1303", "instrument", "instrument", objects=(f"FILTER(?object != wd:{VOICE})  # not the voice",)),
    Predicate(
        *("P1376", "capital of", "city", "country", object_is_country), objects=(SOVEREIGN_OBJECT,), current=True
    ),
    _of_person("P1412", "languages spoken", "language"),
)
PREDICATES = {predicate.id: predicate for predicate in _ALL}
