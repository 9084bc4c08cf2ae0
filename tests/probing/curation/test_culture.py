"""Culture facts: the five steps, the count of every triple, resumption, and what our reader makes of the files."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from probing.curation.articles import Articles
from probing.curation.culture import Plan, curate, queries
from probing.curation.cultures import Culture, Pair, own_pair, pair
from probing.curation.endpoint import Endpoint
from probing.curation.predicates import HISTORICAL, PREDICATES, SOVEREIGN
from probing.curation.triple_counts import MANIFEST
from probing.errors import BadInput, SourceUnavailable
from probing.formats import FORMATS, format_of
from tests.probing.curation.conftest import MadeAlike, Source, contents
from tests.probing.curation.countries_world import LANGUAGES, Places, whole_world
from tests.probing.curation.servers import Fault
from tests.probing.curation.world import SOMETHING, World

Serve = Callable[[World], Source]
NORWAY, SWEDEN, PERU, LIMA, OSLO, HAMAR, SPANISH, NORSE = "Q20", "Q34", "Q419", "Q2868", "Q585", "Q59076", "Q1321", "Q9"
PAIR = Pair(
    "north-south",
    (
        Culture("North", "NORTH", {NORWAY: ("no", "en"), SWEDEN: ("sv", "en")}),
        Culture("South", "SOUTH", {PERU: ("es", "en")}),
    ),
    ("es", "en"),
)


@pytest.fixture
def world() -> World:
    """Three countries with their capitals, and a few people."""
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
    plan = Plan(options.pop("pairs", (PAIR,)), predicates or tuple(PREDICATES), **options)
    curate(source.endpoint(), source.articles(), plan, folder)
    return folder


def lines(folder: Path, predicate: str, region: str = "NORTH", language: str = "en", kind: str = "dlama") -> list[Any]:
    path = folder / "north-south" / kind / language / f"{predicate}_general_{region}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def triples(folder: Path, predicate: str, region: str = "NORTH") -> Any:
    return json.loads((folder / MANIFEST).read_text())["triples"]["north-south"][predicate][region]


def test_it_writes_dlamas_layout(serve: Serve, world: World, tmp_path: Path) -> None:
    folder = curated(serve(world), tmp_path / "out", "P36")
    assert lines(folder, "P36", language="es") == [
        {
            "sub_uri": NORWAY,
            "obj_uri": [OSLO],
            "sub_label": "Norway (es)",
            "obj_label": ["Capital of Norway (es)"],
            "country": [NORWAY],
            "size": 100,
            "uuid": "P36_general_NORTH_0",
            "culture": "North",
        },
        {
            "sub_uri": SWEDEN,
            "obj_uri": ["Q1754"],
            "sub_label": "Sweden (es)",
            "obj_label": ["Capital of Sweden (es)"],
            "country": [SWEDEN],
            "size": 100,
            "uuid": "P36_general_NORTH_1",
            "culture": "North",
        },
    ]
    assert [line["sub_label"] for line in lines(folder, "P36", "SOUTH")] == ["Peru"]


def test_subjects_are_sorted_by_their_longest_article(serve: Serve, world: World, tmp_path: Path) -> None:
    for number, size in ((1, 500), (2, 90), (3, 300), (4, 300)):
        world.claim(person(world, number, size=size), "P106", LIMA)
    world.article("Q102", "no", "Person to", 9000)
    folder = curated(serve(world), tmp_path / "out", "P106")
    assert [(line["sub_uri"], line["size"]) for line in lines(folder, "P106")] == [
        ("Q102", 9000),
        ("Q101", 500),
        ("Q103", 300),
        ("Q104", 300),
    ]


def test_articles_on_other_sites_do_not_count(serve: Serve, world: World, tmp_path: Path) -> None:
    id = person(world, 1, size=0)
    world.claim(id, "P106", LIMA)
    world.article(id, "fr", "Personne", 9000)
    world.claim(person(world, 2, country=PERU), "P106", LIMA)
    folder = curated(serve(world), tmp_path / "out", "P106")
    assert not (folder / "north-south" / "dlama" / "en" / "P106_general_NORTH.jsonl").exists()
    assert triples(folder, "P106")["dropped"] == {"the subject has no article on the sites": 1}


def test_edits_are_another_key(serve: Serve, world: World, tmp_path: Path) -> None:
    for number, size in ((1, 97 * 5 + 1), (2, 97 + 30)):
        world.claim(person(world, number, size=size), "P106", LIMA)
    folder = curated(serve(world), tmp_path / "out", "P106", sort="edits")
    assert [(line["sub_uri"], line["size"]) for line in lines(folder, "P106")] == [("Q102", 30), ("Q101", 1)]


def test_a_moved_article_has_the_size_of_where_it_went(serve: Serve, world: World, tmp_path: Path) -> None:
    id = person(world, 1, size=0)
    world.claim(id, "P106", LIMA)
    world.article(id, "en", "Old", 1)
    world.redirects["en", "Old"] = "New"
    world.sizes["en", "New"] = 77
    assert lines(curated(serve(world), tmp_path / "out", "P106"), "P106")[0]["size"] == 77


def test_all_objects_of_a_kept_subject_count_wherever_they_lie(serve: Serve, world: World, tmp_path: Path) -> None:
    world.claim(person(world, 1), "P27", PERU)
    folder = curated(serve(world), tmp_path / "out", "P27")
    assert lines(folder, "P27")[0]["obj_uri"] == [NORWAY, PERU]
    assert lines(folder, "P27")[0]["country"] == [NORWAY]
    assert triples(folder, "P27")["added"] == 1


def test_a_subject_of_two_countries_of_a_culture_is_one_fact(serve: Serve, world: World, tmp_path: Path) -> None:
    world.claim(person(world, 1), "P27", SWEDEN)
    assert [line["country"] for line in lines(curated(serve(world), tmp_path / "out", "P27"), "P27")] == [
        [NORWAY, SWEDEN]
    ]


def test_a_place_of_birth_must_lie_in_the_country_and_be_none(serve: Serve, world: World, tmp_path: Path) -> None:
    world.claim(person(world, 1), "P19", OSLO)
    world.claim(person(world, 2), "P19", LIMA)
    world.claim(person(world, 3), "P19", NORWAY)
    world.claim(person(world, 4, country=PERU), "P19", OSLO)
    world.claim(person(world, 5, country=PERU), "P19", LIMA)
    folder = curated(serve(world), tmp_path / "out", "P19")
    assert [line["sub_uri"] for line in lines(folder, "P19")] == ["Q101"]
    assert [line["sub_uri"] for line in lines(folder, "P19", "SOUTH")] == ["Q105"]


def test_a_country_of_two_ids_is_one(serve: Serve, world: World, tmp_path: Path) -> None:
    """A citizen of the realm, born in a city that lies in the country."""
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


def test_countries_of_which_nothing_was_found_are_told(serve: Serve, world: World, tmp_path: Path) -> None:
    source, plan = serve(world), Plan((PAIR,), ("P36", "P106"))
    assert curate(source.endpoint(), source.articles(), plan, tmp_path / "all") == {}
    plan = Plan((replace(PAIR, cultures=(Culture("North", "NORTH", {NORWAY: ("en",), "Q9999": ("en",)}),)),), ("P36",))
    assert curate(source.endpoint(), source.articles(), plan, tmp_path / "some") == {"NORTH": ["Q9999"]}


def test_a_benchmark_without_facts_is_none(serve: Serve, world: World, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such facts"):
        curated(serve(world), tmp_path / "out", "P1303")
    assert not (tmp_path / "out").exists()


def test_little_known_subjects_can_be_left_out(serve: Serve, world: World, tmp_path: Path) -> None:
    for number, links in ((1, 9), (2, 10)):
        world.claim(person(world, number), "P106", "Q901")
        world.links[f"Q{100 + number}"] = links
    world.item("Q901", "painter")
    folder = curated(serve(world), tmp_path / "out", "P106", least=10)
    assert [line["sub_uri"] for line in lines(folder, "P106")] == ["Q102"]


def test_little_known_subjects_are_left_out_of_slices_too(
    serve: Serve, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    for number, links in ((1, 9), (2, 10), (3, 600)):
        world.claim(person(world, number), "P106", LIMA)
        world.links[f"Q{100 + number}"] = links
    source = serve(world)
    whole = contents(curated(source, tmp_path / "whole", "P106", least=10))
    source.forget()
    source.sparql.faults.extend([Fault(500, body="TimeoutException")] * 2)
    assert contents(curated(source, tmp_path / "sliced", "P106", least=10)) == whole
    lower, upper = source.sparql.asked[3], source.sparql.asked[2]
    assert "VALUES ?subject_sitelinks { 505 506 " in upper
    assert "VALUES ?subject_sitelinks { 10 11 " in lower


def test_a_former_capital_is_no_answer_but_a_former_profession_is(serve: Serve, world: World, tmp_path: Path) -> None:
    world.item(HAMAR, "Hamar")
    world.claim(NORWAY, "P36", HAMAR, end="1814-01-01")
    id = person(world, 1)
    world.claim(id, "P106", LIMA, rank="preferred")
    world.claim(id, "P106", HAMAR, end="1999-01-01")
    world.claim(id, "P106", PERU, rank="deprecated")
    folder = curated(serve(world), tmp_path / "out", "P36", "P106")
    assert lines(folder, "P36")[0]["obj_uri"] == [OSLO]
    assert lines(folder, "P106")[0]["obj_uri"] == [LIMA, HAMAR]


def test_historical_countries_are_no_answers(serve: Serve, world: World, tmp_path: Path) -> None:
    world.item("Q700", "Old empire")
    world.claim("Q700", "P31", HISTORICAL)
    world.claim(person(world, 1), "P27", "Q700")
    assert lines(curated(serve(world), tmp_path / "out", "P27"), "P27")[0]["obj_uri"] == [NORWAY]


def test_triples_without_a_label_in_a_language_are_dropped_and_counted(
    serve: Serve, world: World, tmp_path: Path
) -> None:
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
    world.claim(person(world, 1), "P106", SOMETHING, LIMA)
    folder = curated(serve(world), tmp_path / "out", "P106")
    assert lines(folder, "P106")[0]["obj_uri"] == [LIMA]
    assert triples(folder, "P106")["dropped"] == {"the object is unknown or no item": 1}


def test_objects_that_are_unknown_where_all_were_asked_for_are_added_and_dropped(
    serve: Serve, world: World, tmp_path: Path
) -> None:
    """The first query for P19 asks for places in the country only, and so not for unknown ones."""
    world.claim(person(world, 1), "P19", OSLO, LIMA, SOMETHING)
    told = triples(curated(serve(world), tmp_path / "out", "P19"), "P19")
    assert (told["found"], told["added"], told["kept"]) == (1, 2, 2)
    assert told["dropped"] == {"the object is unknown or no item": 1}


def test_the_best_known_subjects_are_kept(serve: Serve, world: World, tmp_path: Path) -> None:
    for number in range(5):
        world.claim(person(world, number, size=100 + number), "P106", LIMA, OSLO)
    folder = curated(serve(world), tmp_path / "out", "P106", at_most=2)
    assert [line["sub_uri"] for line in lines(folder, "P106")] == ["Q104", "Q103"]
    assert triples(folder, "P106")["dropped"] == {"beyond the first subjects": 6}


def test_superclasses_that_are_objects_are_added(serve: Serve, world: World, tmp_path: Path) -> None:
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


def test_territories_up_to_the_state_are_added_to_places_of_birth(serve: Serve, world: World, tmp_path: Path) -> None:
    world.item("Q950", "Innlandet")
    world.item(HAMAR, "Hamar")
    world.item("Q951", "Kingdom without end")
    world.claim(HAMAR, "P131", "Q950")
    world.claim(HAMAR, "P17", NORWAY)
    world.claim("Q950", "P131", NORWAY)
    world.claim(NORWAY, "P131", "Q951")
    world.claim(person(world, 1), "P19", HAMAR)
    folder = curated(serve(world), tmp_path / "out", "P19")
    assert lines(folder, "P19")[0]["obj_label"] == ["Norway", "Hamar", "Innlandet"]
    assert triples(folder, "P19")["objects_by_augmentation"] == 2


def test_territories_without_a_label_are_counted(serve: Serve, world: World, tmp_path: Path) -> None:
    world.item("Q950", "Innlandet", languages="en")
    world.item(HAMAR, "Hamar")
    world.claim(HAMAR, "P131", "Q950")
    world.claim(HAMAR, "P17", NORWAY)
    world.claim("Q950", "P131", NORWAY)
    for number in range(2):
        world.claim(person(world, number), "P19", HAMAR)
    folder = curated(serve(world), tmp_path / "out", "P19")
    assert lines(folder, "P19")[0]["obj_label"] == ["Norway", "Hamar"]
    assert triples(folder, "P19") == {
        "found": 2,
        "added": 0,
        "dropped": {},
        "kept": 2,
        "subjects": 2,
        "objects_by_augmentation": 2,
        "ancestors_without_label": 2,
        "found_by_country": {NORWAY: 2, SWEDEN: 0},
    }


def test_an_interruption_anywhere_loses_nothing(
    serve: Serve, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever request fails, the same call afterwards gives the same files and repeats no answered query."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    for number in range(3):
        world.claim(person(world, number), "P19", OSLO)
    source = serve(world)
    whole = contents(curated(source, tmp_path / "whole", "P36", "P19"))
    all_asked = len(source.sparql.asked), len(source.wikipedia.asked)
    for server, count in ((source.sparql, all_asked[0]), (source.wikipedia, all_asked[1])):
        for good in range(count):
            source.forget()
            server.faults.extend([Fault()] * good + [Fault(503)] * 4)
            with pytest.raises(SourceUnavailable):
                curated(source, tmp_path / "interrupted", "P36", "P19")
            assert not (tmp_path / "interrupted").exists()
            again = contents(curated(source, tmp_path / f"{server.server_port}-{good}", "P36", "P19"))
            assert again == whole
            assert (len(source.sparql.asked), len(source.wikipedia.asked)) == (
                all_asked[0] + 4 * (server is source.sparql),
                all_asked[1] + 4 * (server is source.wikipedia),
            )


def test_a_finished_curation_is_repeated_without_a_question(serve: Serve, world: World, tmp_path: Path) -> None:
    source = serve(world)
    first = contents(curated(source, tmp_path / "first", "P36"))
    source.sparql.asked.clear()
    source.wikipedia.asked.clear()
    assert contents(curated(source, tmp_path / "second", "P36")) == first
    assert source.sparql.asked == source.wikipedia.asked == []


def test_the_manifest_tells_how_it_was_made(serve: Serve, world: World, tmp_path: Path) -> None:
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
    assert sum(query["times"] for query in manifest["queries"]) == len(source.sparql.asked)


def test_our_reader_reads_it(serve: Serve, world: World, tmp_path: Path) -> None:
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
        Plan((PAIR,), ("P36", "P37"), templates=tmp_path / "own")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"predicates": ("P1",)}, "No predicate P1"),
        ({"at_most": 0}, "Give 1 or more"),
        ({"pairs": (PAIR, PAIR)}, "Each needs a --name"),
        ({"pairs": (replace(PAIR, name="templates"),)}, "not templates"),
    ],
)
def test_a_bad_plan_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Plan(**({"pairs": (PAIR,)} | given))


def test_languages_without_templates_are_refused() -> None:
    with pytest.raises(BadInput, match=r"no template for P17.*'fr'.*--templates"):
        Plan((own_pair("new", ["arab", "west"], ["en", "fr"]),))


def test_the_twenty_predicates_have_templates_in_the_pairs_languages() -> None:
    plan = Plan((pair("arab-west"), pair("asia-west"), pair("south-america-west")))
    assert len(plan.predicates) == 20
    assert plan.languages == ["ar", "en", "es", "ko"]


def test_every_query_is_answered_by_a_real_engine(serve: Serve, world: World) -> None:
    """What --print-query shows can be pasted elsewhere."""
    endpoint: Endpoint = serve(world).endpoint()
    for query in queries(Plan((PAIR,))):
        assert isinstance(endpoint.rows(query), list)
        assert query.text.startswith("# ")


def test_the_sites_address_must_name_the_site(serve: Serve, world: World) -> None:
    with pytest.raises(BadInput, match=r"no \{site\}"):
        Articles(serve(world).answers(), "http://localhost")


@pytest.mark.slow
def test_all_three_pairs_are_made_alike_byte_for_byte(made_alike: MadeAlike, serve: Serve, tmp_path: Path) -> None:
    pairs = tuple(map(pair, ("arab-west", "asia-west", "south-america-west")))
    assert made_alike(serve(whole_world()), partial(curated, pairs=pairs))
    benchmark = FORMATS["dlama"](tmp_path / "first")
    assert len(benchmark.relations) == 20 * 3 * 2 * 2
    native = next(relation for relation in benchmark.relations if relation.id == "P103.arab-west.en")
    assert len(native.items) == (22 + 20) * 2  # of four persons, one has no article and one no Arabic label
    official = next(relation for relation in benchmark.relations if relation.id == "P37.asia-west.ko")
    assert set(official.answer_ids).isdisjoint({LANGUAGES, Places(0).language})
