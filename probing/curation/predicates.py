"""The 20 predicates of culture facts (methods 4.1, 4.3): kinds of subject and object, country, filters."""

from collections.abc import Callable
from dataclasses import dataclass

from probing.curation.query import current, is_a, is_no, stated, values

SOVEREIGN, HISTORICAL, BIG_CITY, UK_COUNTRY = "Q3624078", "Q3024240", "Q1549591", "Q3336843"
VOICE = "Q17172850"

Region = Callable[[str], str]  # country -> pattern that ties a fact to it


def citizen(country: str) -> str:
    return f"?subject wdt:P27 wd:{country} .  # a citizen"


def lies_in(country: str) -> str:
    return f"?subject wdt:P17 wd:{country} .  # it lies there"


def origin(country: str) -> str:
    return f"?subject wdt:P495 wd:{country} .  # made there"


def is_country(country: str) -> str:
    return values("subject", [country])


def object_lies_in(country: str) -> str:
    return f"?object (wdt:P131|wdt:P17) wd:{country} .  # it lies there"


def object_is_country(country: str) -> str:
    return values("object", [country])


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


_BIRTH_OR_DEATH = (
    is_no("object", SOVEREIGN, "sovereign state"),
    is_no("object", UK_COUNTRY, "country within the United Kingdom"),
)
_ALL = (
    Predicate("P17", "country", "place", "country", lies_in, (PLACED,), (), (NO_HISTORICAL_OBJECT,), current=True),
    Predicate(
        "P19", "place of birth", "person", "city", object_lies_in, (A_PERSON,), _BIRTH_OR_DEATH, by_territory=True
    ),
    Predicate(
        "P20", "place of death", "person", "city", object_lies_in, (A_PERSON,), _BIRTH_OR_DEATH, by_territory=True
    ),
    Predicate(
        "P27",
        "country of citizenship",
        "person",
        "country",
        object_is_country,
        (A_PERSON,),
        (),
        (NO_HISTORICAL_OBJECT,),
    ),
    Predicate("P30", "continent", "country", "continent", is_country, (SOVEREIGN_SUBJECT,), current=True),
    Predicate("P36", "capital", "country", "city", is_country, (SOVEREIGN_SUBJECT,), current=True),
    Predicate("P37", "official language", "country", "language", is_country, (SOVEREIGN_SUBJECT,), current=True),
    Predicate(
        "P47",
        "shares border with",
        "country",
        "country",
        is_country,
        (SOVEREIGN_SUBJECT,),
        (),
        (SOVEREIGN_OBJECT,),
        current=True,
    ),
    Predicate("P103", "native language", "person", "language", citizen, (A_PERSON,)),
    Predicate("P106", "occupation", "person", "occupation", citizen, (A_PERSON,)),
    Predicate("P136", "genre", "person", "genre", citizen, (A_PERSON,)),
    Predicate(
        "P190",
        "sister city",
        "city",
        "city",
        lies_in,
        (is_a("subject", BIG_CITY, "big city"),),
        (),
        (is_a("object", BIG_CITY, "big city"),),
        current=True,
    ),
    Predicate("P264", "record label", "person", "record label", citizen, (A_PERSON,)),
    Predicate("P364", "original language of work", "piece of work", "language", origin),
    Predicate("P449", "original network", "piece of work", "original network", origin),
    Predicate("P495", "country of origin", "piece of work", "country", origin, (), (), (NO_HISTORICAL_OBJECT,)),
    Predicate(
        "P530",
        "diplomatic relation",
        "country",
        "country",
        is_country,
        (SOVEREIGN_SUBJECT,),
        (),
        (SOVEREIGN_OBJECT,),
        current=True,
    ),
    Predicate(
        "P1303",
        "instrument",
        "person",
        "instrument",
        citizen,
        (A_PERSON,),
        (),
        (f"FILTER(?object != wd:{VOICE})  # not the voice",),
    ),
    Predicate("P1376", "capital of", "city", "country", object_is_country, (), (), (SOVEREIGN_OBJECT,), current=True),
    Predicate("P1412", "languages spoken", "person", "language", citizen, (A_PERSON,)),
)
PREDICATES = {predicate.id: predicate for predicate in _ALL}
