"""Open questions: tables in the forms of SimpleQA and SimpleQA Verified."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from probing.catalog import CATALOG, open_benchmark
from probing.errors import BadBenchmark
from probing.formats.open_questions import JUDGED, fits
from probing.language_model import Continuation
from probing.runner import run
from tests.fakes import FakeModel

SIMPLEQA = [
    {"metadata": "{'topic': 'Art', 'answer_type': 'Person'}", "problem": "Who painted it,\nand when?", "answer": "Ann"},
    {"metadata": "{'topic': 'Sci & tech', 'answer_type': 'Date'}", "problem": "When was it?", "answer": "1 May 1901"},
]


def write_table(path: Path, rows: Sequence[Mapping[str, str]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


class Speaker(FakeModel):
    """Writes the answer to the question that it is asked first, and repeats it."""

    def __init__(self, says: str) -> None:
        super().__init__()
        self.says, self.asked = says, list[str]()

    def generate(self, texts: Iterable[str], tokens: int, **how: Any) -> Iterator[Continuation]:
        for text in texts:
            self.asked.append(text)
            yield Continuation(self.says)


def test_simpleqa_has_topics_and_says_that_its_authors_have_a_judge(tmp_path: Path) -> None:
    benchmark = open_benchmark(write_table(tmp_path / "simple_qa_test_set.csv", SIMPLEQA).parent)
    assert [relation.id for relation in benchmark.relations] == ["art", "sci___tech"]
    assert benchmark.notes == (JUDGED,)
    model = Speaker("It was on 1 May 1901.")
    result = run(model, benchmark, progress=False)
    assert model.asked == ["Who painted it,\nand when?", "When was it?"]
    assert result.items["correct"].tolist() == [False, True]
    assert result.items["correct_exact"].tolist() == [False, False]
    assert result.by("answer_type").loc["Date", "value"] == 1
    assert JUDGED in result.notes


def test_simpleqa_verified_has_columns_for_topics_and_ranges_behind_numbers(tmp_path: Path) -> None:
    row = {"topic": "Sports", "answer_type": "Number", "problem": "How many?", "multi_step": "NO"}
    answers = ["33.77 (acceptable range: anything between 33.75 and 33.80)", "3 (three)"]
    rows = [{**row, "answer": answer} for answer in answers]
    (relation,) = open_benchmark(write_table(tmp_path / "simpleqa_verified.csv", rows)).relations
    assert (relation.id, relation.answer_space) == ("sports", ("33.77", "3 (three)"))
    assert relation.items[0].tags == {"answer_type": "Number"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("metadata,problem,answer\n{,q,a\n", "line 2: 'metadata' is no Python dictionary"),
        ("problem,answer\nq,\n", "line 2: 'answer' holds ''"),
        ("problem,answer\n,a\n", "line 2: 'problem' holds ''"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(BadBenchmark, match=words):
        open_benchmark(tmp_path)


def test_other_tables_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadBenchmark, match="none of the files"):
        open_benchmark(tmp_path)


def test_only_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "x.csv").mkdir()
    for path in (tmp_path / "x.csv" / "missing.csv", tmp_path):
        assert not fits(path)
    write_table(tmp_path / "y.csv", SIMPLEQA)
    assert fits(tmp_path)


def test_the_options_of_a_topic_are_its_answers_each_once(tmp_path: Path) -> None:
    row = {"topic": "Art", "answer_type": "", "problem": "Who?", "answer": "Ann"}
    benchmark = open_benchmark(write_table(tmp_path / "a.csv", [row, row | {"answer": "Bo"}, row]))
    assert benchmark["art"].answer_space == ("Ann", "Bo")
    model = FakeModel(knows=["Who? Bo"])
    rows = run(model, benchmark, probe="multiple_choice", progress=False).items
    assert rows["correct"].tolist() == [False, True, False]


def test_answers_count_in_whole_words_where_case_is_ignored(tmp_path: Path) -> None:
    benchmark = open_benchmark(write_table(tmp_path / "a.csv", [{"problem": "Where is it?", "answer": "US"}]))
    said = {"It is in Russia.": (False, False), "in the us": (False, True), "In the USSR.": (True, False)}
    for response, expected in said.items():
        rows = run(Speaker(response), benchmark, progress=False).items
        assert (rows["correct"][0], rows["correct_normalised"][0]) == expected, response


def test_they_are_known_by_name_with_a_licence() -> None:
    for slug in ("simpleqa", "simpleqa-verified"):
        assert CATALOG[slug].licence.startswith("MIT")
        assert CATALOG[slug].downloads
