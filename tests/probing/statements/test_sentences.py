"""The sentence generator against sentences written by hand: rule by rule, and for the sample of triples.

In the files, the answer stands in brackets where the blank is, and a sentence's flags behind it.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from probing.formats.geography import read_triples
from probing.statements.geography_sentences import FACT_TYPES, Sentence, sentences
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
        [key, *(with_flags(sentence) for triple in group for sentence in worded(key, triple.subject, *triple.objects))]
        for key, group in groupby(triples, lambda triple: triple.fact_type.key)
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
