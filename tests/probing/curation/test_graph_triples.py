"""Knowledge graphs of any properties of Wikidata."""

import json
from pathlib import Path
from typing import Any

import pytest

from probing.curation.graph_triples import GraphPlan, curate, queries
from probing.errors import BadInput
from probing.formats import FORMATS, format_of
from probing.formats.canary import MANIFEST
from probing.formats.knowledge_graph import read_graph
from tests.probing.curation.conftest import MadeAlike, Serve, Source
from tests.probing.curation.world import SOMETHING, World


@pytest.fixture
def world() -> World:
    """Three countries with capitals and continents."""
    world = World()
    world.item("Q6256", "country")
    world.item("Q15", "Africa")
    world.item("P4661", "shore")
    for number, (country, capital) in enumerate((("Egypt", "Cairo"), ("Kenya", "Nairobi"), ("Chad", "N'Djamena"))):
        world.item(f"Q{100 + number}", country, links=90 - number)
        world.item(f"Q{200 + number}", capital, links=80)
        world.claim(f"Q{100 + number}", "P31", "Q6256", SOMETHING)
        world.claim(f"Q{100 + number}", "P36", f"Q{200 + number}")
        world.claim(f"Q{100 + number}", "P30", "Q15")
    return world


def curated(source: Source, folder: Path, *properties: str, **options: Any) -> Path:
    curate(source.endpoint(), GraphPlan(properties or ("P30", "P36"), **options), folder)
    return folder


def test_the_reader_of_the_format_reads_sentences_and_categories(serve: Serve, world: World, tmp_path: Path) -> None:
    folder = curated(serve(world), tmp_path / "out", templates={"P36": ["[X] is ruled from [Y]."]})
    graph = read_graph(folder)
    assert [graph.sentences(triple)[0] for triple in graph.triples] == [
        "The continent of Egypt is Africa",
        "The continent of Kenya is Africa",
        "The continent of Chad is Africa",
        "Egypt is ruled from Cairo",
        "Kenya is ruled from Nairobi",
        "Chad is ruled from N'Djamena",
    ]
    assert graph.categories == {"Q100": ("country",), "Q101": ("country",), "Q102": ("country",)}
    assert format_of(folder) == "knowledge_graph"
    assert FORMATS["knowledge_graph"](folder).size


def test_a_property_without_a_template_is_worded_by_its_name(serve: Serve, world: World, tmp_path: Path) -> None:
    world.claim("Q100", "P4661", "Q15")
    folder = curated(serve(world), tmp_path / "out", "P4661")
    assert json.loads((folder / "relation_mapping.json").read_text()) == {"P4661": "The shore of {HEAD} is {TAIL}"}


def test_every_triple_is_either_kept_or_dropped_for_a_reason(serve: Serve, world: World, tmp_path: Path) -> None:
    world.item("Q200", "")
    world.claim("Q100", "P36", "Q201", rank="deprecated")
    folder = curated(serve(world), tmp_path / "out", "P36", at_most=2)
    assert json.loads((folder / MANIFEST).read_text())["triples"] == {
        "P36": {
            "found": 3,
            "added": 0,
            "dropped": {"a name is missing": 1, "beyond the best known subjects": 1},
            "kept": 1,
        }
    }


def test_the_same_answers_give_the_same_bytes(made_alike: MadeAlike, serve: Serve, world: World) -> None:
    assert made_alike(serve(world), curated)


def test_every_printed_query_is_answered_by_a_real_engine(serve: Serve, world: World) -> None:
    endpoint = serve(world).endpoint()
    assert len([endpoint.rows(query) for query in queries(GraphPlan(("P36", "P30")))]) == 3


@pytest.mark.parametrize(
    ("properties", "options", "message"),
    [
        (("Q1",), {}, "not a property of Wikidata"),
        (("P36",), {"at_most": 0}, "Give 1 or more"),
        (("P36",), {"least_sitelinks": 999}, "no such triples"),
        (("P36",), {"least_sitelinks": 1000}, "No subjects have 1000 sitelinks"),
        (("P36",), {"templates": {"P36": ["[X]"]}}, "once"),
        (("P36",), {"templates": {"P30": ["[X] lies in [Y]."]}}, "P30 is worded, but not curated"),
        (("P36",), {"templates": {"P36": ["[X] [Y]", "[Y] [X]"]}}, "one template for each property, but P36"),
    ],
)
def test_a_bad_plan_is_refused(
    serve: Serve, world: World, tmp_path: Path, properties: tuple[str, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        curate(serve(world).endpoint(), GraphPlan(properties, **options), tmp_path / "out")
