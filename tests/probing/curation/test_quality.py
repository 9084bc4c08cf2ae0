"""Tests of the report on sentences about geography: flags, and the verdicts of a judge of acceptability."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from probing.curation.geography_facts import Worded, report
from probing.statements.geography_sentences import FACT_TYPES, sentences


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
