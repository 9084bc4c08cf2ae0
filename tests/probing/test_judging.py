"""Samples of sentences, their forms, what judges agree on and refuse, and the version that leaves this out."""

import json
from collections import Counter
from math import isnan
from pathlib import Path

import numpy as np
import pytest

from probing.catalog import open_benchmark
from probing.errors import BadBenchmark, BadInput
from probing.formats.geography import TypedSentence, read, typed_sentences
from probing.judging import (
    COLUMNS,
    agreement,
    cohens_kappa,
    draw,
    empty_lines,
    fleiss_kappa,
    judged_by_model,
    kappa,
    observed_agreement,
    read_form,
    refusals,
    sentences_of,
    write_form,
    write_version,
)
from tests.probing.judged import CITIES, filled, rows, write_benchmark


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
    assert [answers for _, _, answers in form][:3] == [
        {"grammatical": True, "factual": False},
        {"leaky": False},
        {},
    ]


def test_a_form_that_a_spreadsheet_saved_with_semicolons_is_read(benchmark: Path, tmp_path: Path) -> None:
    sentence = min(ids(benchmark))
    (tmp_path / "a.csv").write_text(f'{";".join(COLUMNS)}\n1;{sentence};;;"a; b";;;yes;;;;"two\nlines"\n')
    ((_, judged, answers),) = read_form(tmp_path / "a.csv", ids(benchmark))
    assert (judged, answers) == (sentence, {"grammatical": True})


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


FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture(scope="module")
def typed() -> list[TypedSentence]:
    return sentences_of(open_benchmark(FIXTURES / "geography"))


def ids_of(sample: list[TypedSentence]) -> list[str]:
    return [sentence.id for _, sentence in sample]


def test_the_papers_samples_have_225_sentences_of_all_23_fact_types(typed: list[TypedSentence]) -> None:
    first, second = draw(typed)
    for sample in (first, second):
        assert len(set(ids_of(sample))) == 225
        assert len({key for key, _ in sample}) == 23
    twice = set(ids_of(first)) & set(ids_of(second))
    numbers = Counter(key for key, _ in typed)
    drawn = Counter(key for key, _ in first)
    assert all(2 * drawn[key] > numbers[key] for key, sentence in typed if sentence.id in twice)


def test_fact_types_have_sentences_in_proportion_to_their_numbers(typed: list[TypedSentence]) -> None:
    numbers, (sample, _) = Counter(key for key, _ in typed), draw(typed)
    counts = Counter(key for key, _ in sample)
    spare, left = 225 - len(numbers), len(typed) - len(numbers)
    for key, number in numbers.items():
        assert abs(counts[key] - 1 - (number - 1) * spare / left) < 1


def test_the_same_sentences_are_drawn_each_time(typed: list[TypedSentence]) -> None:
    assert draw(typed) == draw(typed)


def test_a_sentence_stands_in_two_samples_only_where_its_fact_type_has_too_few(tmp_path: Path) -> None:
    facts = [("city_country", f"City {number}", "France") for number in range(20)] + [
        ("country_continent", "Oman", "Asia")
    ]
    lines = [{"fact_type": key, "subject": name, "objects": [value]} for key, name, value in facts]
    (tmp_path / "triples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    typed = sentences_of(open_benchmark(tmp_path))
    first, second = draw(typed, 9)
    twice = set(ids_of(first)) & set(ids_of(second))
    assert {key for key, sentence in typed if sentence.id in twice} == {"country_continent"}


@pytest.mark.parametrize("size", [22, 100_000])
def test_a_size_that_is_not_possible_is_refused_with_those_that_are(size: int, typed: list[TypedSentence]) -> None:
    with pytest.raises(BadInput, match="from 23, the number of fact types, to"):
        draw(typed, size)


# What judges agree on and refuse, and the version of a benchmark that leaves this out.


YES, NO = {"grammatical": "yes", "factual": "yes"}, {"grammatical": "yes", "factual": "no"}


def test_agreement_counts_what_all_judges_of_a_sample_answered(benchmark: Path, tmp_path: Path) -> None:
    """The worked example of the methods page."""
    first = filled(tmp_path / "a.csv", benchmark, {"Lyon": YES, "Nice": YES, "Lille": NO, "Brest": NO})
    second = filled(tmp_path / "b.csv", benchmark, {"Lyon": YES, "Nice": NO, "Lille": NO, "Brest": NO, "Loire": YES})
    table = agreement([first, second]).set_index("question")
    assert list(table.index) == ["grammatical", "factual"], "nobody has judged whether sentences are leaky"
    assert table.loc["factual", ["judges", "sentences"]].tolist() == [2, 4]
    assert table.loc["factual", "yes"] == 3 / 8
    assert table.loc["factual", "agreement"] == 3 / 4
    assert table.loc["factual", "kappa"] == pytest.approx((0.75 - 0.5) / 0.5)
    assert table.loc["grammatical", "agreement"] == 1
    assert isnan(table.loc["grammatical", "kappa"])


def test_a_needless_repetition_refuses_a_sentence_and_a_leak_does_not(benchmark: Path, tmp_path: Path) -> None:
    verdicts = {"Lyon": {"repetition": "yes"}, "Nice": {"repetition": "no", "leaky": "yes"}}
    left_out = refusals([filled(tmp_path / "a.csv", benchmark, verdicts)], typed_sentences(benchmark))
    refused = {sentence.subject for _, sentence in typed_sentences(benchmark) if sentence.id in left_out.sentences}
    assert refused == {"Lyon"}


def test_a_judge_of_another_sample_is_not_counted(benchmark: Path, tmp_path: Path) -> None:
    forms = [filled(tmp_path / f"{n}.csv", benchmark, {"Lyon": YES}, sample=n) for n in ("1", "2")]
    both = filled(tmp_path / "model.csv", benchmark, {"Lyon": YES, "Nice": NO}, sample="")
    table = agreement([*forms, both])
    assert table["sample"].tolist() == ["1", "1", "2", "2"]
    assert set(table["judges"]) == {2}
    assert set(table["sentences"]) == {1}


def test_a_single_judge_agrees_with_nobody(benchmark: Path, tmp_path: Path) -> None:
    table = agreement([filled(tmp_path / "a.csv", benchmark, {"Lyon": YES, "Nice": NO})])
    assert table["agreement"].isna().all()
    assert table.set_index("question")["yes"]["factual"] == 1 / 2


def test_more_than_half_of_the_judges_refuse_a_sentence(benchmark: Path, tmp_path: Path) -> None:
    forms = [
        filled(tmp_path / "a.csv", benchmark, {"Lyon": NO, "Nice": NO, "Lille": YES, "Brest": YES}),
        filled(tmp_path / "b.csv", benchmark, {"Lyon": NO, "Nice": YES, "Lille": YES, "Brest": YES}),
    ]
    typed = typed_sentences(benchmark)
    left_out = refusals(forms, typed)
    assert left_out.sentences == {sentence.id for _, sentence in typed if sentence.subject == "Lyon"}
    assert not left_out.templates


def test_a_template_is_refused_if_most_of_its_judged_sentences_are(benchmark: Path, tmp_path: Path) -> None:
    form = filled(tmp_path / "a.csv", benchmark, {"Lyon": NO, "Nice": NO, "Lille": YES})
    assert refusals([form], typed_sentences(benchmark)).templates == {"city_country": {"0"}}
    form = filled(tmp_path / "b.csv", benchmark, {"Lyon": NO, "Nice": NO})
    assert not refusals([form], typed_sentences(benchmark)).templates, "only two were judged"


def test_the_new_version_leaves_refused_sentences_out_and_says_so(benchmark: Path, tmp_path: Path) -> None:
    forms = [filled(tmp_path / f"{judge}.csv", benchmark, {"Lyon": NO, "Nice": YES}) for judge in ("a", "b")]
    before = read(benchmark)
    write_version(before, typed_sentences(benchmark), forms, tmp_path / "judged")
    after = read(tmp_path / "judged")
    assert after.digest != before.digest
    assert after.size == before.size - 1
    assert "Lyon" not in {item.subject for relation in after.relations for item in relation.items}
    assert after.notes == ("Sentences left out because most answers of judges were no: 1. Judges: 2.",)
    assert json.loads((tmp_path / "judged" / "left_out.json").read_text())["agreement"][0]["agreement"] == 1.0
    assert [path.name for path in after.files] == ["triples.jsonl", "left_out.json"]


def test_a_version_of_a_version_leaves_out_what_either_does(benchmark: Path, tmp_path: Path) -> None:
    for source, target, city in ((benchmark, "once", "Lyon"), (tmp_path / "once", "twice", "Nice")):
        form = filled(tmp_path / f"{city}.csv", source, {city: NO})
        write_version(read(source), typed_sentences(source), [form], tmp_path / target)
    left = {item.subject for relation in read(tmp_path / "twice").relations for item in relation.items}
    assert left == {*CITIES[2:], "Loire"}
    assert len(read(tmp_path / "twice").notes) == 2


def test_a_refused_template_is_left_out_with_all_its_sentences(benchmark: Path, tmp_path: Path) -> None:
    form = filled(tmp_path / "a.csv", benchmark, {"Lyon": NO, "Nice": NO, "Lille": NO})
    write_version(read(benchmark), typed_sentences(benchmark), [form], tmp_path / "judged")
    (relation,) = read(tmp_path / "judged").relations
    assert relation.id == "river_countries"


def test_judges_who_refuse_nothing_or_everything_make_no_version(benchmark: Path, tmp_path: Path) -> None:
    for answers, message in ((YES, "refuse nothing"), (NO, "refuse every sentence")):
        form = filled(tmp_path / "a.csv", benchmark, {"": answers})
        with pytest.raises(BadInput, match=message):
            write_version(read(benchmark), typed_sentences(benchmark), [form], tmp_path / "judged")


def test_a_list_that_names_an_unknown_sentence_is_refused(benchmark: Path) -> None:
    (benchmark / "left_out.json").write_text('{"sentences": ["city_country-0"]}')
    with pytest.raises(BadBenchmark, match="city_country-0"):
        read(benchmark)


# Fourteen raters put ten subjects into five categories: the example with which Fleiss' kappa is usually explained.
FLEISS_COUNTS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
# Two readers of 50 proposals: both yes 20, only the first 5, only the second 10, both no 15.
FIRST = [True] * 25 + [False] * 25
SECOND = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15


def raters(counts: list[list[int]]) -> list[list[int]]:
    """One list for each rater, from the number of raters who chose each category."""
    chosen = [[category for category, count in enumerate(row) for _ in range(count)] for row in counts]
    return [list(rater) for rater in zip(*chosen, strict=True)]


def test_kappas_of_the_worked_examples() -> None:
    assert observed_agreement([FIRST, SECOND]) == pytest.approx(0.7)
    assert cohens_kappa(FIRST, SECOND) == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    judgements = raters(FLEISS_COUNTS)
    assert observed_agreement(judgements) == pytest.approx(0.378, abs=5e-4)
    assert fleiss_kappa(judgements) == pytest.approx(0.210, abs=5e-4)
    assert kappa([FIRST, SECOND]) == cohens_kappa(FIRST, SECOND) != fleiss_kappa([FIRST, SECOND])
    assert kappa([FIRST, SECOND, FIRST]) == fleiss_kappa([FIRST, SECOND, FIRST])


def test_cohens_kappa_equals_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    generator = np.random.default_rng(0)
    for categories in (2, 3, 5):
        first = generator.integers(categories, size=200)
        second = np.where(generator.random(200) < 0.6, first, generator.integers(categories, size=200))
        assert cohens_kappa(first.tolist(), second.tolist()) == pytest.approx(metrics.cohen_kappa_score(first, second))


def test_kappa_is_one_for_judges_who_agree_and_none_where_each_has_one_category() -> None:
    assert cohens_kappa(FIRST, FIRST) == fleiss_kappa([FIRST] * 3) == 1
    assert isnan(cohens_kappa([True, True], [True, True]))
    assert isnan(fleiss_kappa([[True, True]] * 3))
    assert cohens_kappa([True, True], [False, False]) == 0
