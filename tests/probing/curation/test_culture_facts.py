"""Tests of the five steps of culture facts and of the counts of triples."""

import itertools
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from requests_cache.models import response as response_times

from probing.curation.culture_facts import CulturePlan, curate, queries
from probing.curation.cultures import Culture, CulturePair, known_pair
from probing.curation.wikidata import Endpoint
from probing.errors import BadInput, SourceUnavailable
from probing.formats import FORMATS, format_of
from probing.formats.canary import MANIFEST
from tests.probing.curation.conftest import MadeAlike, Serve, contents
from tests.probing.curation.countries_world import LANGUAGES, Places, whole_world
from tests.probing.curation.north_and_south import (
    HAMAR,
    LIMA,
    NORWAY,
    OSLO,
    PAIR,
    PERU,
    SWEDEN,
    curated,
    lines,
    person,
    small_world,
    triples,
)
from tests.probing.curation.servers import Fault
from tests.probing.curation.world import HISTORICAL, SOMETHING, SOVEREIGN, World


@pytest.fixture
def world() -> World:
    return small_world()


def test_the_files_have_the_layout_of_dlama(serve: Serve, world: World, tmp_path: Path) -> None:
    folder = curated(serve(world), tmp_path / "out", "P36")
    assert lines(folder, "P36", language="es") == [
        {
            "sub_uri": country,
            "obj_uri": [capital],
            "sub_label": f"{name} (es)",
            "obj_label": [f"Capital of {name} (es)"],
            "country": [country],
            "size": 100,
            "uuid": f"P36_general_NORTH_{number}",
            "culture": "North",
        }
        for number, (country, name, capital) in enumerate([(NORWAY, "Norway", OSLO), (SWEDEN, "Sweden", "Q1754")])
    ]
    assert [line["sub_label"] for line in lines(folder, "P36", "SOUTH")] == ["Peru"]
    benchmark = FORMATS["dlama"](folder)
    assert benchmark.further_probes == ("answering",)
    questions = {str(relation.tags["language"]): relation.questions for relation in benchmark.relations}
    assert questions["es"] == ("¿Qué ciudad es la capital de [X]?",)


def test_subjects_are_sorted_by_their_longest_article(serve: Serve, world: World, tmp_path: Path) -> None:
    for number, size in ((1, 500), (2, 90), (3, 300), (4, 300)):
        world.claim(person(world, number, size=size), "P106", LIMA)
    world.article("Q102", "no", "Person to", 9000)
    folder = curated(serve(world), tmp_path / "out", "P106")
    sizes = [(line["sub_uri"], line["size"]) for line in lines(folder, "P106")]
    assert sizes == [("Q102", 9000), ("Q101", 500), ("Q103", 300), ("Q104", 300)]


def test_articles_on_other_sites_do_not_count_and_a_redirected_one_has_the_size_of_its_target(
    serve: Serve, world: World, tmp_path: Path
) -> None:
    elsewhere, redirected = person(world, 1, size=0), person(world, 2, country=PERU, size=0)
    for id in (elsewhere, redirected):
        world.claim(id, "P106", LIMA)
    world.article(elsewhere, "fr", "Personne", 9000)
    world.article(redirected, "en", "Old", 1)
    world.redirects["en", "Old"] = "New"
    world.sizes["en", "New"] = 77
    folder = curated(serve(world), tmp_path / "out", "P106")
    assert not (folder / "north-south" / "dlama" / "en" / "P106_general_NORTH.jsonl").exists()
    assert triples(folder, "P106")["dropped"] == {"the subject has no article on the sites": 1}
    assert lines(folder, "P106", "SOUTH")[0]["size"] == 77


def test_subjects_can_be_sorted_by_edits(serve: Serve, world: World, tmp_path: Path) -> None:
    for number, size in ((1, 97 * 5 + 1), (2, 97 + 30)):
        world.claim(person(world, number, size=size), "P106", LIMA)
    folder = curated(serve(world), tmp_path / "out", "P106", sort="edits")
    assert [(line["sub_uri"], line["size"]) for line in lines(folder, "P106")] == [("Q102", 30), ("Q101", 1)]


def test_all_objects_of_a_kept_subject_count_and_two_countries_of_a_culture_are_one_fact(
    serve: Serve, world: World, tmp_path: Path
) -> None:
    world.claim(person(world, 1), "P27", PERU)
    world.claim(person(world, 2), "P27", SWEDEN)
    folder = curated(serve(world), tmp_path / "out", "P27")
    facts = [(line["obj_uri"], line["country"]) for line in lines(folder, "P27")]
    assert facts == [([NORWAY, PERU], [NORWAY]), ([NORWAY, SWEDEN], [NORWAY, SWEDEN])]
    assert triples(folder, "P27")["added"] == 1


def test_a_place_of_birth_lies_in_the_country_and_is_no_country(serve: Serve, world: World, tmp_path: Path) -> None:
    world.claim(person(world, 1), "P19", OSLO)
    world.claim(person(world, 2), "P19", LIMA)
    world.claim(person(world, 3), "P19", NORWAY)
    world.claim(person(world, 4, country=PERU), "P19", OSLO)
    world.claim(person(world, 5, country=PERU), "P19", LIMA)
    folder = curated(serve(world), tmp_path / "out", "P19")
    assert [line["sub_uri"] for line in lines(folder, "P19")] == ["Q101"]
    assert [line["sub_uri"] for line in lines(folder, "P19", "SOUTH")] == ["Q105"]


def test_two_ids_of_a_country_are_one_country(serve: Serve, world: World, tmp_path: Path) -> None:
    """The person is a citizen of the realm and was born in a city that lies in the country."""
    world.item("Q951", "Realm", en=100)
    world.claim("Q951", "P31", SOVEREIGN)
    world.claim("Q951", "P36", HAMAR)
    world.item(HAMAR, "Hamar")
    world.claim(person(world, 1, country="Q951"), "P19", OSLO)
    north = replace(PAIR.cultures[0], also={NORWAY: ("Q951",)})
    pairs = (replace(PAIR, cultures=(north, PAIR.cultures[1])),)
    folder = curated(serve(world), tmp_path / "out", "P19", "P36", pairs=pairs)
    assert [(line["sub_uri"], line["country"]) for line in lines(folder, "P19")] == [("Q101", [NORWAY])]
    assert triples(folder, "P36")["found_by_country"] == {NORWAY: 2, SWEDEN: 1}


def test_countries_without_facts_are_returned(serve: Serve, world: World, tmp_path: Path) -> None:
    source, plan = serve(world), CulturePlan((PAIR,), ("P36", "P106"))
    assert curate(source.endpoint(), source.articles(), plan, tmp_path / "all") == {}
    plan = CulturePlan(
        (replace(PAIR, cultures=(Culture("North", "NORTH", {NORWAY: ("en",), "Q9999": ("en",)}),)),), ("P36",)
    )
    assert curate(source.endpoint(), source.articles(), plan, tmp_path / "some") == {"NORTH": ["Q9999"]}


def test_a_benchmark_without_facts_is_not_written(serve: Serve, world: World, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such facts"):
        curated(serve(world), tmp_path / "out", "P1303")
    assert not (tmp_path / "out").exists()


def test_little_known_subjects_can_be_left_out_of_slices_too(
    serve: Serve, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    for number, links in ((1, 9), (2, 10), (3, 600)):
        world.claim(person(world, number), "P106", LIMA)
        world.links[f"Q{100 + number}"] = links
    source = serve(world)
    folder = curated(source, tmp_path / "whole", "P106", least_sitelinks=10)
    assert [line["sub_uri"] for line in lines(folder, "P106")] == ["Q102", "Q103"]
    source.forget()
    source.sparql.faults.extend([Fault(500, body="TimeoutException")] * 2)
    assert contents(curated(source, tmp_path / "sliced", "P106", least_sitelinks=10)) == contents(folder)
    lower, upper = source.sparql.requests[3], source.sparql.requests[2]
    assert "VALUES ?subject_sitelinks { 505 506 " in upper
    assert "VALUES ?subject_sitelinks { 10 11 " in lower


def test_by_the_stricter_rules_a_former_profession_is_an_answer_but_a_former_capital_is_not(
    serve: Serve, world: World, tmp_path: Path
) -> None:
    world.item(HAMAR, "Hamar")
    world.claim(NORWAY, "P36", HAMAR, end="1814-01-01")
    id = person(world, 1)
    world.claim(id, "P106", LIMA, rank="preferred")
    world.claim(id, "P106", HAMAR, end="1999-01-01")
    world.claim(id, "P106", PERU, rank="deprecated")
    folder = curated(serve(world), tmp_path / "out", "P36", "P106", stricter=True)
    assert lines(folder, "P36")[0]["obj_uri"] == [OSLO]
    assert lines(folder, "P106")[0]["obj_uri"] == [LIMA, HAMAR]


def test_historical_countries_are_answers_but_by_stricter_rules(serve: Serve, world: World, tmp_path: Path) -> None:
    world.item("Q700", "Old empire")
    world.claim("Q700", "P31", HISTORICAL)
    world.claim(person(world, 1), "P27", "Q700")
    source = serve(world)
    assert lines(curated(source, tmp_path / "paper", "P27"), "P27")[0]["obj_uri"] == [NORWAY, "Q700"]
    assert lines(curated(source, tmp_path / "strict", "P27", stricter=True), "P27")[0]["obj_uri"] == [NORWAY]


def test_triples_without_a_label_are_dropped_and_counted(serve: Serve, world: World, tmp_path: Path) -> None:
    world.item("Q800", "English only", languages="en")
    unnamed = person(world, 1, languages="en ko", size=900)
    half, whole = person(world, 2), person(world, 3)
    for id in (unnamed, half):
        world.claim(id, "P106", LIMA, "Q800")
    world.claim(whole, "P106", "Q800")
    folder = curated(serve(world), tmp_path / "out", "P106")
    assert [(line["sub_uri"], line["obj_uri"]) for line in lines(folder, "P106")] == [(half, [LIMA])]
    assert triples(folder, "P106") == {
        "found": 5,
        "added": 0,
        "dropped": {"the object has no label in es": 2, "the subject has no label in es": 2},
        "kept": 1,
        "subjects": 1,
        "objects_by_augmentation": 0,
        "ancestors_without_label": 0,
        "found_by_country": {NORWAY: 5, SWEDEN: 0},
    }


def test_unknown_objects_are_dropped_and_counted(serve: Serve, world: World, tmp_path: Path) -> None:
    """The first query for P19 asks only for places in the country, so that it does not return unknown places."""
    world.claim(person(world, 1), "P106", SOMETHING, LIMA)
    world.claim(person(world, 2), "P19", OSLO, LIMA, SOMETHING)
    folder = curated(serve(world), tmp_path / "out", "P106", "P19")
    assert lines(folder, "P106")[0]["obj_uri"] == [LIMA]
    assert triples(folder, "P106")["dropped"] == {"the object is unknown or not an item": 1}
    facts = triples(folder, "P19")
    assert (facts["found"], facts["added"], facts["kept"]) == (1, 2, 2)
    assert facts["dropped"] == {"the object is unknown or not an item": 1}


def test_the_best_known_subjects_are_kept(serve: Serve, world: World, tmp_path: Path) -> None:
    for number in range(5):
        world.claim(person(world, number, size=100 + number), "P106", LIMA, OSLO)
    folder = curated(serve(world), tmp_path / "out", "P106", at_most=2)
    assert [line["sub_uri"] for line in lines(folder, "P106")] == ["Q104", "Q103"]
    assert triples(folder, "P106")["dropped"] == {"beyond the first subjects": 6}


def test_superclasses_that_are_also_objects_are_added(serve: Serve, world: World, tmp_path: Path) -> None:
    world.claim("Q901", "P279", "Q902")
    world.claim("Q902", "P279", "Q903")
    world.claim("Q903", "P279", "Q904", "Q901")
    for id in ("Q901", "Q902", "Q903", "Q904"):
        world.item(id, f"Profession {id}")
    world.claim(person(world, 1), "P106", "Q901")
    world.claim(person(world, 2, country=PERU), "P106", "Q903")
    folder = curated(serve(world), tmp_path / "out", "P106")
    assert lines(folder, "P106")[0]["obj_uri"] == ["Q901", "Q903"]
    assert lines(folder, "P106", kind="dlama_raw")[0]["obj_uri"] == ["Q901"]
    assert lines(folder, "P106", "SOUTH")[0]["obj_uri"] == ["Q901", "Q903"]


def test_territories_up_to_the_state_are_added_to_places_of_birth_and_those_without_a_label_counted(
    serve: Serve, world: World, tmp_path: Path
) -> None:
    world.item("Q950", "Innlandet")
    world.item("Q952", "Ringsaker", languages="en")
    world.item(HAMAR, "Hamar")
    world.item("Q951", "Kingdom without end")
    world.claim(HAMAR, "P131", "Q950", "Q952")
    world.claim(HAMAR, "P17", NORWAY)
    world.claim("Q950", "P131", NORWAY)
    world.claim("Q952", "P131", NORWAY)
    world.claim(NORWAY, "P131", "Q951")
    for number in range(2):
        world.claim(person(world, number), "P19", HAMAR)
    folder = curated(serve(world), tmp_path / "out", "P19")
    assert lines(folder, "P19")[0]["obj_label"] == ["Norway", "Hamar", "Innlandet"]
    assert triples(folder, "P19") == {
        **{"found": 2, "added": 0, "dropped": {}, "kept": 2, "subjects": 2},
        **{"objects_by_augmentation": 4, "ancestors_without_label": 2, "found_by_country": {NORWAY: 2, SWEDEN: 0}},
    }


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


def test_a_finished_curation_is_repeated_without_a_request(
    serve: Serve, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest names the same times although every look at the clock gives a later second."""
    seconds = itertools.count()
    monkeypatch.setattr(response_times, "utcnow", lambda: datetime.fromtimestamp(next(seconds), UTC))
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
        ({"pairs": (PAIR, PAIR)}, "Each needs a name"),
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
    """These are the queries that --dry-run prints."""
    endpoint: Endpoint = serve(world).endpoint()
    for query in queries(CulturePlan((PAIR,))):
        assert isinstance(endpoint.rows(query), list)
        assert query.text.startswith("# ")


def with_few_countries(pair: CulturePair) -> CulturePair:
    """Return the pair with the first three countries of each culture, each of which is asked about in the same way."""
    few = (replace(culture, sites=dict(itertools.islice(culture.sites.items(), 3))) for culture in pair.cultures)
    return replace(pair, cultures=tuple(few))


@pytest.mark.slow
def test_all_three_pairs_have_all_predicates_and_are_the_same_byte_for_byte(
    made_alike: MadeAlike, serve: Serve, tmp_path: Path
) -> None:
    pairs = tuple(with_few_countries(known_pair(name)) for name in ("arab-west", "asia-west", "south-america-west"))
    source = serve(whole_world())
    few = ("P36", "P19", "P106")  # of a country, of a place in it, and with superclasses
    assert made_alike(source, lambda wikidata, folder: curated(wikidata, folder, *few, pairs=pairs[:1]))
    benchmark = FORMATS["dlama"](curated(source, tmp_path / "whole", pairs=pairs))
    assert len(benchmark.relations) == 20 * 3 * 2 * 2
    native = next(relation for relation in benchmark.relations if relation.id == "P103.arab-west.en")
    assert len(native.items) == (3 + 3) * 2  # of four persons, one has no article and one no Arabic label
    official = next(relation for relation in benchmark.relations if relation.id == "P37.asia-west.ko")
    assert set(official.answer_ids).isdisjoint({LANGUAGES, Places(0).language})
