"""Columns of a run's items: their order, titles and alignment, and which of them a page shows."""

import pytest

from leaderboard.models import Benchmark, Run
from leaderboard.probes.items import ColumnValues, ItemColumns, right_or_wrong

RUN = Run(pk=7, benchmark=Benchmark(slug="starter", probe="multiple_choice"))
VALUES: ColumnValues = {
    "subject": {"Chad", "Oslo"},
    "relation": {"P30", "P36"},
    "template": {0, 1},
    "index": {0, 3},
    "answer": {0, 2},
    "answer_label": {"Asia", "Oslo"},
    "prediction_label": {"Asia", "Oslo"},
    "correct": {True, False},
    "margin": {None},
    "language": {"en"},
    "domain": {"Arts", "Geography"},
    "scores": {object()},
}
ROW = {"subject": "Chad", "relation": "P30", "template": 1, "index": 3, "answer_label": "Africa", "language": "fr"}


def names(columns: ItemColumns, values: ColumnValues = VALUES) -> list[str]:
    return [column.name for column in columns.build(RUN, values)]


def test_columns_come_in_the_probes_order_then_the_place_then_everything_else() -> None:
    assert names(ItemColumns(("correct", "subject", "answer_label", "not_stored"))) == [
        *("correct", "subject", "answer"),
        *("relation", "template", "index"),
        *("prediction", "margin", "language", "domain"),
    ]


def test_the_csv_has_the_labels_of_answers_in_place_of_their_numbers() -> None:
    columns = {column.name: column for column in ItemColumns().build(RUN, VALUES)}
    assert columns["answer"].cell(ROW).value == "Africa"
    assert "answer_label" not in columns


def test_a_page_shows_the_columns_that_tell_rows_apart() -> None:
    shown = [column.name for column in ItemColumns().build(RUN, VALUES) if column.shown]
    assert shown == ["subject", "answer", "prediction", "correct", "relation", "template", "index"]


SENTENCES = {("P30", 1, 3): "Chad is in ____."}


def test_a_page_shows_the_question_of_a_row_in_place_of_its_subject() -> None:
    subject = ItemColumns().build(RUN, VALUES, sentences=SENTENCES)[0]
    assert subject.title == "Question"
    cell = subject.cell(ROW)
    assert (cell.text, cell.value, cell.href) == (
        "Chad is in ____.",
        "Chad",
        "/benchmarks/starter/items/P30-3/?run=7&wording=2",
    )
    assert subject.cell(ROW | {"index": 4}).text == "Chad"


def test_a_page_with_questions_leaves_out_the_numbers_of_wording_and_question() -> None:
    shown = [column.name for column in ItemColumns().build(RUN, VALUES, sentences=SENTENCES) if column.shown]
    assert shown == ["subject", "answer", "prediction", "correct", "relation"]


def test_narrow_screens_show_the_question_and_both_answers() -> None:
    columns = ItemColumns().build(RUN, VALUES)
    assert [column.name for column in columns if not column.folded] == ["subject", "answer", "prediction"]


@pytest.mark.parametrize(("correct", "band"), [(True, "right"), (False, "wrong"), (None, "")])
def test_a_row_has_the_band_of_its_answer(correct: bool | None, band: str) -> None:
    run = Run(benchmark=Benchmark(slug="starter", probe="multiple_choice"))
    assert right_or_wrong(run)({"correct": correct}) == band


@pytest.mark.parametrize(
    ("values", "shown"), [({0}, False), ({0, 1}, True), ({"en"}, False), ({"en", "fr"}, True), ({"en", None}, True)]
)
def test_a_tag_is_shown_only_where_rows_differ_in_it(values: set[object], shown: bool) -> None:
    columns = ItemColumns(()).build(RUN, {"language": values})
    assert [column.shown for column in columns] == [shown]


@pytest.mark.parametrize("values", [{None}, {""}, {None, ""}])
def test_a_column_that_is_empty_throughout_is_hidden(values: set[object]) -> None:
    assert [column.shown for column in ItemColumns(("rank",)).build(RUN, {"rank": values})] == [False]


def test_all_columns_can_be_shown_except_for_those_that_only_the_file_has() -> None:
    columns = ItemColumns().build(RUN, VALUES, everything=True)
    assert all(column.shown for column in columns)
    assert "scores" not in [column.name for column in columns]


def test_columns_that_only_the_file_has_are_not_read() -> None:
    assert ItemColumns(file_only=("scores", "exact")).listed(["subject", "scores", "rank"]) == ["subject", "rank"]


def test_titles_of_the_probe_take_the_place_of_the_usual_ones() -> None:
    columns = ItemColumns(titles=lambda run, values: {"correct": f"In top {run.pk}"}).build(RUN, VALUES)
    titles = {column.name: column.title for column in columns}
    assert (titles["correct"], titles["prediction"], titles["index"]) == (
        "In top 7",
        "Model's answer",
        "Number of question",
    )
    assert titles["domain"] == "Domain"


def test_a_column_has_the_help_of_the_probe_or_the_usual_one() -> None:
    columns = {column.name: column.help for column in ItemColumns(help={"correct": "By k."}).build(RUN, VALUES)}
    assert columns["correct"] == "By k."
    assert columns["margin"].startswith("Log-probability of the answer minus")
    assert columns["subject"] == ""


@pytest.mark.parametrize(
    ("name", "values", "align"),
    [
        ("subject", {"Chad", "Oslo"}, "head"),
        ("correct", {True, False}, ""),
        ("correct", {True, None}, ""),
        ("index", {0, 1}, "number"),
        ("margin", {-1.5, None}, "number"),
        ("language", {"en", "fr"}, ""),
        ("template", {0, 1}, "number"),
        ("answer_label", {"Asia", "Oslo"}, "wide"),
    ],
)
def test_columns_are_aligned_by_what_they_hold(name: str, values: set[object], align: str) -> None:
    (column,) = ItemColumns().build(RUN, {name: values})
    assert column.align == align


def test_a_subject_links_to_its_item_and_texts_have_the_language_of_their_row() -> None:
    columns = {column.name: column for column in ItemColumns().build(RUN, VALUES)}
    subject = columns["subject"].cell(ROW)
    assert (subject.href, subject.lang) == ("/benchmarks/starter/items/P30-3/?run=7&wording=2", "fr")
    assert (columns["answer"].cell(ROW).lang, columns["relation"].cell(ROW).lang) == ("fr", "")
