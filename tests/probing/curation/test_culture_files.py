"""Tests of whole curations of cultures: plans, resumption, manifest, templates, and the reader of the format."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from probing.curation.culture_facts import CulturePlan, queries
from probing.curation.cultures import known_pair
from probing.curation.facts import MANIFEST
from probing.curation.wikidata import Endpoint
from probing.errors import BadInput, SourceUnavailable
from probing.formats import FORMATS, format_of
from tests.probing.curation.conftest import MadeAlike, Source, contents
from tests.probing.curation.countries_world import LANGUAGES, Places, whole_world
from tests.probing.curation.north_and_south import NORWAY, OSLO, PAIR, SWEDEN, curated, person, small_world
from tests.probing.curation.servers import Fault
from tests.probing.curation.world import World

Serve = Callable[[World], Source]


@pytest.fixture
def world() -> World:
    return small_world()


@pytest.mark.slow
def test_an_interruption_anywhere_loses_nothing(
    serve: Serve, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every request fails once; the same call again gives the same files in the end, and repeats no answered query."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    for number in range(3):
        world.claim(person(world, number), "P19", OSLO)
    source = serve(world)
    whole = contents(curated(source, tmp_path / "whole", "P36", "P19"))
    servers = (source.sparql, source.wikipedia)
    counts = [len(server.requests) for server in servers]
    source.forget()
    for server, count in zip(servers, counts, strict=True):
        server.faults.extend(([Fault(503)] * 4 + [Fault()]) * count)
    for _ in range(sum(counts)):
        with pytest.raises(SourceUnavailable):
            curated(source, tmp_path / "again", "P36", "P19")
        assert not (tmp_path / "again").exists()
    assert contents(curated(source, tmp_path / "again", "P36", "P19")) == whole
    assert [len(server.requests) for server in servers] == [5 * count for count in counts]


def test_a_finished_curation_is_repeated_without_a_request(serve: Serve, world: World, tmp_path: Path) -> None:
    source = serve(world)
    first = contents(curated(source, tmp_path / "first", "P36"))
    source.sparql.requests.clear()
    source.wikipedia.requests.clear()
    assert contents(curated(source, tmp_path / "second", "P36")) == first
    assert source.sparql.requests == source.wikipedia.requests == []


def test_the_manifest_records_how_the_benchmark_was_made(serve: Serve, world: World, tmp_path: Path) -> None:
    source = serve(world)
    manifest = json.loads((curated(source, tmp_path / "out", "P36") / MANIFEST).read_text())
    assert manifest["endpoint"] == source.endpoint_url
    assert manifest["asked"]["from"] <= manifest["asked"]["to"]
    assert manifest["settings"]["pairs"]["north-south"]["countries"]["NORTH"] == {
        NORWAY: ["no", "en"],
        SWEDEN: ["sv", "en"],
    }
    texts = [query["text"] for query in manifest["queries"]]
    assert any("VALUES ?subject { wd:Q20 }" in text for text in texts)
    assert sum(query["times"] for query in manifest["queries"]) == len(source.sparql.requests)


def test_the_reader_of_the_format_reads_the_folder(serve: Serve, world: World, tmp_path: Path) -> None:
    folder = curated(serve(world), tmp_path / "out", "P36")
    benchmark = FORMATS[format_of(folder)](folder)
    versions = ["P36.north-south.en", "P36.north-south.es"]
    assert [relation.id for relation in benchmark.relations] == versions + [f"{name}.raw" for name in versions]
    relation = benchmark.relations[0]
    assert [item.tags["culture"] for item in relation.items] == ["North", "South", "North"]
    assert [relation.answer_space[item.answers[0]] for item in relation.items if item.subject == "Peru"] == [
        "Capital of Peru"
    ]


def test_templates_may_come_from_a_folder(serve: Serve, world: World, tmp_path: Path) -> None:
    for language in PAIR.languages:
        (tmp_path / "own" / language).mkdir(parents=True)
        line = json.dumps({"relation": "P36", "template": f"[X] {language} [Y]"})
        (tmp_path / "own" / language / "templates.jsonl").write_text(line)
    folder = curated(serve(world), tmp_path / "out", "P36", templates=tmp_path / "own")
    assert json.loads((folder / "templates/es/templates.jsonl").read_text())["template"] == "[X] es [Y]"
    with pytest.raises(BadInput, match="no template for P37"):
        CulturePlan((PAIR,), predicates=("P36", "P37"), templates=tmp_path / "own")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"predicates": ("P1",)}, "No predicate P1"),
        ({"at_most": 0}, "Give 1 or more"),
        ({"least_sitelinks": -1}, "Give 0 or more"),
        ({"pairs": (PAIR, PAIR)}, "Each needs a --name"),
        ({"pairs": (replace(PAIR, name="templates"),)}, "not templates"),
    ],
)
def test_a_bad_plan_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        CulturePlan(**({"pairs": (PAIR,)} | options))


def test_all_twenty_predicates_have_templates_in_the_languages_of_the_pairs() -> None:
    plan = CulturePlan((known_pair("arab-west"), known_pair("asia-west"), known_pair("south-america-west")))
    assert len(plan.predicates) == 20
    assert plan.languages == ["ar", "en", "es", "ko"]


def test_every_printed_query_is_answered_by_a_real_engine(serve: Serve, world: World) -> None:
    """These are the queries that --print-query prints."""
    endpoint: Endpoint = serve(world).endpoint()
    for query in queries(CulturePlan((PAIR,))):
        assert isinstance(endpoint.rows(query), list)
        assert query.text.startswith("# ")


@pytest.mark.slow
def test_all_three_pairs_have_all_predicates_and_are_the_same_byte_for_byte(
    made_alike: MadeAlike, serve: Serve, tmp_path: Path
) -> None:
    pairs = tuple(map(known_pair, ("arab-west", "asia-west", "south-america-west")))
    source = serve(whole_world())
    few = ("P36", "P19", "P106")  # of a country, of a place in it, and with superclasses
    assert made_alike(source, lambda asked, folder: curated(asked, folder, *few, pairs=pairs))
    benchmark = FORMATS["dlama"](curated(source, tmp_path / "whole", pairs=pairs))
    assert len(benchmark.relations) == 20 * 3 * 2 * 2
    native = next(relation for relation in benchmark.relations if relation.id == "P103.arab-west.en")
    assert len(native.items) == (22 + 20) * 2  # of four persons, one has no article and one no Arabic label
    official = next(relation for relation in benchmark.relations if relation.id == "P37.asia-west.ko")
    assert set(official.answer_ids).isdisjoint({LANGUAGES, Places(0).language})
