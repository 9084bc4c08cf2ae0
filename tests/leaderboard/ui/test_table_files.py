"""Tables as files: CSV that spreadsheets open safely, and JSON."""

import json
from collections.abc import Iterator

import pytest
from django.test import RequestFactory

from leaderboard.ui.table_files import (
    BYTE_ORDER_MARK,
    LINES,
    LOOKED_AT,
    Raw,
    csv_lines,
    json_array,
    rows_response,
    safe,
)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\r=1"])
def test_a_formula_becomes_text(text: str) -> None:
    assert safe(text) == f"'{text}"


@pytest.mark.parametrize("value", ["a=1", " =1", "", -0.5, -3])
def test_other_text_and_negative_numbers_stay_as_they_are(value: Raw) -> None:
    assert safe(value) == value


def test_a_missing_value_is_empty_and_numbers_are_in_full() -> None:
    assert list(csv_lines(["a", "b"], [[None, 0.1234567890123456]])) == ["a,b\n", ",0.1234567890123456\n"]


def test_text_with_commas_quotes_and_line_breaks_is_quoted() -> None:
    assert list(csv_lines(["a"], [['one, "two"\nthree']])) == ["a\n", '"one, ""two""\nthree"\n']


@pytest.mark.parametrize(
    ("text", "marked"),
    [("Paris", False), ("Łódź, Malmö", False), ("α", True), ("باريس", True), ("北京", True), ("→ − …", False)],
)
def test_only_letters_of_other_scripts_need_a_byte_order_mark(text: str, marked: bool) -> None:
    assert (next(csv_lines(["a"], [[text, 1, None]])) == BYTE_ORDER_MARK) is marked


@pytest.mark.parametrize(("place", "marked"), [(LOOKED_AT - 1, True), (LOOKED_AT, False)])
def test_the_first_rows_decide_about_the_byte_order_mark(place: int, marked: bool) -> None:
    rows = [["باريس" if row == place else "Paris"] for row in range(LOOKED_AT + 1)]
    assert (next(csv_lines(["a"], rows)) == BYTE_ORDER_MARK) is marked


def test_a_sample_decides_about_the_byte_order_mark_and_is_not_written() -> None:
    assert list(csv_lines(["a"], [["Paris"]], sample=[["باريس"]])) == [BYTE_ORDER_MARK, "a\n", "Paris\n"]


def test_rows_are_read_while_lines_are_sent() -> None:
    taken = []

    def rows() -> Iterator[list[int]]:
        for row in range(10 * LOOKED_AT):
            taken.append(row)
            yield [row]

    lines = csv_lines(["a"], rows())
    assert next(lines) == "a\n"
    assert len(taken) == LOOKED_AT


def test_json_has_an_object_for_each_row_with_values_as_they_are() -> None:
    rows: list[list[Raw]] = [["=1", 2, 0.5], ["ä", True, None], ["", float("nan"), float("inf")]]
    answer = rows_response(["a", "b", "c"], rows, RequestFactory().get("/?format=json"))
    assert (answer["Content-Type"], "Content-Disposition" in answer) == ("application/json", False)
    assert json.loads(answer.getvalue()) == [
        {"a": "=1", "b": 2, "c": 0.5},
        {"a": "ä", "b": True, "c": None},
        {"a": "", "b": None, "c": None},
    ]


@pytest.mark.parametrize("number", [0, 1, LINES, LINES + 1])
def test_json_of_any_length_is_one_array(number: int) -> None:
    assert json.loads("".join(json_array(["n"], ([row] for row in range(number))))) == [{"n": n} for n in range(number)]
