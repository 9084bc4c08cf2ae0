"""Cultures as sets of countries with their Wikipedia sites, and pairs of them (methods 4.2)."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from probing.curation import wordings
from probing.errors import BadInput

FOLDER = Path(__file__).parent / "cultures"
EVERYWHERE = "en"  # a site that is read for every country


@dataclass(frozen=True)
class Culture:
    """`name` is what pages say, `region` what files are called, such as ARAB_REGION.

    `sites`: by country, the Wikipedia sites of its languages. `also`: other ids by which Wikidata names a country.
    """

    name: str
    region: str
    sites: Mapping[str, tuple[str, ...]]
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def ids(self, country: str) -> tuple[str, ...]:
        return (country, *self.also.get(country, ()))


@dataclass(frozen=True)
class Pair:
    """Two cultures that are compared, and the languages in which both are asked."""

    name: str
    cultures: tuple[Culture, ...]
    languages: tuple[str, ...]


def _from_yaml(text: str) -> Any:
    """Every value as text: to YAML, the Norwegian site `no` would be false."""
    return yaml.load(text, Loader=yaml.BaseLoader)


READERS: Mapping[str, Callable[[str], Any]] = {".toml": tomllib.loads, ".yaml": _from_yaml, ".yml": _from_yaml}
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
    if len({each.region for each in read}) < max(len(read), 2):
        raise BadInput("A pair has two cultures or more, of different regions.", "Give two --culture.")
    if not languages:
        raise BadInput("A pair needs a language.", "Give --languages such as: ar en.")
    wordings.check_languages(languages)
    return Pair(name, read, tuple(dict.fromkeys(languages)))


def culture(name: str) -> Culture:
    """A known set of countries by its name, or one in a TOML or YAML file."""
    path = FOLDER / f"{name}.toml" if re.fullmatch(r"[\w-]+", name) else Path(name)
    if not path.is_file():
        known = ", ".join(sorted(each.stem for each in FOLDER.glob("*.toml")))
        raise BadInput(f"There is no culture {name!r}.", f"Choose from: {known}; or give a TOML or YAML file.")
    content = _content(path)
    about = _name(content, path.name), _region(content, path.name)
    countries = _countries(content, path.name)
    sites = {ids[0]: sites for ids, sites in countries.items()}
    return Culture(*about, sites, {ids[0]: ids[1:] for ids in countries if ids[1:]})


def _content(path: Path) -> Mapping[str, Any]:
    if path.suffix not in READERS:
        raise BadInput(
            f"{path.name} is neither TOML nor YAML.", f"Its name should end in one of: {', '.join(READERS)}."
        )
    form = "TOML" if path.suffix == ".toml" else "YAML"
    try:
        content = READERS[path.suffix](path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path.name} cannot be read as {form} ({error}).", "See docs/curation.md.") from error
    if not isinstance(content, dict):
        raise BadInput(f"{path.name} says nothing by name.", "See docs/curation.md.")
    return content


def _name(content: Mapping[str, Any], file: str) -> str:
    name = content.get("name")
    if not isinstance(name, str) or not name.strip():
        raise BadInput(f"{file}: name is {name!r}.", "Write it as pages should, such as Nordic.")
    return name


def _region(content: Mapping[str, Any], file: str) -> str:
    region = content.get("region")
    if not isinstance(region, str) or not re.fullmatch(r"[A-Z][A-Z0-9_]*", region):
        raise BadInput(f"{file}: region is {region!r}.", "Write it in capitals, such as NORDIC.")
    return region


def _countries(content: Mapping[str, Any], file: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Its ids, the usual one first -> its sites."""
    countries = content.get("countries")
    if not isinstance(countries, dict) or not countries:
        raise BadInput(f"{file}: no countries.", "List them by their ids, with their sites: see docs/curation.md.")
    for country, sites in countries.items():
        if not re.fullmatch(r"Q[1-9]\d*( Q[1-9]\d*)*", str(country)):
            raise BadInput(f"{file}: {country!r} is no id of Wikidata.", "Write it such as Q20.")
        if not isinstance(sites, list) or not all(re.fullmatch(r"[a-z][a-z-]*", str(site)) for site in sites):
            raise BadInput(f"{file}: the sites of {country} are {sites!r}.", 'Write them such as ["no", "se"].')
    return {tuple(ids.split()): tuple(dict.fromkeys((*sites, EVERYWHERE))) for ids, sites in countries.items()}
