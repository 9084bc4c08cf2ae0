"""Open questions: files in the forms of PopQA, SimpleQA and EntityQuestions."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from probing.catalog import CATALOG, open_benchmark
from probing.errors import BadBenchmark, BadInput
from probing.formats.open_questions import JUDGED, WITH_ALIASES, fits
from probing.language_model import Continuation
from probing.results.rescoring import rescored
from probing.runner import run
from tests.fakes import FakeModel

TINY = {"id": "1", "prop_id": "22", "s_pop": "208", "s_aliases": "[]"}
POPQA = [
    *[
        {
            **TINY,
            "subj": subject,
            "prop": "occupation",
            "obj": "politician",
            "s_uri": f"http://www.wikidata.org/entity/Q{number}",
            "question": question,
            "possible_answers": json.dumps(["politician", "political leader", "pol"]),
        }
        for number, (subject, question) in enumerate(
            [("Ada Roe", "What is Ada Roe's occupation?"), ('Bo "B" Lee', 'What is Bo "B" Lee\'s occupation?')], 1
        )
    ],
    {
        **TINY,
        "subj": "Cy Doe",
        "prop": "occupation",
        "obj": "painter",
        "s_uri": "",
        "question": "How does C. Doe earn a living?",
        "possible_answers": '["painter"]',
    },
    {
        **TINY,
        "subj": "Norway",
        "prop": "capital of",
        "obj": "Oslo",
        "s_uri": "",
        "question": "What is the capital of Norway?",
        "possible_answers": '["Oslo", "Christiania"]',
    },
]
SIMPLEQA = [
    {"metadata": "{'topic': 'Art', 'answer_type': 'Person'}", "problem": "Who painted it,\nand when?", "answer": "Ann"},
    {"metadata": "{'topic': 'Sci & tech', 'answer_type': 'Date'}", "problem": "When was it?", "answer": "1 May 1901"},
]


def write_table(path: Path, rows: Sequence[Mapping[str, str]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], delimiter="\t" if path.suffix == ".tsv" else ",")
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


def test_popqa_has_a_relation_for_each_property_with_the_aliases_of_answers(tmp_path: Path) -> None:
    benchmark = open_benchmark(write_table(tmp_path / "popqa" / "test.tsv", POPQA).parent)
    assert (benchmark.slug, benchmark.size, benchmark.probe) == ("popqa", 4, "answering")
    occupation = benchmark["occupation"]
    assert occupation.questions == ("What is [X]'s occupation?",)
    assert occupation.answer_space == ("politician", "political leader", "pol", "painter")
    first = occupation.items[0]
    assert (first.subject, first.subject_id, first.answers) == ("Ada Roe", "Q1", (0, 1, 2))
    assert benchmark["capital_of"].name == "capital of"
    model = Speaker("A political leader.")
    result = run(model, benchmark, progress=False)
    assert model.asked == [row["question"] for row in POPQA], "each question as it is in the file"
    assert result.items["correct"].tolist() == [True, True, False, False]
    assert result.by("relation").loc["occupation", "value"] == pytest.approx(2 / 3)


def test_popqa_is_broken_down_by_the_page_views_of_its_subjects(tmp_path: Path) -> None:
    rows = [row | {"s_pop": views} for row, views in zip(POPQA, ["208", "12345", "", "0"], strict=True)]
    benchmark = open_benchmark(write_table(tmp_path / "test.tsv", rows))
    views = run(Speaker("A political leader."), benchmark, progress=False).by("page_views")
    assert views.index.tolist() == ["0", "100–999", "10,000–99,999"], "in the order of the numbers"
    assert views["n"].to_dict() == {"100–999": 1, "10,000–99,999": 1, "0": 1}
    assert views["value"].to_dict() == {"100–999": 1, "10,000–99,999": 1, "0": 0}
    assert views.loc["100–999", ["low", "high"]].notna().all()


def test_popqa_takes_no_other_page_views_than_its_own(tmp_path: Path) -> None:
    benchmark = open_benchmark(write_table(tmp_path / "test.tsv", [row | {"s_pop": "208"} for row in POPQA]))
    result = run(Speaker("A political leader."), benchmark, progress=False)
    with pytest.raises(BadInput, match=r"have a column page_views already\. Give the tag another name"):
        rescored(result, benchmark, result.items[["relation", "index"]].assign(page_views="7"))


def test_the_facts_of_popqa_can_be_asked_by_likelihood_as_well(tmp_path: Path) -> None:
    benchmark = open_benchmark(write_table(tmp_path / "test.tsv", POPQA))
    model = FakeModel(knows=["What is Ada Roe's occupation? pol", "How does C. Doe earn a living? painter"])
    rows = run(model, benchmark, probe="multiple_choice", relations="occupation", progress=False).items
    assert rows.set_index("subject")["correct"][["Ada Roe", "Cy Doe"]].tolist() == [True, True]


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


def test_entity_questions_names_its_subjects_by_what_differs(tmp_path: Path) -> None:
    places = [("Oslo", ["Norway"]), ("Oban", ["Scotland", "United Kingdom"])]
    lines = [{"question": f"Which country is {place} located in?", "answers": names} for place, names in places]
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "P17.test.json").write_text(json.dumps(lines))
    single = [{"question": "Who is Ann's child?", "answers": ["Bo"]}]
    (tmp_path / "test" / "P40.test.json").write_text(json.dumps(single))
    benchmark = open_benchmark(tmp_path)
    assert [item.subject for item in benchmark["P17"].items] == ["Oslo", "Oban"]
    assert benchmark["P17"].questions == ("Which country is [X] located in?",)
    assert [item.subject for item in benchmark["P40"].items] == ["Who is Ann's child?"]
    assert run(Speaker("in the United Kingdom"), benchmark, progress=False).items["correct"].tolist() == [
        *(False, True),
        False,
    ]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "test.tsv",
            "subj\tprop\tobj\tquestion\tpossible_answers\na\tb\tc\td?\tc\n",
            "line 2: 'possible_answers' is no",
        ),
        ("test.tsv", "subj\tprop\tobj\tquestion\tpossible_answers\na\tb\t\td?\t[]\n", "line 2: 'obj' holds ''"),
        *(
            (
                "test.tsv",
                f"subj\tprop\tobj\tquestion\tpossible_answers\ts_pop\na\tb\tc\td?\t[]\t{views}\n",
                "line 2: 's_pop' is no number of page views",
            )
            for views in ("-5", "208.0", "abc", "9" * 4301)
        ),
        ("a.csv", "metadata,problem,answer\n{,q,a\n", "line 2: 'metadata' is no Python dictionary"),
        ("P17.test.json", "[1]", "no JSON list of questions"),
        ("P17.test.json", '[{"question": "q", "answers": []}]', "question 1: there are no answers"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(tmp_path: Path, name: str, content: str, words: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(BadBenchmark, match=words):
        open_benchmark(tmp_path)


def test_other_tables_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadBenchmark, match="none of the files"):
        open_benchmark(tmp_path)


def test_only_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "x.csv").mkdir()
    for path in (tmp_path / "x.csv" / "missing.csv", tmp_path / "P17.test.json", tmp_path):
        assert not fits(path)
    write_table(tmp_path / "y.csv", SIMPLEQA)
    assert fits(tmp_path)


def test_aliases_count_in_whole_words_where_case_is_ignored(tmp_path: Path) -> None:
    row = {**POPQA[3], "possible_answers": '["Oslo", "US"]'}
    benchmark = open_benchmark(write_table(tmp_path / "test.tsv", [row]))
    assert benchmark.notes == (WITH_ALIASES,)
    said = {"It is in Russia.": (False, False), "in the us": (False, True), "Oslo.": (True, True)}
    for response, expected in said.items():
        rows = run(Speaker(response), benchmark, progress=False).items
        assert (rows["correct"][0], rows["correct_normalised"][0]) == expected, response


def test_they_are_known_by_name_with_a_licence() -> None:
    for slug in ("popqa", "simpleqa", "simpleqa-verified", "entity-questions"):
        assert CATALOG[slug].licence.startswith("MIT")
        assert CATALOG[slug].downloads
