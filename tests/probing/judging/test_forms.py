"""Forms as CSV: written empty, read as spreadsheets save them, and refused with the line at fault."""

from pathlib import Path

import pytest

from probing.errors import BadInput
from probing.formats.geography import typed_sentences
from probing.judging.forms import COLUMNS, empty_lines, judged_by_model, read_form, write_form
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
