"""The 23 fact types of geography under three heads (methods 5.1; the paper's Tables 6 and 7).

In templates, {S} is the subject, {O} the object, {O1} and {O2} two of several objects.
"""

from dataclasses import dataclass

NATURAL = "Natural"
POLITICAL = "Geo-political"
FACILITIES = "Public and Industrial Facilities"


@dataclass(frozen=True)
class FactType:
    """A property of a kind of place, with the templates that word it.

    `single`: the template for subjects with one object, if the others need two (our addition, methods 5).
    `masks_subject`: whether there are also sentences in which the subject is masked.
    """

    key: str
    head: str
    name: str
    property: str
    kind: str
    templates: tuple[str, ...]
    single: str = ""
    masks_subject: bool = False


_ALL = (
    FactType(
        "city_country",
        POLITICAL,
        "country of a city",
        "P17",
        "city",
        ("{S} is a city located in {O}.",),
    ),
    FactType(
        "country_continent",
        POLITICAL,
        "continent of a country",
        "P30",
        "country",
        ("{S} is part of the {O} continent.",),
    ),
    FactType(
        "country_capital",
        POLITICAL,
        "capital of a country",
        "P36",
        "country",
        ("{O} is the capital of {S}.", "{S} has its capital city as {O}."),
        masks_subject=True,
    ),
    FactType(
        "air_base_country",
        POLITICAL,
        "country of an air base",
        "P17",
        "air base",
        ("The {S} serves the Air Force of {O}.", "The {S} is located in {O}."),
    ),
    FactType(
        "naval_base_country",
        POLITICAL,
        "country of a naval base",
        "P17",
        "naval base",
        ("The {S} serves the Navy of {O}.", "The {S} is located in {O}."),
    ),
    FactType(
        "naval_base_waterbody",
        POLITICAL,
        "waterbody of a naval base",
        "P206",
        "naval base",
        ("The {S} operates in the waters of the {O}.",),
    ),
    FactType(
        "sea_countries",
        NATURAL,
        "basin countries of a sea",
        "P205",
        "sea",
        (
            "Rivers from countries such as {O1} and {O2} flow into the {S}.",
            "The {S} is bound by countries such as {O1} and {O2}.",
        ),
        single="The {S} is bound by {O}.",
    ),
    FactType(
        "range_highest_point",
        NATURAL,
        "highest point of a mountain range",
        "P610",
        "mountain range",
        (
            "{O} is the highest point of the {S} mountain range.",
            "The highest point of the {S} mountain range is {O}.",
        ),
    ),
    FactType(
        "forest_countries",
        NATURAL,
        "countries of a forest",
        "P17",
        "forest",
        ("The {S} forest is spread over countries such as {O1} and {O2}.",),
        single="The {S} forest is located in {O}.",
    ),
    FactType(
        "desert_continent",
        NATURAL,
        "continent of a desert",
        "P30",
        "desert",
        ("The {S} desert is part of the {O} continent.",),
    ),
    FactType(
        "desert_countries",
        NATURAL,
        "countries of a desert",
        "P17",
        "desert",
        ("The {S} desert is spread over countries such as {O1} and {O2}.",),
        single="The {S} desert is located in {O}.",
    ),
    FactType(
        "river_countries",
        NATURAL,
        "countries of a river",
        "P205",
        "river",
        ("The {S} river flows through {O}.", "{O} has the {S} river as one of its rivers."),
    ),
    FactType(
        "range_countries",
        NATURAL,
        "countries of a mountain range",
        "P17",
        "mountain range",
        (
            "The {S} mountain range passes through countries such as {O1} and {O2}.",
            "The {S} mountain range runs through various countries such as {O1} and {O2}.",
        ),
        single="The {S} mountain range passes through {O}.",
    ),
    FactType(
        "waterfall_countries",
        NATURAL,
        "countries of a waterfall",
        "P17",
        "waterfall",
        ("The {S} waterfall is located in countries such as {O1} and {O2}.",),
        single="The {S} waterfall is located in {O}.",
    ),
    FactType(
        "canyon_country",
        NATURAL,
        "country of a canyon",
        "P17",
        "canyon",
        ("The {S} canyon is spread over countries namely {O1} and {O2}.",),
        single="The {S} canyon is located in {O}.",
    ),
    FactType(
        "canyon_waterbody",
        NATURAL,
        "waterbody that made a canyon",
        "P206",
        "canyon",
        ("The {S} canyon is created by water bodies namely {O1} and {O2}.",),
        single="The {S} canyon is created by the {O}.",
    ),
    FactType(
        "reserve_country",
        NATURAL,
        "country of a natural reserve",
        "P17",
        "natural reserve",
        ("The {S} is spread over countries such as {O1} and {O2}.",),
        single="The {S} is located in {O}.",
    ),
    FactType(
        "dam_waterbody",
        FACILITIES,
        "waterbody of a dam",
        "P206",
        "dam",
        ("The {S} dam is located on the {O} river.", "The {S} dam bounds the flow of the {O} river."),
    ),
    FactType(
        "dam_country",
        FACILITIES,
        "country of a dam",
        "P17",
        "dam",
        ("The {S} dam is located in {O}.",),
    ),
    FactType(
        "power_station_country",
        FACILITIES,
        "country of a power station",
        "P17",
        "power station",
        ("The {S} supplies electricity to states in {O}.", "The {S} is located in {O}."),
    ),
    FactType(
        "mine_country",
        FACILITIES,
        "country of a mine",
        "P17",
        "mine",
        ("The {S} mines are spread over countries such as {O1} and {O2}.", "The {S} mine is located in {O}."),
    ),
    FactType(
        "amusement_park_country",
        FACILITIES,
        "country of an amusement park",
        "P17",
        "amusement park",
        ("The {S} amusement park is located in {O}.",),
    ),
    FactType(
        "stadium_country",
        FACILITIES,
        "country of a stadium",
        "P17",
        "stadium",
        ("The {S} stadium is located in {O}.",),
    ),
)
FACT_TYPES = {fact_type.key: fact_type for fact_type in _ALL}
