"""A small world of two cultures, and curations of it whose files can be read."""

import json
from pathlib import Path
from typing import Any

from probing.curation.culture_facts import CulturePlan, curate
from probing.curation.cultures import Culture, CulturePair
from probing.formats.canary import FIELD, MANIFEST
from tests.probing.curation.conftest import Source
from tests.probing.curation.world import SOVEREIGN, World

NORWAY, SWEDEN, PERU, LIMA, OSLO, HAMAR = "Q20", "Q34", "Q419", "Q2868", "Q585", "Q59076"
PAIR = CulturePair(
    "north-south",
    (
        Culture("North", "NORTH", {NORWAY: ("no", "en"), SWEDEN: ("sv", "en")}),
        Culture("South", "SOUTH", {PERU: ("es", "en")}),
    ),
    ("es", "en"),
)


def small_world() -> World:
    """Return a world with three countries and their capitals."""
    world = World()
    for country, name, capital in ((NORWAY, "Norway", OSLO), (SWEDEN, "Sweden", "Q1754"), (PERU, "Peru", LIMA)):
        world.item(country, name, en=100)
        world.item(capital, f"Capital of {name}")
        world.claim(country, "P31", SOVEREIGN)
        world.claim(country, "P36", capital)
        world.claim(capital, "P17", country)
        world.claim(capital, "P131", country)
    return world


def person(world: World, number: int, country: str = NORWAY, size: int = 100, languages: str = "en es") -> str:
    sizes = {"en": size} if size else {}
    id = world.item(f"Q{100 + number}", f"Person {number}", languages=languages, **sizes)
    world.claim(id, "P31", "Q5")
    world.claim(id, "P27", country)
    return id


def curated(source: Source, folder: Path, *predicates: str, **options: Any) -> Path:
    plan = CulturePlan(options.pop("pairs", (PAIR,)), predicates=predicates, **options)
    curate(source.endpoint(), source.articles(), plan, folder)
    return folder


def lines(folder: Path, predicate: str, region: str = "NORTH", language: str = "en", kind: str = "dlama") -> list[Any]:
    path = folder / "north-south" / kind / language / f"{predicate}_general_{region}.jsonl"
    facts = [json.loads(line) for line in path.read_text().splitlines()]
    return [{key: value for key, value in fact.items() if key != FIELD} for fact in facts]


def triples(folder: Path, predicate: str, region: str = "NORTH") -> Any:
    return json.loads((folder / MANIFEST).read_text())["triples"]["north-south"][predicate][region]
