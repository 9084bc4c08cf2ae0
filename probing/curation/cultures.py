"""Cultures as sets of countries with their Wikipedia sites, and pairs of them (methods 4.2)."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probing.errors import BadInput

FOLDER = Path(__file__).parent / "cultures"
EVERYWHERE = "en"  # a site that is read for every country


@dataclass(frozen=True)
class Culture:
    """`name` is what pages say, `region` what files are called, such as ARAB_REGION.

    `sites`: by country, the Wikipedia sites of its languages.
    """

    name: str
    region: str
    sites: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Pair:
    """Two cultures that are compared, and the languages in which both are asked."""

    name: str
    cultures: tuple[Culture, ...]
    languages: tuple[str, ...]


_PAIRS = {
    "arab-west": (("arab", "west"), ("ar", "en")),
    "asia-west": (("asia", "west"), ("ko", "en")),
    "south-america-west": (("south-america", "west"), ("es", "en")),
}
PAIRS = tuple(_PAIRS)


def pair(name: str) -> Pair:
    """One of the known pairs."""
    if name not in _PAIRS:
        raise BadInput(f"No pair of cultures is called {name!r}.", f"Choose from: {', '.join(_PAIRS)}.")
    cultures, languages = _PAIRS[name]
    return Pair(name, tuple(culture(each) for each in cultures), languages)


def own_pair(name: str, cultures: Sequence[str], languages: Sequence[str]) -> Pair:
    """A new one of any cultures; `name` becomes a folder."""
    if not re.fullmatch(r"\w[\w-]*", name):
        raise BadInput(f"{name!r} is no name for a pair.", "Use letters, digits and '-'.")
    read = tuple(culture(each) for each in cultures)
    if len({each.region for each in read}) < len(read) or not read:
        raise BadInput("The cultures of a pair must have different regions.", "Give two --culture.")
    for language in languages or [""]:
        if not re.fullmatch(r"[a-z]{2,3}(-[a-z0-9]+)*", language):
            raise BadInput(f"{language!r} is no language code.", "Give --languages such as: ar en.")
    return Pair(name, read, tuple(dict.fromkeys(languages)))


def culture(name: str) -> Culture:
    """A known set of countries by its name, or one in a TOML file."""
    path = FOLDER / f"{name}.toml" if re.fullmatch(r"[\w-]+", name) else Path(name)
    if not path.is_file():
        known = ", ".join(sorted(each.stem for each in FOLDER.glob("*.toml")))
        raise BadInput(f"There is no culture {name!r}.", f"Choose from: {known}; or give a TOML file.")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path.name} is not TOML ({error}).", "See docs/curation.md.") from error
    return Culture(_name(content, path.name), _region(content, path.name), _sites(content, path.name))


def _name(content: Mapping[str, Any], file: str) -> str:
    name = content.get("name")
    if not isinstance(name, str) or not name.strip():
        raise BadInput(f"{file}: name is {name!r}.", 'Write it as pages should, such as name = "Nordic".')
    return name


def _region(content: Mapping[str, Any], file: str) -> str:
    region = content.get("region")
    if not isinstance(region, str) or not re.fullmatch(r"[A-Z][A-Z0-9_]*", region):
        raise BadInput(f"{file}: region is {region!r}.", 'Write it in capitals, such as region = "NORDIC".')
    return region


def _sites(content: Mapping[str, Any], file: str) -> dict[str, tuple[str, ...]]:
    countries = content.get("countries")
    if not isinstance(countries, dict) or not countries:
        raise BadInput(f"{file}: no countries.", 'List them below [countries], such as Q20 = ["no"].')
    for country, sites in countries.items():
        if not re.fullmatch(r"Q[1-9]\d*", country):
            raise BadInput(f"{file}: {country!r} is no id of Wikidata.", "Write it such as Q20.")
        if not isinstance(sites, list) or not all(re.fullmatch(r"[a-z][a-z-]*", str(site)) for site in sites):
            raise BadInput(f"{file}: the sites of {country} are {sites!r}.", 'Write them such as ["no", "se"].')
    return {country: tuple(dict.fromkeys((*sites, EVERYWHERE))) for country, sites in countries.items()}
