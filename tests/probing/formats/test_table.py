"""Tables of questions: files of every kind, frames, and what is said of bad rows."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import probing
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.errors import BadBenchmark, BadInput
from probing.formats import format_of
from probing.plan import plan
from probing.results.rescoring import rescored
from probing.runner import run
from tests.fakes import FakeModel

GUIDE = Path(__file__).parents[3] / "docs/adding-a-benchmark.md"
CAPITALS = [
    {"prompt": "The capital of Norway is", "answer": "Oslo", "continent": "Europe"},
    {"prompt": "The capital of Peru is", "answer": "Lima", "continent": "America"},
    {"prompt": "[Y] is where Mali is governed.", "answer": "Bamako", "continent": "Africa"},
]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    frame = pd.DataFrame(rows)
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


def statements(benchmark: Benchmark) -> list[str]:
    return list(run(FakeModel(), benchmark, progress=False).items["statement"])


def test_the_example_of_the_guide_is_a_benchmark(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```csv\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    (tmp_path / "questions.csv").write_text(example)
    known = [
        "The capital of Norway is Oslo",
        "Jupiter is the largest planet, and Venus is not.",
        "Two and two are four",
    ]
    result = probing.run(FakeModel(knows=known), tmp_path / "questions.csv", progress=False)
    assert result.items["statement"].tolist() == known
    assert result.by("topic").index.tolist() == ["cities", "planets", "numbers"]
    assert result.option_labels("questions", 1) == ("Jupiter", "Mars")


@pytest.mark.parametrize("name", ["Asked.csv", "asked.tsv", "asked.jsonl", "asked.parquet"])
def test_every_kind_of_file_and_a_frame_are_the_same_benchmark(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, CAPITALS)
    benchmark, frame = open_benchmark(path), Benchmark.from_frame(pd.DataFrame(CAPITALS), "asked")
    assert (benchmark, format_of(path), format_of(tmp_path)) == (frame, "table", "table")
    assert benchmark.files == (path,)


def test_the_options_of_rows_without_any_are_the_answers_of_their_relation() -> None:
    rows = [{**row, "relation": "capital", "options": None} for row in CAPITALS]
    rows += [{"prompt": "Two and two are", "answer": "four", "options": ["four", "five"], "relation": "sums"}]
    benchmark = Benchmark.from_frame(pd.DataFrame(rows))
    assert benchmark["capital"].answer_space == ("Oslo", "Lima", "Bamako")
    assert benchmark["sums"].items[0].options == ("four", "five")
    assert [item.index for relation in benchmark.relations for item in relation.items] == [0, 1, 2, 3]


def test_an_answer_may_be_several_labels_and_numbers_are_labels_too() -> None:
    rows = [
        {"prompt": "A prime is", "answer": "2|3", "options": [2, 3, 4]},
        {"prompt": "A square is", "answer": 4, "options": [2, 3, 4]},
    ]
    items = Benchmark.from_frame(pd.DataFrame(rows))["questions"].items
    assert [item.answers for item in items] == [(0, 1), (2,)]
    assert items[0].options == ("2", "3", "4")


def test_subjects_are_put_into_the_template_of_their_row() -> None:
    rows = [
        {"subject": "Norway", "template": "[X] is governed from [Y].", "answer": "Oslo"},
        {"subject": "iPad", "template": "[X] is made by [Y].", "answer": "Apple"},
        {"subject": "Rome", "template": "[X] lies in", "answer": "Italy"},
    ]
    benchmark = Benchmark.from_frame(pd.DataFrame(rows))
    assert benchmark["questions"].templates == ("[X] is governed from [Y].",)
    assert [text.partition(" ")[0] for text in statements(benchmark)] == ["Norway", "iPad", "Rome"]


def test_texts_are_asked_as_they_stand() -> None:
    rows = [{"prompt": "def answer():\n    return ", "answer": "42"}, {"prompt": "x =", "answer": "7"}]
    texts = statements(Benchmark.from_frame(pd.DataFrame(rows)))
    assert texts[0].startswith("def answer():\n    return ")
    assert texts[0][-2:].strip() in ("42", "7")
    assert texts[1].startswith("x = ")


def test_items_can_be_shown_before_others() -> None:
    benchmark = Benchmark.from_frame(pd.DataFrame(CAPITALS))
    result = run(FakeModel(), benchmark, few_shot=1, progress=False)
    assert all(len(shown) == 1 for shown in result.items["demonstrations"])


def test_tags_of_a_table_reach_finished_results(tmp_path: Path) -> None:
    result = run(FakeModel(), write(tmp_path / "asked.csv", CAPITALS), progress=False)
    again = rescored(result, Benchmark.from_frame(pd.DataFrame(CAPITALS).assign(size=[1, 2, 3]), "asked"))
    assert set(again.by("size").index) == {"1", "2", "3"}


def test_empty_cells_and_lists_are_tags_as_well() -> None:
    rows = [{**CAPITALS[0], "part": ["north", "west"]}, {**CAPITALS[1], "part": None}]
    first, second = Benchmark.from_frame(pd.DataFrame(rows))["questions"].items
    assert first.tags["part"] == ("north", "west")
    assert second.tags == {"continent": "America"}


def test_all_bad_rows_are_named_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "asked.csv"
    lines = [
        "prompt,answer,options,id",
        '"Two lines,\nof one cell",a,a|b,1',
        "No answer,,a|b,2",
        "Other answer,c,a|b,3",
        "Too few cells,a",
        "Only one option,a,a,4",
        "[Y] and [Y],a,a|b,5",
        "[X] is nobody,a,a|b,6",
        ",a,a|b,7",
        "Twice,a,a|a|b,8",
    ]
    path.write_text("\n".join(lines))
    with pytest.raises(BadBenchmark) as caught:
        open_benchmark(path)
    assert caught.value.message == (
        "asked.csv, line 4: there is no answer; line 5: the answer 'c' is none of the options (a, b); "
        "line 6: it has 2 cells, and the first line has 4; line 7: there is only one option, 'a'; "
        "several have | between them; line 8: [Y] stands more than once; line 9: there is no subject for [X]; "
        "line 10: there is no prompt; line 11: one of options occurs twice."
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"prompt": "a", "answer": "b"}\n{"prompt": \n', "line 2: column 12: not JSON"),
        ('{"prompt": "a", "answer": {"b": 1}}\n', "line 1: answer holds {'b': 1}, which is neither text nor number"),
        ('{"prompt": "a", "answer": "\\ud800"}\n', "line 1: answer holds half a character"),
        ('{"prompt": "a", "answer": "b", "relation": "a b"}\n', "line 1: 'a b' is no relation id"),
        ('{"prompt": "a [X]", "template": "[X]", "answer": "b"}\n', "line 1: there are both a prompt and a template"),
        ('{"template": "is", "answer": "b"}\n', "line 1: the template has no [X]"),
        ('{"prompt": "a", "answer": ["b", ""]}\n', "line 1: one of answer is empty"),
        ('{"prompt": "a", "answer": "b", "id": 1}\n' * 2, "the id '1' stands in several rows"),
        ('{"prompt": "a", "answer": "b"}\n' * 2, "all answers of the relation questions without options are 'b'"),
        ('{"question": "a", "answer": "b"}\n', "has no column prompt (or template). It has 'question', 'answer'"),
        ("[]\n", "has no column prompt (or template) and no column answer. It has none"),
    ],
)
def test_a_bad_file_is_refused(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "asked.jsonl").write_text(content)
    with pytest.raises(BadBenchmark, match=re.escape(message)):
        open_benchmark(tmp_path / "asked.jsonl")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("asked.csv", "prompt;answer\na;b\n", "The columns of asked.csv are not separated by commas."),
        ("asked.tsv", "prompt,answer\na,b\n", "The columns of asked.tsv are not separated by tabs."),
        ("asked.csv", "", "asked.csv is empty."),
        ("asked.csv", "prompt,answer,option\na,b,b|c\n", "has the column 'option' and none that is called 'options'."),
        ("asked.csv", "prompt,answer,choices\na,b,b|c\n", "'choices' and none that is called 'options'."),
        (
            "asked.csv",
            'prompt,answer,options\na,b,"b, c"\n',
            "there is only one option, 'b, c'; several have |",
        ),
    ],
)
def test_what_other_programs_write_is_refused_with_its_fault(
    name: str, content: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(BadBenchmark, match=re.escape(message)):
        open_benchmark(tmp_path / name)


def test_a_tag_may_be_somewhat_like_a_column_that_is_read() -> None:
    rows = [{**row, "subject_id": "Q1", "region": "here"} for row in CAPITALS]
    assert Benchmark.from_frame(pd.DataFrame(rows))["questions"].items[0].tags.keys() >= {"subject_id", "region"}


def test_rows_that_are_no_table_and_a_table_that_is_no_benchmark_are_refused_with_what_to_do() -> None:
    with pytest.raises(BadInput) as caught:
        Benchmark.from_frame(CAPITALS)  # type: ignore[arg-type]
    assert "pandas.DataFrame(rows)" in caught.value.next_step
    with pytest.raises(BadInput, match=r"A table is no benchmark\.") as caught:
        run(FakeModel(), pd.DataFrame(CAPITALS))  # type: ignore[arg-type]
    assert "Benchmark.from_frame(table)" in caught.value.next_step


def test_many_bad_rows_are_counted(tmp_path: Path) -> None:
    (tmp_path / "asked.csv").write_text("prompt,answer\n" + "a,\n" * 30)
    with pytest.raises(BadBenchmark, match=r"line 21: there is no answer; and 10 more\."):
        open_benchmark(tmp_path / "asked.csv")


def test_a_table_without_rows_and_one_of_another_kind_are_refused(tmp_path: Path) -> None:
    (tmp_path / "asked.csv").write_text("prompt,answer\n")
    with pytest.raises(BadBenchmark, match=r"asked\.csv has no rows"):
        open_benchmark(tmp_path / "asked.csv")
    (tmp_path / "asked.csv").write_text('prompt,answer\na,"b\n')
    with pytest.raises(BadBenchmark, match=r"line 2: no table \(unexpected end of data\)"):
        open_benchmark(tmp_path / "asked.csv")
    (tmp_path / "asked.parquet").write_bytes(b"prompt")
    with pytest.raises(BadBenchmark, match=r"asked\.parquet is not a Parquet file"):
        open_benchmark(tmp_path / "asked.parquet")


def test_a_folder_with_several_tables_is_refused(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        write(tmp_path / name, CAPITALS)
    (tmp_path / "remarks.csv").write_text("who,what\n")
    with pytest.raises(BadBenchmark, match="holds 2 tables of questions"):
        open_benchmark(tmp_path)


def test_a_tag_that_would_hide_a_column_of_results_is_refused() -> None:
    benchmark = Benchmark.from_frame(pd.DataFrame(CAPITALS).assign(rank=[1, 2, 3]))
    with pytest.raises(BadInput, match="The tag 'rank' has the name of a column of results"):
        plan(benchmark, {})
