"""Sentences about geography: the fact types of the paper, names in templates, and sentences written by hand."""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from probing.formats.geography import read_triples
from probing.statements.geography_sentences import (
    FACT_TYPES,
    MUTED_WORDS,
    FactType,
    Sentence,
    agreeing,
    muted,
    sentences,
    split,
)
from tests.real_data import real_data

RULES = Path(__file__).with_name("rules.txt")
SAMPLE = Path(__file__).with_name("sample.txt")
FLAGS = ("leaky", "repeated", "long")


def worded(key: str, subject: str, *objects: str) -> list[Sentence]:
    return list(sentences(FACT_TYPES[key], subject, objects))


def with_flags(sentence: Sentence) -> str:
    flags = [flag for flag in FLAGS if getattr(sentence, flag)]
    return sentence.text.replace("[Y]", f"[{sentence.answer}]") + (f" ({', '.join(flags)})" if flags else "")


def blocks() -> Iterator[tuple[str, str, tuple[str, ...], list[str]]]:
    """Fact type, subject, objects and expected sentences."""
    for block in RULES.read_text(encoding="utf-8").strip().split("\n\n"):
        if not block.startswith("#"):
            fact, *expected = block.splitlines()
            key, subject, objects = fact.split(" | ")
            yield key, subject, tuple(objects.split("; ")), expected


def test_every_template_has_sentences_written_by_hand() -> None:
    covered = {
        (key, sentence.template) for key, subject, objects, _ in blocks() for sentence in worded(key, subject, *objects)
    }
    for fact_type in FACT_TYPES.values():
        numbers = [*map(str, range(len(fact_type.templates))), *(["single"] if fact_type.single else [])]
        assert {(fact_type.key, number) for number in numbers} <= covered


def test_a_fact_gives_the_sentences_written_by_hand() -> None:
    different = []
    for key, subject, objects, expected in blocks():
        generated = [with_flags(sentence) for sentence in worded(key, subject, *objects)]
        if generated != expected:
            different.append((key, subject, generated, expected))
    assert different == []


def test_the_sample_gives_the_sentences_written_by_hand() -> None:
    triples = read_triples(real_data("geography/triples_sample.jsonl"))
    generated = [
        [key, *(with_flags(sentence) for _, subject, objects in group for sentence in worded(key, subject, *objects))]
        for key, group in groupby(triples, lambda triple: triple[0].key)
    ]
    assert generated == [block.splitlines() for block in SAMPLE.read_text(encoding="utf-8").split("\n\n")]


def test_only_a_text_that_ends_in_its_blank_can_be_continued() -> None:
    last = [sentence.blank_last for sentence in worded("range_highest_point", "Alps", "Mont Blanc")]
    assert last == [False, True]
    assert [s.blank_last for s in worded("dam_country", "Gariep Dam", "South Africa")] == [False]


def test_an_id_is_stable_and_tells_sentences_and_answers_apart() -> None:
    first = worded("river_countries", "Inn", "Austria", "Germany")
    assert len({sentence.id for sentence in first}) == 4
    assert worded("river_countries", "Inn", "Germany")[0].id == first[1].id
    assert first[0].id == "river_countries-3e4df39ec7"


def test_a_word_is_muted_behind_each_of_its_suffixes() -> None:
    wrong = []
    for word, suffixes in MUTED_WORDS.items():
        template = f"The {{S}} {word} is here."
        for suffix in suffixes:
            behind = muted(template, {"S": f"Old {suffix.title()}"})
            elsewhere = muted(template, {"S": f"{suffix.title()} of Old"})
            if (behind, elsewhere) != ("The {S} is here.", template):
                wrong.append((word, suffix, behind, elsewhere))
    assert wrong == []


@pytest.mark.parametrize(
    ("template", "name", "expected"),
    [
        ("The {S} mines are here.", "Grasberg mine", "The {S} are here."),
        ("The {S} amusement park is here.", "Europa-Park", "The {S} is here."),
        ("The {S} stadium is here.", "Stadium of Light", "The {S} stadium is here."),
        ("The {S} forest is here.", "Daintree Rainforest", "The {S} forest is here."),
        ("The {S} river flows through {O}.", "Jhelum River", "The {S} flows through {O}."),
        ("The {S} dam is located on the {O} river.", "Nile", "The {S} dam is located on the {O} river."),
    ],
)
def test_only_the_last_words_of_a_name_mute(template: str, name: str, expected: str) -> None:
    assert muted(template, {"S": name}) == expected


def test_an_object_mutes_the_words_behind_it_only() -> None:
    names = {"S": "Mangla Dam", "O": "Jhelum River"}
    assert muted("The {S} dam is located on the {O} river.", names) == "The {S} is located on the {O}."
    assert muted("{O} has the {S} river as one.", {"S": "Rhine", "O": "Fall River"}) == "{O} has the {S} river as one."


@pytest.mark.parametrize(
    ("template", "subject", "expected"),
    [
        ("The {S} passes through {O}.", "Rocky Mountains", "The {S} pass through {O}."),
        ("The {S} runs through {O}.", "Western Ghats", "The {S} run through {O}."),
        ("The {S} is located in {O}.", "Bird Sanctuaries", "The {S} are located in {O}."),
        ("The {S} supplies electricity.", "Kings Mines", "The {S} supply electricity."),
        ("The {S} is located in {O}.", "Rhine Falls", "The {S} is located in {O}."),
        ("The {S} mountain range passes by.", "Rocky Mountains", "The {S} mountain range passes by."),
        ("The {S} are spread over {O1}.", "Grasberg mine", "The {S} is spread over {O1}."),
        ("The {S} mines are spread over {O1}.", "Grasberg", "The {S} mines are spread over {O1}."),
        ("{S} has its capital city as {O}.", "Solomon Islands", "{S} has its capital city as {O}."),
    ],
)
def test_a_verb_agrees_with_the_name_before_it(template: str, subject: str, expected: str) -> None:
    assert agreeing(template, subject) == expected


@pytest.mark.parametrize(
    ("name", "before", "word", "after"),
    [
        ("Egypt", "", "Egypt", ""),
        ("Arabian Sea", "", "Arabian", " Sea"),
        ("Forest of Dean", "Forest of ", "Dean", ""),
        ("United States of America", "United States of ", "America", ""),
        ("Mount Everest", "Mount ", "Everest", ""),
        ("Gulf of Saint Lawrence", "Gulf of Saint ", "Lawrence", ""),
        ("Republic of the Congo", "Republic of the ", "Congo", ""),
        ("the Netherlands", "the ", "Netherlands", ""),
        ("San Siro", "San ", "Siro", ""),
        ("Monte Rosa", "Monte ", "Rosa", ""),
        ("Lake Ohrid", "Lake ", "Ohrid", ""),
        ("Gulf Stream", "Gulf ", "Stream", ""),
        ("Sea Lion Island", "Sea ", "Lion", " Island"),
        ("Bay Islands", "Bay ", "Islands", ""),
        ("Cape Horn", "Cape ", "Horn", ""),
        ("Port Said", "Port ", "Said", ""),
        ("Saint Helena", "Saint ", "Helena", ""),
        ("Santa Cruz", "Santa ", "Cruz", ""),
        ("Mount", "", "Mount", ""),
        ("Washington, D.C.", "", "Washington", ", D.C."),
        ("Isle of", "", "Isle", " of"),
        ("South China Sea", "", "South", " China Sea"),
    ],
)
def test_one_word_of_a_name_is_asked_for(name: str, before: str, word: str, after: str) -> None:
    assert split(name) == (before, word, after)


HEADS = {"Geo-political": 6, "Natural": 11, "Public and Industrial Facilities": 6}


def test_there_are_the_papers_fact_types_and_templates_under_different_keys() -> None:
    heads = [fact_type.head for fact_type in FACT_TYPES.values()]
    assert {head: heads.count(head) for head in HEADS} == HEADS
    assert sum(len(fact_type.templates) for fact_type in FACT_TYPES.values()) == 33
    assert all(key == fact_type.key for key, fact_type in FACT_TYPES.items())
    assert len(FACT_TYPES) == sum(HEADS.values())


def all_templates(fact_type: FactType) -> list[str]:
    return [template for template in (*fact_type.templates, fact_type.single) if template]


def test_a_template_has_the_slots_of_a_subject_and_one_or_two_objects_and_each_type_one_for_one() -> None:
    slots = {
        (key, template): sorted(re.findall(r"\{(\w+)\}", template))
        for key, fact_type in FACT_TYPES.items()
        for template in all_templates(fact_type)
    }
    assert {where: names for where, names in slots.items() if names not in (["O", "S"], ["O1", "O2", "S"])} == {}
    missing = [key for key, one in FACT_TYPES.items() if not any("{O}" in text for text in all_templates(one))]
    assert missing == []


def test_each_fact_type_has_a_wh_question() -> None:
    for fact_type in FACT_TYPES.values():
        assert fact_type.question.endswith("?") and fact_type.question.count("{S}") == 1
        assert bool(fact_type.subject_question) == fact_type.masks_subject
