"""CSV: safe in a spreadsheet, exact in a program."""

from collections.abc import Iterator

import pytest
from django.test import RequestFactory

from leaderboard.ui import cells
from leaderboard.ui.csv_files import BYTE_ORDER_MARK, LOOKED_AT, csv_lines, csv_response, safe, table_response
from leaderboard.ui.tables import Column, Table

NAMES = [Column[str]("name", "Name", cells.text), Column[str]("length", "", lambda name: cells.number(len(name)))]


def names_table(*rows: str) -> Table[str]:
    return Table(name="names", caption="Names", columns=NAMES, rows=rows, main=True, page_size=2)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\r=1"])
def test_a_formula_becomes_text(text: str) -> None:
    assert safe(text) == f"'{text}"


@pytest.mark.parametrize("value", ["a=1", " =1", "", -0.5, -3])
def test_other_text_and_negative_numbers_stay_as_they_are(value: cells.Raw) -> None:
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


def test_a_response_names_its_file() -> None:
    response = csv_response(["a"], [["ä"]], RequestFactory().get("/runs/4/items/"))
    assert response["Content-Disposition"] == 'attachment; filename="clozeboard-runs-4-items.csv"'
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response.getvalue() == "a\nä\n".encode()


@pytest.mark.parametrize(("query", "names"), [("sort=-name", "cba"), ("page=2", "c"), ("", "bac")])
def test_a_table_is_exported_in_the_order_of_the_page(query: str, names: str) -> None:
    response = table_response(names_table("b", "a", "c"), RequestFactory().get(f"/?{query}"))
    assert response.content.decode() == "".join(["name,length\n", *(f"{name},1\n" for name in names)])
    assert response["Content-Disposition"] == 'attachment; filename="clozeboard-names.csv"'


def test_a_table_with_an_export_of_its_own_exports_that() -> None:
    table = Table("all", "All", NAMES, rows=["abc"], export=names_table("a", "b", "c"))
    assert table_response(table, RequestFactory().get("/")).content.decode() == "name,length\na,1\nb,1\nc,1\n"
