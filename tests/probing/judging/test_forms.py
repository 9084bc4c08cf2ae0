"""Samples of sentences, and their forms as CSV and as pages."""

import json
from collections import Counter
from pathlib import Path

import pytest

from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.formats.geography import TypedSentence, typed_sentences
from probing.judging.forms import (
    COLUMNS,
    Sampling,
    draw,
    empty_lines,
    judged_by_model,
    read_form,
    sentences_of,
    write_form,
    write_page,
)
from tests.probing.judging.judged import filled, rows, write_benchmark


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    return write_benchmark(tmp_path / "cities")


def ids(benchmark: Path) -> frozenset[str]:
    return frozenset(sentence.id for _, sentence in typed_sentences(benchmark))


def test_a_line_has_the_sentence_with_and_without_its_answer(benchmark: Path, tmp_path: Path) -> None:
    write_form(tmp_path / "form.csv", empty_lines("1", typed_sentences(benchmark)))
    first = rows(tmp_path / "form.csv")[0]
    assert first["sentence"] == "Lyon is a city located in France."
    assert (first["masked"], first["answer"]) == ("Lyon is a city located in ____.", "France")
    assert (first["grammatical"], first["factual"], first["leaky"], first["note"]) == ("", "", "", "")


def test_answers_are_read_and_empty_ones_are_no_answers(benchmark: Path, tmp_path: Path) -> None:
    form = filled(
        tmp_path / "a.csv", benchmark, {"Lyon": {"grammatical": "Yes ", "factual": "n"}, "Nice": {"leaky": "0"}}
    )
    assert [dict(judgement.answers) for judgement in form.judgements][:3] == [
        {"grammatical": True, "factual": False},
        {"leaky": False},
        {},
    ]


def test_a_form_that_a_spreadsheet_saved_with_semicolons_is_read(benchmark: Path, tmp_path: Path) -> None:
    sentence = min(ids(benchmark))
    (tmp_path / "a.csv").write_text(f'{";".join(COLUMNS)}\n1;{sentence};;;"a; b";;;yes;;;;"two\nlines"\n')
    (judgement,) = read_form(tmp_path / "a.csv", ids(benchmark)).judgements
    assert (judgement.sentence, dict(judgement.answers)) == (sentence, {"grammatical": True})


def test_text_that_a_spreadsheet_would_compute_is_marked_as_text(tmp_path: Path, benchmark: Path) -> None:
    lines = [line | {"sentence": "=1+1"} for line in empty_lines("1", typed_sentences(benchmark))]
    write_form(tmp_path / "form.csv", lines)
    assert rows(tmp_path / "form.csv")[0]["sentence"] == "'=1+1"


FAULTS = {
    "no column 'id'": ("sample,grammatical,repetition,factual,leaky\n1,yes,,,\n"),
    "no sentence 'other'": ("sample,id,grammatical,repetition,factual,leaky\n1,other,yes,,,\n"),
    "grammatical is 'maybe'": ("sample,id,grammatical,repetition,factual,leaky\n1,{id},maybe,,,\n"),
    "has a sentence twice": ("sample,id,grammatical,repetition,factual,leaky\n1,{id},yes,,,\n1,{id},no,,,\n"),
    "is not filled in": ("sample,id,grammatical,repetition,factual,leaky\n1,{id},,,,\n"),
    "line 2": ('sample,id,grammatical,repetition,factual,leaky\n1,{id},"yes"no,,,\n'),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_form_that_cannot_be_read_is_refused(fault: str, benchmark: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(FAULTS[fault].format(id=min(ids(benchmark))))
    with pytest.raises(BadInput, match=fault):
        read_form(tmp_path / "a.csv", ids(benchmark))


def test_a_models_form_has_its_verdict_and_probability(benchmark: Path) -> None:
    lines = empty_lines("", typed_sentences(benchmark))[:2]
    probabilities = dict(zip([line["id"] for line in lines], [0.5, 0.49991], strict=True))
    judged = judged_by_model(lines, probabilities)
    assert [line["grammatical"] for line in judged] == ["yes", "no"]
    assert [line["note"] for line in judged] == ["probability 0.5000", "probability 0.4999"]


FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture(scope="module")
def typed() -> list[TypedSentence]:
    return sentences_of(open_benchmark(FIXTURES / "geography"))


def ids_of(sample: list[TypedSentence]) -> list[str]:
    return [sentence.id for _, sentence in sample]


def test_the_papers_samples_have_225_sentences_of_all_23_fact_types(typed: list[TypedSentence]) -> None:
    first, second = draw(typed, Sampling())
    for sample in (first, second):
        assert len(set(ids_of(sample))) == 225
        assert len({key for key, _ in sample}) == 23
    twice = set(ids_of(first)) & set(ids_of(second))
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
    assert set(ids_of(first[0])) != set(ids_of(other[0]))


def test_a_sentence_stands_in_two_samples_only_where_its_fact_type_has_too_few(tmp_path: Path) -> None:
    facts = [("city_country", f"City {number}", "France") for number in range(20)] + [
        ("country_continent", "Oman", "Asia")
    ]
    lines = [{"fact_type": key, "subject": name, "objects": [value]} for key, name, value in facts]
    (tmp_path / "triples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    typed = sentences_of(open_benchmark(tmp_path))
    first, second = draw(typed, Sampling(size=9))
    twice = set(ids_of(first)) & set(ids_of(second))
    assert {key for key, sentence in typed if sentence.id in twice} == {"country_continent"}


@pytest.mark.parametrize("size", [22, 100_000])
def test_a_size_that_is_not_possible_is_refused_with_those_that_are(size: int, typed: list[TypedSentence]) -> None:
    with pytest.raises(BadInput, match="from 23, the number of fact types, to"):
        draw(typed, Sampling(size=size))


def test_only_geography_benchmarks_have_such_sentences() -> None:
    with pytest.raises(BadInput, match="no geography benchmark"):
        sentences_of(open_benchmark(FIXTURES / "pairs"))


HOSTILE = '</script><script>alert(1)</script> "quoted"'


def test_texts_of_a_benchmark_are_escaped(tmp_path: Path) -> None:
    lines = [
        line | {"sentence": HOSTILE} for line in empty_lines("1", typed_sentences(write_benchmark(tmp_path / "b")))
    ]
    write_page(tmp_path / "form.html", HOSTILE, lines)
    page = (tmp_path / "form.html").read_text()
    assert "alert(1)" in page
    assert "<script>alert" not in page


def test_a_page_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    write_page(tmp_path / "form.html", "b", empty_lines("1", typed_sentences(write_benchmark(tmp_path / "b"))))
    page = (tmp_path / "form.html").read_text()
    assert "default-src 'none'" in page
    assert "src=" not in page.replace("default-src", "").replace("script-src", "").replace("style-src", "")
    assert "http:" not in page.replace("http-equiv", "")
    assert "https:" not in page
