"""The 20 predicates of culture facts (methods 4.1, 4.3) with the patterns that select their subjects and objects.

Facts about countries, cities and places must hold now; facts about people and works may have ended.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from probing.curation.query import current_value, is_a, is_no, stated_value, values

SOVEREIGN, HISTORICAL, BIG_CITY, UK_COUNTRY = "Q3624078", "Q3024240", "Q1549591", "Q3336843"
VOICE = "Q17172850"

Region = Callable[[Sequence[str]], str]  # from the ids of a country to the pattern that ties a fact to it


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
    """A predicate and the patterns that its facts must match.

    The first query finds the facts of a country, a later one all objects of the subjects found. `filters`: patterns
    of the subject, which only the first query needs. `first`: patterns of the object in the first query only.
    `objects`: patterns of the object in both queries.
    `current`: only values that hold now count (as for a capital), instead of all stated values (as for a profession).
    `by_territory`: objects are augmented by the territories that contain them, instead of by their superclasses.
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
        """Return the pattern of a fact with ?subject, this predicate and ?object."""
        pattern: Callable[[str, str, str], str] = current_value if self.current else stated_value
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
