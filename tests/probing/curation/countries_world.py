"""An invented Wikidata of all countries of the four cultures, with cities, people, works, languages and faults.

Every country gets the same things, told apart by its number, so that what a curation must find can be counted.
"""

from dataclasses import dataclass

from probing.curation.cultures import read_culture
from tests.probing.curation.world import BIG_CITY, HISTORICAL, SOMETHING, SOVEREIGN, VOICE, World

HUMAN = "Q5"
CONTINENT, LANGUAGES, SINGER, ARTIST, LUTE, FOLK, LABEL, EMPIRE = (f"Q{number}" for number in range(9001, 9009))
CULTURES = ("arab", "west", "asia", "south-america")


@dataclass(frozen=True)
class Places:
    """Ids of the places, languages, people and works of a country."""

    number: int

    def id(self, kind: int) -> str:
        return f"Q{10_000_000 + 100 * self.number + kind}"

    @property
    def capital(self) -> str:
        return self.id(1)

    @property
    def village(self) -> str:
        return self.id(2)

    @property
    def province(self) -> str:
        return self.id(3)

    @property
    def language(self) -> str:
        return self.id(4)

    @property
    def dialect(self) -> str:
        return self.id(5)

    @property
    def network(self) -> str:
        return self.id(6)

    def person(self, number: int) -> str:
        return self.id(10 + number)

    def work(self, number: int) -> str:
        return self.id(30 + number)


def whole_world() -> World:
    world = World()
    for number, id in enumerate((CONTINENT, LANGUAGES, SINGER, ARTIST, LUTE, FOLK, LABEL, EMPIRE, VOICE)):
        world.item(id, f"Common {number}", links=200)
    world.claim(SINGER, "P279", ARTIST)
    world.claim(EMPIRE, "P31", HISTORICAL)
    countries = {id: sites for name in CULTURES for id, sites in read_culture(name).sites.items()}
    for number, (country, sites) in enumerate(countries.items()):
        add_country(world, country, number, sites, list(countries)[number - 1])
    return world


def add_country(world: World, country: str, number: int, sites: tuple[str, ...], neighbour: str) -> None:
    own = Places(number)
    world.item(country, f"Country{number}", links=300)
    for site in sites:
        world.article(country, site, f"Country{number}", 50_000 + number)
    world.claim(country, "P31", SOVEREIGN)
    world.claim(country, "P30", CONTINENT)
    world.claim(country, "P36", own.capital, rank="preferred")
    world.claim(country, "P36", own.village, end="1950-01-01")
    world.claim(country, "P37", own.dialect)
    world.claim(country, "P47", neighbour)
    world.claim(country, "P530", neighbour)
    add_places(world, country, own, number)
    for person in range(4):
        add_person(world, country, own, person)
    for work in range(2):
        add_work(world, country, own, work)


def add_places(world: World, country: str, own: Places, number: int) -> None:
    world.item(own.capital, f"Capital {number}", links=150, en=9_000 + number)
    world.item(own.village, f"Village {number}", links=10, en=500)
    world.item(own.province, f"Province {number}", links=20)
    world.item(own.language, f"Language {number}", links=90)
    world.item(own.dialect, f"Dialect {number}", links=30)
    world.item(own.network, f"Network {number}", links=15)
    world.claim(own.capital, "P31", BIG_CITY)
    world.claim(own.capital, "P1376", country)
    world.claim(own.capital, "P190", Places((number + 1) % 67).capital, Places((number + 1) % 67).village)
    for place in (own.capital, own.village):
        world.claim(place, "P17", country)
        world.claim(place, "P17", EMPIRE, end="1918-11-11")
        world.claim(place, "P625", SOMETHING)
    world.claim(own.capital, "P131", country)
    world.claim(own.village, "P131", own.province)
    world.claim(own.province, "P131", country)
    world.claim(own.dialect, "P279", own.language)
    world.claim(own.language, "P279", LANGUAGES)


def add_person(world: World, country: str, own: Places, number: int) -> None:
    """Person 2 has no article, person 3 no Arabic or Korean label; person 0's death place is unknown."""
    person, name = own.person(number), f"Person {own.number}-{number}"
    sizes = {} if number == 2 else {"en": 1_000 * (4 - number) + own.number}
    world.item(person, name, languages="en es" if number == 3 else "en ar ko es", links=40 - number, **sizes)
    world.claim(person, "P31", HUMAN)
    world.claim(person, "P27", country)
    world.claim(person, "P19", own.village if number else own.capital)
    world.claim(person, "P19", own.capital if number else own.village, rank="deprecated")
    world.claim(person, "P20", own.capital if number else SOMETHING)
    world.claim(person, "P103", own.language)
    world.claim(person, "P1412", own.language, Places((own.number + 1) % 67).language)
    world.claim(person, "P106", SINGER if number % 2 else ARTIST)
    world.claim(person, "P136", FOLK)
    world.claim(person, "P264", LABEL)
    world.claim(person, "P1303", LUTE, VOICE)


def add_work(world: World, country: str, own: Places, number: int) -> None:
    work = world.item(own.work(number), f"Work {own.number}-{number}", links=25, en=2_000 + number)
    world.claim(work, "P495", country)
    world.claim(work, "P364", own.language)
    world.claim(work, "P449", own.network)
