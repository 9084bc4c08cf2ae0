"""Geography facts: best-known places, current values, counts of triples, and the report on their sentences."""

import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from probing.curation.geography_facts import PLACE_KINDS, REPORT, GeographyPlan, Worded, curate, queries, report
from probing.errors import BadInput
from probing.formats import FORMATS, format_of
from probing.formats.canary import MANIFEST
from probing.formats.geography import ALIASES
from probing.statements.geography_sentences import FACT_TYPES, sentences
from tests.probing.curation.conftest import MadeAlike, Serve, Source
from tests.probing.curation.world import SOMETHING, World

FRANCE, SPAIN, ITALY = "Q142", "Q29", "Q38"


@pytest.fixture
def world() -> World:
    """Three countries, and two mountain ranges of which one is of a subclass."""
    world = World()
    for id, name, links in ((FRANCE, "France", 300), (SPAIN, "Spain", 310), (ITALY, "Italy", 305)):
        world.item(id, name, links=links)
    world.claim("Q900", "P279", PLACE_KINDS["mountain range"][0])
    place(world, "Q1", "Pyrenees", "mountain range", 90)
    place(world, "Q2", "Jura Mountains", "Q900", 60)
    world.claim("Q1", "P17", FRANCE, SPAIN)
    world.claim("Q2", "P17", FRANCE)
    return world


def place(world: World, id: str, name: str, kind: str, links: int = 10) -> str:
    world.item(id, name, links=links)
    world.claim(id, "P31", PLACE_KINDS[kind][0] if kind in PLACE_KINDS else kind)
    return id


def curated(source: Source, folder: Path, *fact_types: str, **options: Any) -> Path:
    curate(source.endpoint(), GeographyPlan(fact_types or ("range_countries",), **options), folder)
    return folder


def lines(folder: Path) -> list[tuple[str, str, list[str]]]:
    rows = [json.loads(line) for line in (folder / "triples.jsonl").read_text().splitlines()]
    return [(line["fact_type"], line["subject"], line["objects"]) for line in rows]


def triples(folder: Path, fact_type: str = "range_countries") -> Any:
    return json.loads((folder / MANIFEST).read_text())["triples"][fact_type]


def test_there_are_eighteen_kinds_and_each_fact_type_has_one() -> None:
    assert len(PLACE_KINDS) == 18
    assert {fact_type.kind for fact_type in FACT_TYPES.values()} <= set(PLACE_KINDS)


def test_places_and_objects_come_best_known_first(serve: Serve, world: World, tmp_path: Path) -> None:
    assert lines(curated(serve(world), tmp_path / "out")) == [
        ("range_countries", "Pyrenees", ["Spain", "France"]),
        ("range_countries", "Jura Mountains", ["France"]),
    ]


def test_only_the_top_places_are_kept(serve: Serve, world: World, tmp_path: Path) -> None:
    assert len(lines(curated(serve(world), tmp_path / "out", top=1))) == 1


def test_former_and_deprecated_values_do_not_count(serve: Serve, world: World, tmp_path: Path) -> None:
    world.claim("Q2", "P17", SPAIN, end="1500-01-01")
    world.claim("Q1", "P17", ITALY, rank="deprecated")
    assert [objects for _, _, objects in lines(curated(serve(world), tmp_path / "out"))] == [
        ["Spain", "France"],
        ["France"],
    ]


def test_places_without_a_usable_object_are_left_out(serve: Serve, world: World, tmp_path: Path) -> None:
    place(world, "Q3", "Unplaced Hills", "mountain range")
    world.claim(place(world, "Q4", "Nameless Hills", "mountain range"), "P17", "Q800")
    world.item("Q800", "", links=1)
    folder = curated(serve(world), tmp_path / "out")
    assert [name for _, name, _ in lines(folder)] == ["Pyrenees", "Jura Mountains"]
    assert triples(folder)["dropped"] == {"the object has no usable English label": 1}


def test_every_triple_is_either_kept_or_dropped_for_a_reason(serve: Serve, world: World, tmp_path: Path) -> None:
    world.item("Q3", "", links=80)
    world.claim("Q3", "P31", PLACE_KINDS["mountain range"][0])
    world.claim("Q3", "P17", FRANCE)
    place(world, "Q4", "Pyrenees", "mountain range", 20)
    world.claim("Q4", "P17", SPAIN)
    world.item("Q800", "Spain", links=1)
    world.item("Q801", "[Y]", links=1)
    world.claim("Q2", "P17", SPAIN, "Q800", "Q801", SOMETHING)
    assert triples(curated(serve(world), tmp_path / "out")) == {
        "found": 9,
        "added": 0,
        "dropped": {
            "a better known subject has the same name": 1,
            "another object has the same name": 1,
            "the object has no usable English label": 1,
            "the object is unknown or not an item": 1,
            "the subject has no usable English label": 1,
        },
        "kept": 4,
        "places": 4,
        "subjects": 2,
    }


def test_the_reader_of_the_format_makes_sentences(serve: Serve, world: World, tmp_path: Path) -> None:
    place(world, "Q90", "Paris", "city", 200)
    world.claim("Q90", "P17", FRANCE)
    folder = curated(serve(world), tmp_path / "out", "range_countries", "city_country")
    benchmark = FORMATS[format_of(folder)](folder)
    wordings = [item.wording for relation in benchmark.relations for item in relation.items]
    assert "Paris is a city located in [Y]." in wordings
    assert "The Jura Mountains pass through [Y]." in wordings


def test_the_report_counts_and_lists_what_a_person_should_read(serve: Serve, world: World, tmp_path: Path) -> None:
    place(world, "Q5", "Alps of Italy", "mountain range", 30)
    place(world, "Q6", "Blue Lagoons", "natural reserve", 20)
    world.claim("Q5", "P17", ITALY)
    world.claim("Q6", "P17", SPAIN)
    folder = curated(serve(world), tmp_path / "out", "range_countries", "reserve_country")
    report = json.loads((folder / REPORT).read_text())
    assert report["counts"] == {
        "range_countries": {"sentences": 6, "leaky": 1},
        "reserve_country": {"sentences": 1, "number_in_doubt": 1},
    }
    assert report["flagged"]["leaky"][0]["answer"] == "Italy"
    assert report["flagged"]["number_in_doubt"][0]["text"] == "The Blue Lagoons is located in [Y]."


def test_other_names_of_places_are_written_and_count_at_the_blank(serve: Serve, world: World, tmp_path: Path) -> None:
    world.aliases += [(FRANCE, "en", 'La "France"'), (FRANCE, "es", "Francia"), (SPAIN, "en", "España")]
    world.aliases += [(SPAIN, "en", "Spain"), ("Q2", "en", "Jura"), (ITALY, "en", "Italia")]
    folder = curated(serve(world), tmp_path / "out", aliases=True)
    assert tomllib.loads((folder / ALIASES).read_text(encoding="utf-8")) == {
        "Jura Mountains": ["Jura"],
        "Spain": ["España"],
        "France": ['La "France"'],
    }
    (relation,) = FORMATS["geography"](folder).relations
    answers = {item.subject: [relation.answer_space[answer] for answer in item.answers] for item in relation.items}
    assert answers["Jura Mountains"] == ["France", 'La "France"']


def test_the_same_answers_give_the_same_bytes(made_alike: MadeAlike, serve: Serve, world: World) -> None:
    assert made_alike(serve(world), curated)


def test_every_printed_query_is_answered_by_a_real_engine(serve: Serve, world: World) -> None:
    endpoint = serve(world).endpoint()
    assert len([endpoint.rows(query) for query in queries(GeographyPlan(aliases=True))]) == 17 + 6 + 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fact_types": ("moon",)}, "No fact type moon"),
        ({"top": 0}, "Give 1 to 5000"),
        ({"fact_types": ("dam_country",)}, "has no such places"),
    ],
)
def test_a_bad_plan_is_refused(
    serve: Serve, world: World, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        curate(serve(world).endpoint(), GeographyPlan(**options), tmp_path / "out")


class Strict:
    """A judge that accepts sentences about Chile and records what it reads."""

    about = "strict"

    def __init__(self) -> None:
        self.read: list[str] = []

    def acceptability(self, texts: Sequence[str]) -> Iterator[float]:
        self.read.extend(texts)
        return (0.912345 if "Chile" in text else 0.2 for text in texts)


@pytest.fixture
def worded() -> list[Worded]:
    facts = [("canyon_country", "Colca", ("Peru",)), ("canyon_country", "Elqui", ("Chile", "Peru"))]
    return [(key, sentence) for key, *names in facts for sentence in sentences(FACT_TYPES[key], *names)]


def test_a_judge_reads_each_sentence_with_its_answer_and_the_report_has_its_verdicts(worded: list[Worded]) -> None:
    judge = Strict()
    content = report(worded, judge)
    spread = "The Elqui canyon is spread over countries namely Chile and Peru."
    assert judge.read == ["The Colca canyon is located in Peru.", spread, spread]
    ids = [sentence.id for _, sentence in worded]
    assert content["acceptability"]["sentences"] == dict(zip(ids, [0.2, 0.9123, 0.9123], strict=True))
    assert content["acceptability"]["acceptable"] == {"canyon_country": {"all": 0.6667, "single": 0.0, "0": 1.0}}
    assert content["counts"]["canyon_country"] == {"sentences": 3, "unacceptable": 1}
    assert [line["text"] for line in content["flagged"]["unacceptable"]] == ["The Colca canyon is located in [Y]."]


def test_repetitive_and_long_sentences_are_flagged(worded: list[Worded]) -> None:
    (key, sentence), *_ = worded
    flagged = replace(sentence, repeated=True, long=True)
    assert report([(key, flagged)])["counts"][key] == {"sentences": 1, "repeats_a_word": 1, "long": 1}


def test_without_a_judge_the_report_has_no_acceptability(worded: list[Worded]) -> None:
    assert report(worded) == {"counts": {"canyon_country": {"sentences": 3}}, "flagged": {}}
