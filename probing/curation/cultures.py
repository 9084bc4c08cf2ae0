"""Cultures (methods 4.2): sets of countries with their Wikipedia sites, pairs of these, and the items of a culture.

An item of Wikidata belongs to a culture by the citizenship of one of its countries, or because it lies in one.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from probing.curation import wordings
from probing.curation.wikidata import Endpoint, Query, chunks, item_number
from probing.errors import BadInput, suggestion

FOLDER = Path(__file__).parent / "cultures"
COMMON_SITE = "en"  # read for every country
# Name of a pair -> its cultures and languages.
KNOWN_PAIRS = {
    "arab-west": (("arab", "west"), ("ar", "en")),
    "asia-west": (("asia", "west"), ("ko", "en")),
    "south-america-west": (("south-america", "west"), ("es", "en")),
}
LARGEST_TABLE = 10_000_000  # bytes


@dataclass(frozen=True)
class Culture:
    """A set of countries. `name` is shown on pages, `region` stands in file names, such as ARAB_REGION.

    `sites`: by country, the Wikipedia sites of its languages. `also`: by country, further ids that Wikidata has for it.
    """

    name: str
    region: str
    sites: Mapping[str, tuple[str, ...]]
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def ids(self, country: str) -> tuple[str, ...]:
        return (country, *self.also.get(country, ()))


@dataclass(frozen=True)
class CulturePair:
    """Two or more cultures that are compared, and the languages in which all are probed."""

    name: str
    cultures: tuple[Culture, ...]
    languages: tuple[str, ...]


def known_pair(name: str) -> CulturePair:
    if name not in KNOWN_PAIRS:
        raise BadInput(f"No pair of cultures is called {name!r}.", suggestion(name, KNOWN_PAIRS))
    cultures, languages = KNOWN_PAIRS[name]
    return CulturePair(name, tuple(map(read_culture, cultures)), languages)


def new_pair(name: str, culture_names: Sequence[str], languages: Sequence[str]) -> CulturePair:
    """Return a new pair of any cultures; its name is also that of a folder."""
    if not re.fullmatch(r"\w[\w-]*", name):
        raise BadInput(f"{name!r} cannot be the name of a pair.", "Use letters, digits and '-'.")
    cultures = tuple(map(read_culture, culture_names))
    if len({culture.region for culture in cultures}) < max(len(cultures), 2):
        raise BadInput("A pair needs two cultures or more, of different regions.", "Write cultures: [arab, west].")
    if not languages:
        raise BadInput("A pair needs a language.", "Write languages: [ar, en].")
    wordings.check_languages(languages)
    return CulturePair(name, cultures, tuple(dict.fromkeys(languages)))


def read_culture(name: str) -> Culture:
    """Return a culture that ships with the library, by its name, or one from a TOML or YAML file."""
    path = FOLDER / f"{name}.toml" if re.fullmatch(r"[\w-]+", name) else Path(name)
    if not path.is_file():
        names = ", ".join(sorted(file.stem for file in FOLDER.glob("*.toml")))
        raise BadInput(f"There is no culture {name!r}.", f"Choose from: {names}; or give a TOML or YAML file.")
    content = read_table(path)
    title, region = _title(content, path.name), _region(content, path.name)
    countries = _countries(content, path.name)
    sites = {ids[0]: sites for ids, sites in countries.items()}
    return Culture(title, region, sites, {ids[0]: ids[1:] for ids in countries if ids[1:]})


def _title(content: Mapping[str, Any], file: str) -> str:
    name = content.get("name")
    if not isinstance(name, str) or not name.strip():
        raise BadInput(f"{file}: name is {name!r}.", "Write it as pages should show it, such as Nordic.")
    return name


def _region(content: Mapping[str, Any], file: str) -> str:
    region = content.get("region")
    if not isinstance(region, str) or not re.fullmatch(r"[A-Z][A-Z0-9_]*", region):
        raise BadInput(f"{file}: region is {region!r}.", "Write it in capitals, such as NORDIC.")
    return region


def _countries(content: Mapping[str, Any], file: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the ids of each country, the usual one first, -> its sites."""
    countries = content.get("countries")
    if not isinstance(countries, dict) or not countries:
        raise BadInput(f"{file}: no countries.", "List them by their ids, with their sites: see docs/curation.md.")
    for country, sites in countries.items():
        if not re.fullmatch(r"Q[1-9]\d*( Q[1-9]\d*)*", str(country)):
            raise BadInput(f"{file}: {country!r} is not an id of Wikidata.", "Write it such as Q20.")
        if not isinstance(sites, list) or not all(re.fullmatch(r"[a-z][a-z-]*", str(site)) for site in sites):
            raise BadInput(f"{file}: the sites of {country} are {sites!r}.", 'Write them such as ["no", "se"].')
    return {tuple(ids.split()): tuple(dict.fromkeys((*sites, COMMON_SITE))) for ids, sites in countries.items()}


def country_ids(culture: Culture) -> list[str]:
    return [id for country in culture.sites for id in culture.ids(country)]


def members_query(countries: Collection[str], items: tuple[str, ...]) -> Query:
    """Return the query of the paper on DLAMA: citizens of these countries, and what lies in them, however far below."""
    values = " ".join(f"wd:{country}" for country in countries)
    where = (
        f"VALUES ?country {{ {values} }}",
        "{ ?item wdt:P27 ?country }  # a citizen",
        "UNION",
        "{ ?item (wdt:P131|wdt:P17)* ?country }  # lies in it, or is it",
    )
    return Query("Which items belong to these countries", ("item",), where, items)


def members(endpoint: Endpoint, culture: Culture, items: Iterable[str]) -> frozenset[str]:
    """Return the items that belong to the culture, by asking the endpoint about all of them."""
    ids = sorted(set(items), key=item_number)
    queries = [members_query(country_ids(culture), chunk) for chunk in chunks(ids)]
    return frozenset(row["item"] for row in endpoint.all_rows(queries))


def read_countries(path: Path) -> dict[str, frozenset[str]]:
    """Read a table of the user's: in each line an id and, behind tabs, the ids of its countries."""
    countries: dict[str, frozenset[str]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        id, *ids = (text.strip() for text in line.split("\t"))
        if line.strip() and not (id and any(ids)):
            raise BadInput(f"{path.name}, line {number}: no id or no country.", "Write: id, tab, id of a country.")
        if id:
            countries[id] = countries.get(id, frozenset()) | frozenset(filter(None, ids))
    return countries


def _from_yaml(text: str) -> Any:
    """Read every value as text, because YAML takes `no`, the site of Norway, for false."""
    return yaml.load(text, Loader=yaml.BaseLoader)


PARSERS: Mapping[str, Callable[[str], Any]] = {".toml": tomllib.loads, ".yaml": _from_yaml, ".yml": _from_yaml}


def read_table(path: Path) -> Mapping[str, Any]:
    """Return the named values of a TOML or YAML file; raise `BadInput` if it cannot be read."""
    if path.suffix not in PARSERS:
        raise BadInput(
            f"{path.name} is neither TOML nor YAML.", f"Its name should end in one of: {', '.join(PARSERS)}."
        )
    form = "TOML" if path.suffix == ".toml" else "YAML"
    try:
        if path.stat().st_size > LARGEST_TABLE:
            raise BadInput(f"{path.name} is larger than {LARGEST_TABLE:,} bytes.", "Shorten it.")
        content = PARSERS[path.suffix](path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}).", "Check the name of the file.") from error
    except (tomllib.TOMLDecodeError, yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path.name} cannot be read as {form} ({error}).", "See docs/curation.md.") from error
    if not isinstance(content, dict):
        raise BadInput(f"{path.name} has no named values.", "See docs/curation.md.")
    return content
