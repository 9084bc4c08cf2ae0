"""The columns of items, which depend on the probe."""

import pytest

from leaderboard.models import Benchmark, Run
from leaderboard.probes.items import ColumnValues, ItemColumns, item_url, right_or_wrong, stored_text

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


def names(columns: ItemColumns, values: ColumnValues = VALUES, **shown: bool) -> list[str]:
    return [column["name"] for column in columns.shown(RUN, values, **shown)]


def test_columns_come_in_the_probes_order_then_the_place_then_everything_else() -> None:
    assert names(ItemColumns(("correct", "subject", "answer_label", "not_stored")), everything=True) == [
        *("correct", "subject", "answer"),
        *("relation", "template", "index"),
        *("prediction", "margin", "language", "domain"),
    ]


def test_the_csv_has_the_labels_of_answers_in_place_of_their_numbers() -> None:
    columns = {column["name"]: column for column in ItemColumns().shown(RUN, VALUES)}
    assert columns["answer"]["stored"] == "answer_label"
    assert "answer_label" not in columns


def test_a_page_shows_the_columns_that_tell_rows_apart() -> None:
    assert names(ItemColumns()) == ["subject", "answer", "prediction", "correct", "relation", "template", "index"]


def test_a_page_with_questions_leaves_out_the_numbers_of_wording_and_question() -> None:
    assert names(ItemColumns(), questions=True) == ["subject", "answer", "prediction", "correct", "relation"]
    assert ItemColumns().shown(RUN, VALUES, questions=True)[0]["title"] == "Question"


def test_narrow_screens_show_the_question_and_both_answers() -> None:
    columns = ItemColumns().shown(RUN, VALUES)
    assert [column["name"] for column in columns if not column["folded"]] == ["subject", "answer", "prediction"]


def test_a_row_has_the_band_of_its_answer() -> None:
    band = right_or_wrong(RUN)
    assert [band({"correct": correct}) for correct in (True, False, None)] == ["right", "wrong", ""]


def test_a_tag_is_shown_only_where_rows_differ_in_it_and_no_column_that_is_empty_throughout() -> None:
    for values, is_shown in (({0}, False), ({0, 1}, True), ({"en"}, False), ({"en", "fr"}, True), ({"en", None}, True)):
        assert names(ItemColumns(()), {"language": values}) == ["language"] * is_shown, values
    for values in ({None}, {""}, {None, ""}):
        assert names(ItemColumns(("rank",)), {"rank": values}) == [], values


def test_all_columns_can_be_shown_except_for_those_that_only_the_file_has() -> None:
    columns = names(ItemColumns(), everything=True)
    assert {"margin", "language", "domain"} < set(columns)
    assert "scores" not in columns


def test_columns_that_only_the_file_has_are_not_read() -> None:
    assert ItemColumns(file_only=("scores", "exact")).listed(["subject", "scores", "rank"]) == ["subject", "rank"]


def test_titles_of_the_probe_take_the_place_of_the_usual_ones() -> None:
    columns = ItemColumns(titles=lambda run, values: {"correct": f"In top {run.pk}"}).shown(
        RUN, VALUES, everything=True
    )
    titles = {column["name"]: column["title"] for column in columns}
    assert (titles["correct"], titles["prediction"], titles["index"]) == (
        "In top 7",
        "Model's answer",
        "Number of question",
    )
    assert titles["domain"] == "Domain"


def test_a_column_has_the_help_of_the_probe_or_the_usual_one() -> None:
    shown = ItemColumns(help={"correct": "By k."}).shown(RUN, VALUES, everything=True)
    columns = {column["name"]: column["help"] for column in shown}
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
    (column,) = ItemColumns().shown(RUN, {name: values}, everything=True)
    assert column["align"] == align


def test_a_subject_links_to_its_item_and_answers_have_the_language_of_their_row() -> None:
    assert item_url(RUN, ROW) == "/benchmarks/starter/items/P30-3/?run=7&wording=2"
    columns = {column["name"]: column["is_text"] for column in ItemColumns().shown(RUN, VALUES)}
    assert (columns["subject"], columns["answer"], columns["relation"]) == (True, True, False)


def test_wordings_and_questions_count_from_one_and_groups_have_titles() -> None:
    shown = [stored_text(name, ROW[name], {"P30": "continent"}) for name in ("template", "index", "relation")]
    assert shown == ["2", "4", "continent"]
    assert [stored_text("rank", value, {}) for value in (None, 3, 0.5, True, ["a", "b"])] == [
        *("–", "3", "0.50", "yes", "a; b"),
    ]
