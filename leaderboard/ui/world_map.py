"""The world map as SVG: countries as shapes, the smallest as dots, each in one of a few shades."""

import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

WORLD = Path(__file__).with_name("world.json")
ARTICLE = "the "
SHADES = 5  # of a sequential palette, from the lowest values to the highest
SIDE_SHADES = 2  # shades of each side of a diverging palette
EVEN = 0.1  # a difference below this is drawn as none
LARGE = 0.3  # a difference from this on has the strongest shade


class Country(NamedTuple):
    """A country: its ISO code, its English name, and its SVG path or, where it is too small for one, its position."""

    code: str
    name: str
    path: str
    position: tuple[int, int] | None


class Shape(NamedTuple):
    """A country as the map shows it: in a shade, which is a CSS class, and with a text that the pointer brings up."""

    country: Country
    shade: str
    text: str


class Shade(NamedTuple):
    """A shade with the values that it stands for."""

    shade: str
    text: str


class WorldMap(NamedTuple):
    """A map with its summary in words and its legend; countries without a value are blank."""

    shapes: Sequence[Shape]
    legend: Sequence[Shade]
    summary: str
    width: int
    height: int


def world_map(values: Mapping[str, float], texts: Mapping[str, str], summary: str, differences: bool) -> WorldMap:
    """Return the map of values by code of country, which are shares from 0 to 1, or differences of shares."""
    shade = _side if differences else _step
    earth = world()
    shapes = [
        Shape(
            country,
            shade(values[code]) if code in values else "blank",
            texts.get(code, f"{country.name}: no questions"),
        )
        for code, country in earth.countries.items()
        if country.path or code in values
    ]
    # Dots lie above the shapes that surround them.
    ordered = sorted(shapes, key=lambda shape: not shape.country.path)
    return WorldMap(ordered, _sides() if differences else _steps(), summary, earth.width, earth.height)


def _step(share: float) -> str:
    return f"step-{min(int(share * SHADES), SHADES - 1)}"


def _steps() -> list[Shade]:
    return [Shade(f"step-{step}", f"{step / SHADES:.1f} to {(step + 1) / SHADES:.1f}") for step in range(SHADES)]


def _side(difference: float) -> str:
    if abs(difference) < EVEN:
        return "even"
    return f"{'more' if difference > 0 else 'less'}-{SIDE_SHADES if abs(difference) >= LARGE else 1}"


def _sides() -> list[Shade]:
    return [
        Shade("less-2", f"−{LARGE} and below"),
        Shade("less-1", f"−{LARGE} to −{EVEN}"),
        Shade("even", f"less than {EVEN} apart"),
        Shade("more-1", f"+{EVEN} to +{LARGE}"),
        Shade("more-2", f"+{LARGE} and above"),
    ]


class World(NamedTuple):
    """All countries by code, the code of each name in several languages, and the size of the map."""

    countries: Mapping[str, Country]
    codes: Mapping[str, str]
    width: int
    height: int


@cache
def world() -> World:
    content = json.loads(WORLD.read_text(encoding="utf-8"))
    countries: dict[str, Country] = {}
    codes: dict[str, str] = {}
    for code, facts in content["countries"].items():
        position = tuple(facts["place"]) if "place" in facts else None
        countries[code] = Country(code, facts["names"][0], facts.get("path", ""), position)
        codes |= {_plain(name): code for name in facts["names"]}
    return World(countries, codes, content["width"], content["height"])


@lru_cache(maxsize=65_536)  # pages look up every label of a benchmark
def country_code(name: str) -> str:
    """Return the code of the country with this name in one of the languages, empty if there is none."""
    return world().codes.get(_plain(name), "")


def _plain(name: str) -> str:
    return name.casefold().replace("’", "'").strip().removeprefix(ARTICLE)
