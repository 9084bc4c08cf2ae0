"""Tests of multiple choice: one right answer, balanced answers, names that do not overlap, reader of the format."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from probing.curation.choice_questions import MultipleChoicePlan, curate, queries
from probing.errors import BadInput
from probing.formats import FORMATS, format_of
from probing.formats.bear import MULTIPLE, SINGLE
from probing.formats.canary import MANIFEST
from tests.probing.curation.conftest import MadeAlike, Serve, Source
from tests.probing.curation.world import SOMETHING, World

RIVERS = {"Nile": ("Q15", 5), "Congo": ("Q15", 9), "Amazon": ("Q18", 8), "Plate": ("Q18", 7), "Rhine": ("Q46", 6)}
CONTINENTS = {"Q15": "Africa", "Q18": "South America", "Q46": "Europe"}


@pytest.fixture
def world() -> World:
    """Rivers and their continents (P30); two of Africa, two of South America, one of Europe."""
    world = World()
    for id, name in CONTINENTS.items():
        world.item(id, name, links=100)
    for number, (name, (continent, links)) in enumerate(RIVERS.items()):
        world.item(f"Q{1000 + number}", name, links=links)
        world.claim(f"Q{1000 + number}", "P30", continent)
    return world


def river(world: World, number: int, name: str, *continents: str, links: int = 50) -> str:
    id = world.item(f"Q{2000 + number}", name, links=links)
    world.claim(id, "P30", *continents)
    return id


def curated(source: Source, folder: Path, *properties: str, **options: Any) -> Path:
    curate(source.endpoint(), MultipleChoicePlan(properties or ("P30",), **({"least_sitelinks": 2} | options)), folder)
    return folder


def lines(folder: Path, property: str = "P30") -> list[tuple[str, str]]:
    rows = [json.loads(line) for line in (folder / f"{property}.jsonl").read_text().splitlines()]
    return [(line["sub_label"], line["obj_label"]) for line in rows]


def dropped(folder: Path, property: str = "P30") -> Any:
    return json.loads((folder / MANIFEST).read_text())["triples"][property]["dropped"]


def test_every_answer_is_right_equally_often_and_the_reader_of_the_format_reads_it(
    serve: Serve, world: World, tmp_path: Path
) -> None:
    folder = curated(serve(world), tmp_path / "out")
    assert Counter(answer for _, answer in lines(folder)) == {"Africa": 2, "South America": 2}
    assert dropped(folder) == {"the answer has too few subjects": 1}
    (relation,) = FORMATS[format_of(folder)](folder).relations
    assert relation.answer_space == ("Africa", "South America")
    assert relation.answer_ids == ("Q15", "Q18")
    answers = [relation.answer_space[item.answers[0]] for item in relation.items]
    assert answers == [answer for _, answer in lines(folder)]
    assert relation.tags == {"cardinality": MULTIPLE, "domain": ("Geographic",)}


def test_the_best_known_subjects_are_kept_and_answers_take_turns(serve: Serve, world: World, tmp_path: Path) -> None:
    river(world, 1, "Niger", "Q15", links=7)
    folder = curated(serve(world), tmp_path / "out")
    rivers = [("Congo", "Africa"), ("Amazon", "South America"), ("Niger", "Africa"), ("Plate", "South America")]
    assert lines(folder) == rivers
    assert dropped(folder) == {"beyond the items of an answer": 1, "the answer has too few subjects": 1}


def test_subjects_with_too_few_sitelinks_are_left_out(serve: Serve, world: World, tmp_path: Path) -> None:
    folder = curated(serve(world), tmp_path / "out", least_sitelinks=6, per_answer=1)
    assert [name for name, _ in lines(folder)] == ["Congo", "Amazon", "Rhine"]


def test_a_subject_with_two_answers_even_unknown_ones_is_left_out(serve: Serve, world: World, tmp_path: Path) -> None:
    river(world, 1, "Bosporus", "Q15", "Q46")
    river(world, 2, "Jordan", "Q15", SOMETHING)
    river(world, 3, "Styx", SOMETHING)
    folder = curated(serve(world), tmp_path / "out")
    assert {"Bosporus", "Jordan", "Styx"}.isdisjoint(dict(lines(folder)))
    assert dropped(folder)["the subject has several answers"] == 3
    assert dropped(folder)["the object is unknown or not an item"] == 2


def test_a_former_answer_counts_as_a_second_one_but_a_deprecated_one_does_not(
    serve: Serve, world: World, tmp_path: Path
) -> None:
    former, mistaken = river(world, 1, "Former", "Q15"), river(world, 2, "Mistaken", "Q15")
    world.claim(former, "P30", "Q46", end="1900-01-01")
    world.claim(mistaken, "P30", "Q46", rank="deprecated")
    names = dict(lines(curated(serve(world), tmp_path / "out")))
    assert "Former" not in names
    assert names["Mistaken"] == "Africa"


@pytest.mark.parametrize("name", ["River of Africa", "south america", "A"])
def test_a_name_that_contains_the_other_is_dropped(serve: Serve, world: World, tmp_path: Path, name: str) -> None:
    river(world, 1, name, "Q18" if "south" in name else "Q15")
    folder = curated(serve(world), tmp_path / "out")
    assert name not in dict(lines(folder))
    assert dropped(folder)["one name contains the other"] == 1


def test_names_occur_once(serve: Serve, world: World, tmp_path: Path) -> None:
    river(world, 1, "NILE", "Q46")
    world.item("Q5000", "africa", links=1)
    river(world, 2, "Lost", "Q5000")
    world.item("Q5001", "", links=1)
    river(world, 3, "Nameless", "Q5001")
    folder = curated(serve(world), tmp_path / "out")
    assert dropped(folder) == {
        "a better known subject has the same name": 1,
        "another answer has the same name": 1,
        "the answer has too few subjects": 1,
        "the subject or the answer has no label": 1,
    }
    assert dict(lines(folder))["NILE"] == "Europe"


def test_an_answer_that_contains_another_is_not_an_option(serve: Serve, world: World, tmp_path: Path) -> None:
    world.item("Q2", "Earth", links=300)
    for continent in CONTINENTS:
        world.claim(continent, "P131", "Q2")
    for number in range(3):
        river(world, number, f"Stream {number}", "Q2")
    folder = curated(serve(world), tmp_path / "out")
    assert dropped(folder)["the answer contains another answer"] == 3
    assert "Earth" not in dict(lines(folder)).values()


def test_a_large_answer_space_is_cut_to_the_best_known(serve: Serve, world: World, tmp_path: Path) -> None:
    folder = curated(serve(world), tmp_path / "out", answers=2, per_answer=1)
    assert lines(folder) == [("Congo", "Africa"), ("Amazon", "South America")]
    assert dropped(folder)["beyond the answer space"] == 1


def test_cardinality_domains_and_templates_are_filled_in(serve: Serve, world: World, tmp_path: Path) -> None:
    world.item("P4661", "shore")
    for number, continent in enumerate(CONTINENTS):
        id = world.item(f"Q{3000 + number}", f"Shore {number}", links=9)
        world.claim(id, "P4661", continent)
    templates = {"P30": ("[X] flows in [Y].", "[Y] has the river [X].")}
    options = {"templates": templates, "domains": {"P4661": ["Natural"]}}
    folder = curated(serve(world), tmp_path / "out", "P30", "P4661", **options)
    metadata = json.loads((folder / "metadata_relations.json").read_text())
    assert metadata["P30"]["templates"] == ["[X] flows in [Y].", "[Y] has the river [X]."]
    assert metadata["P4661"]["templates"] == ["The shore of [X] is [Y]."]
    assert (metadata["P30"]["cardinality"], metadata["P4661"]["cardinality"]) == (MULTIPLE, SINGLE)
    domains = json.loads((folder / "relation_info.json").read_text())
    assert domains == {"P30": {"domains": ["Geographic"]}, "P4661": {"domains": ["Natural"]}}


def test_the_same_answers_give_the_same_bytes(made_alike: MadeAlike, serve: Serve, world: World) -> None:
    assert made_alike(serve(world), curated)


def test_every_printed_query_is_answered_by_a_real_engine(serve: Serve, world: World) -> None:
    endpoint = serve(world).endpoint()
    printed = list(queries(MultipleChoicePlan(("P30",), least_sitelinks=2)))
    assert endpoint.rows(printed[0])
    assert ["P279" in query.text or "P131" in query.text for query in printed] == [False, True, True]
    assert all(isinstance(endpoint.rows(query), list) for query in printed)


@pytest.mark.parametrize(
    ("properties", "options", "message"),
    [
        ((), {}, "No property"),
        (("P30 }",), {}, "not a property of Wikidata"),
        (("P30",), {"answers": 1}, "two answers or more"),
        (("P30",), {"least_sitelinks": -1}, "No subjects have -1 sitelinks"),
        (("P30",), {"least_sitelinks": 99}, r"\(0 facts; left out: none\)\. Lower --least-sitelinks"),
        (("P30",), {"templates": {"P36": ["[Y] governs [X]."]}}, "P36 is worded, but not curated"),
        (("P30",), {"domains": {"P36": ["Political"]}}, "P36 is given a domain, but not curated"),
        (("P30",), {"templates": {"P30": ["[X] is there."]}}, "once"),
        (("P31",), {}, "has no P31"),
        (("P31",), {"language": "fr"}, "No template for P31 in 'fr'"),
        (("P30",), {"language": 'x"'}, "not a language code"),
    ],
)
def test_a_bad_plan_is_refused_and_nothing_is_left(
    serve: Serve, world: World, tmp_path: Path, properties: tuple[str, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        plan = MultipleChoicePlan(properties, **({"least_sitelinks": 2} | options))
        curate(serve(world).endpoint(), plan, tmp_path / "out")
    assert not (tmp_path / "out").exists()
