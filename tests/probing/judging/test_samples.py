"""Samples of sentences: every fact type is in each, seeds decide, and nothing is drawn twice."""

import json
from collections import Counter
from pathlib import Path

import pytest

from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.formats.geography import TypedSentence
from probing.judging.forms import Sampling, draw, sentences_of

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture(scope="module")
def typed() -> list[TypedSentence]:
    return sentences_of(open_benchmark(FIXTURES / "geography"))


def ids(sample: list[TypedSentence]) -> list[str]:
    return [sentence.id for _, sentence in sample]


def test_the_papers_samples_have_225_sentences_of_all_23_fact_types(typed: list[TypedSentence]) -> None:
    first, second = draw(typed, Sampling())
    for sample in (first, second):
        assert len(set(ids(sample))) == 225
        assert len({key for key, _ in sample}) == 23
    twice = set(ids(first)) & set(ids(second))
    numbers = Counter(key for key, _ in typed)
    drawn = Counter(key for key, _ in first)
    assert all(2 * drawn[key] > numbers[key] for key, sentence in typed if sentence.id in twice)


def test_fact_types_have_sentences_in_proportion_to_their_numbers(typed: list[TypedSentence]) -> None:
    numbers, (sample, _) = Counter(key for key, _ in typed), draw(typed, Sampling())
    counts = Counter(key for key, _ in sample)
    spare, left = 225 - len(numbers), len(typed) - len(numbers)
    for key, number in numbers.items():
        assert abs(counts[key] - 1 - (number - 1) * spare / left) < 1


def test_equal_seeds_draw_equally_and_others_differ(typed: list[TypedSentence]) -> None:
    first, again, other = (draw(typed, Sampling(seed=seed)) for seed in (1, 1, 2))
    assert first == again
    assert set(ids(first[0])) != set(ids(other[0]))


def test_a_sentence_stands_in_two_samples_only_where_its_fact_type_has_too_few(tmp_path: Path) -> None:
    facts = [("city_country", f"City {number}", "France") for number in range(20)] + [
        ("country_continent", "Oman", "Asia")
    ]
    lines = [{"fact_type": key, "subject": name, "objects": [value]} for key, name, value in facts]
    (tmp_path / "triples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    typed = sentences_of(open_benchmark(tmp_path))
    first, second = draw(typed, Sampling(size=9))
    twice = set(ids(first)) & set(ids(second))
    assert {key for key, sentence in typed if sentence.id in twice} == {"country_continent"}


@pytest.mark.parametrize("size", [22, 100_000])
def test_a_size_that_is_not_possible_is_refused_with_those_that_are(size: int, typed: list[TypedSentence]) -> None:
    with pytest.raises(BadInput, match="from 23, the number of fact types, to"):
        draw(typed, Sampling(size=size))


def test_only_geography_benchmarks_have_such_sentences() -> None:
    with pytest.raises(BadInput, match="no geography benchmark"):
        sentences_of(open_benchmark(FIXTURES / "pairs"))
