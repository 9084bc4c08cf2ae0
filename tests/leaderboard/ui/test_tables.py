"""Tables: their rows and links, columns that depend on what is chosen, and the files of them."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.http import QueryDict
from django.test import RequestFactory

from leaderboard.models import Benchmark, Model, Run, Score
from leaderboard.ui import cells
from leaderboard.ui.charts.basics import Point
from leaderboard.ui.charts.scaling_chart import SizedScore
from leaderboard.ui.links import link, page_links, page_number
from leaderboard.ui.table_files import (
    BYTE_ORDER_MARK,
    LINES,
    LOOKED_AT,
    csv_lines,
    json_array,
    rows_response,
    safe,
    table_response,
)
from leaderboard.ui.tables import (
    Column,
    Table,
    best_and_largest,
    citation,
    interval_columns,
    score_points,
    select,
    source,
    summary,
    view,
)

Entry = tuple[str, float | None, str]  # its name, its score, its band
NAME = Column[Entry]("name", "Name", lambda model: cells.text(model[0]), align="head")
FIGURE = Column[Entry]("score", "Score", lambda model: cells.number(model[1]), align="number")
COMMIT = Column[Entry]("commit", "", lambda model: cells.text("c0ffee"), shown=False)
MODELS: list[Entry] = [
    ("b", 0.2, "ranked"),
    ("c", None, "ranked"),
    ("a", 0.5, "ranked"),
    ("e", None, "published"),
    ("d", 0.9, "published"),
]


def models_table(**options: Any) -> Table[Entry]:
    settings = {"columns": [NAME, FIGURE, COMMIT], "rows": MODELS, "main": True} | options
    return Table(name="models", caption="Models", **settings)


def names(rows: list[Entry]) -> str:
    return "".join(name for name, *_ in rows)


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("", "bcaed"),
        ("sort=score", "bacde"),
        ("sort=-score", "abcde"),
        ("sort=name", "abcde"),
        ("sort=-name", "cbaed"),
        ("sort=commit", "bcaed"),
        ("sort=no-such-column", "bcaed"),
    ],
)
def test_rows_are_sorted_within_their_bands(query: str, order: str) -> None:
    table = models_table(band=lambda model: model[2])
    assert names(table.ordered(QueryDict(query))) == order


@pytest.mark.parametrize(("query", "order"), [("sort=score", "badce"), ("sort=-score", "dabce")])
def test_missing_values_come_last_in_either_direction(query: str, order: str) -> None:
    assert names(models_table().ordered(QueryDict(query))) == order


def test_a_key_sorts_where_the_value_of_the_cell_does_not() -> None:
    by_length = replace(NAME, key=lambda model: -len(model[0]))
    table = models_table(columns=[by_length], rows=[("a", None, ""), ("ccc", None, ""), ("bb", None, "")])
    assert [name for name, *_ in table.ordered(QueryDict("sort=name"))] == ["ccc", "bb", "a"]


def test_a_table_that_cannot_be_sorted_keeps_its_order_and_has_no_links_to_sort() -> None:
    table = models_table(sortable=False)
    assert names(table.ordered(QueryDict("sort=name"))) == "bcaed"
    assert [header.href for header in view(table, QueryDict()).headers] == ["", ""]


def test_parameters_of_a_table_that_is_not_the_main_one_have_its_name() -> None:
    table = models_table(main=False)
    assert names(table.ordered(QueryDict("models-sort=name&sort=-name"))) == "abcde"
    assert view(table, QueryDict()).headers[0].href == "?models-sort=name"


def test_headings_sort_numbers_from_the_highest_first_and_words_from_a_to_z() -> None:
    headers = view(models_table(), QueryDict("page=2&kind=causal")).headers
    assert [header.href for header in headers] == ["?kind=causal&sort=name", "?kind=causal&sort=-score"]


@pytest.mark.parametrize(
    ("query", "directions", "href"),
    [
        ("sort=score", ["", "ascending"], "?sort=-score"),
        ("sort=-score", ["", "descending"], "?sort=score"),
    ],
)
def test_the_heading_of_the_sorted_column_turns_the_order_round(query: str, directions: list[str], href: str) -> None:
    headers = view(models_table(), QueryDict(query)).headers
    assert [header.direction for header in headers] == directions
    assert headers[1].href == href


def test_the_order_in_which_rows_come_is_shown_and_can_be_turned_round() -> None:
    headers = view(models_table(order="-score"), QueryDict("kind=causal")).headers
    assert [header.direction for header in headers] == ["", "descending"]
    assert headers[1].href == "?kind=causal&sort=score"
    assert names(models_table(order="-score").ordered(QueryDict())) == "bcaed"


def test_a_page_leaves_out_columns_that_are_empty_in_all_its_rows_and_csv_keeps_them() -> None:
    table = models_table(rows=[("c", None, ""), ("e", None, "")])
    assert [header.column.name for header in view(table, QueryDict()).headers] == ["name"]
    assert [len(row) for row in table.cells(table.rows)] == [3, 3]


def test_the_head_column_names_the_rows_and_else_the_first_one() -> None:
    assert view(models_table(columns=[FIGURE, NAME]), QueryDict()).head is NAME
    assert view(models_table(columns=[FIGURE, COMMIT]), QueryDict()).head is FIGURE


@pytest.mark.parametrize(("columns", "cards", "shown"), [(3, True, False), (4, True, True), (4, False, False)])
def test_only_a_table_with_many_columns_becomes_cards(columns: int, cards: bool, shown: bool) -> None:
    table = models_table(columns=[replace(NAME, name=str(number)) for number in range(columns)], cards=cards)
    assert view(table, QueryDict()).cards is shown


def test_a_column_leads_to_the_paragraph_of_its_own_or_of_its_name() -> None:
    accuracy = replace(NAME, name="accuracy")
    assert (replace(accuracy, methods_heading="ties").paragraph, NAME.paragraph) == ("ties", "")
    assert accuracy.paragraph == "multiple-choice/#accuracy"


def test_a_page_leaves_out_columns_that_only_csv_has() -> None:
    table = models_table()
    lines = view(table, QueryDict()).lines
    assert [column.name for column, _ in lines[0].cells] == ["name", "score"]
    assert [cell.value for cell in next(table.cells(table.rows))] == ["b", 0.2, "c0ffee"]


@pytest.mark.parametrize(("query", "page"), [("", "bc"), ("page=2", "ae"), ("page=3", "d"), ("page=9", "d")])
def test_a_page_has_its_rows(query: str, page: str) -> None:
    assert names(select(models_table(page_size=2), QueryDict(query), all_pages=False)) == page


@pytest.mark.parametrize(("query", "rows"), [("", "bcaed"), ("page=2", "ae")])
def test_csv_has_all_pages_unless_one_is_asked_for(query: str, rows: str) -> None:
    assert names(select(models_table(page_size=2), QueryDict(query), all_pages=True)) == rows


@pytest.mark.parametrize(("query", "page"), [("", "edb"), ("page=2", "edc"), ("page=3", "eda"), ("page=4", "eda")])
def test_pinned_rows_are_first_on_every_page_and_take_no_room_there(query: str, page: str) -> None:
    table = models_table(band=lambda model: model[2], pinned="published", page_size=1)
    assert names(select(table, QueryDict(query), all_pages=False)) == page
    assert [number.title for number in view(table, QueryDict(query)).pages] == ["1", "2", "3"]


@pytest.mark.parametrize(("rows", "empty"), [(MODELS, False), (MODELS[3:], True), ([], True)])
def test_a_table_of_pinned_rows_only_is_empty(rows: list[Entry], empty: bool) -> None:
    table = models_table(band=lambda model: model[2], pinned="published", rows=rows)
    assert view(table, QueryDict()).empty is empty


def test_the_link_to_csv_keeps_the_order_and_drops_the_page() -> None:
    assert view(models_table(), QueryDict("sort=name&page=2")).csv == "?sort=name&format=csv"
    assert view(models_table(main=False), QueryDict("models-page=2")).csv == "?format=csv&table=models"


@pytest.mark.parametrize(
    ("shown", "scale"),
    [
        ([cells.score(0.5, chance=0.25), cells.score(0.7, chance=0.25)], "0 to 1, chance 0.25"),
        ([cells.score(0.5, chance=0.25), cells.score(0.7, chance=0.5)], "0 to 1"),
        ([cells.share(0.5)], "0 to 1"),
        ([cells.number(3.0)], ""),
    ],
)
def test_the_head_of_a_column_states_where_its_bars_begin_and_end(shown: list[cells.Cell], scale: str) -> None:
    rows = [(cell.text, None, str(place)) for place, cell in enumerate(shown)]
    column = Column[Entry]("bars", "Bars", lambda row: shown[int(row[2])])
    assert view(models_table(columns=[NAME, column], rows=rows), QueryDict()).headers[1].scale == scale


@pytest.mark.parametrize(
    ("text", "page"),
    [("", 1), ("1", 1), ("2", 2), ("3", 3), ("4", 3), ("9" * 5000, 1), ("two", 1), ("1.5", 1), ("0", 1), ("-1", 1)],
)
def test_a_number_above_the_last_page_is_the_last_and_any_other_text_is_the_first(text: str, page: int) -> None:
    assert page_number(text, 5, 2) == page


def test_an_empty_list_has_one_page() -> None:
    assert page_number("7", 0, 50) == 1
    assert page_links(QueryDict(), "page", 0, 50) == []


@pytest.mark.parametrize(
    ("pages", "current", "titles"),
    [
        (1, 1, ""),
        (2, 1, "[1] 2"),
        (6, 1, "[1] 2 3 4 5 6"),
        (7, 1, "[1] 2 3 … 7"),
        (20, 1, "[1] 2 3 … 20"),
        (20, 4, "1 2 3 [4] 5 6 … 20"),
        (20, 5, "1 2 3 4 [5] 6 7 … 20"),
        (20, 6, "1 … 4 5 [6] 7 8 … 20"),
        (20, 16, "1 … 14 15 [16] 17 18 19 20"),
        (20, 20, "1 … 18 19 [20]"),
    ],
)
def test_page_links_leave_out_two_pages_or_more(pages: int, current: int, titles: str) -> None:
    links = page_links(QueryDict(f"page={current}"), "page", pages * 10, 10)
    assert " ".join(f"[{link.title}]" if link.current else link.title for link in links) == titles


def test_page_links_keep_the_rest_of_the_query_string_and_an_ellipsis_links_nowhere() -> None:
    links = page_links(QueryDict("kind=causal&models-page=9"), "models-page", 200, 10)
    assert links[0] == ("1", "?kind=causal&models-page=1", False)
    assert links[1] == ("…", "", False)


def test_a_link_sets_and_removes_parameters_and_keeps_the_others() -> None:
    query = QueryDict("kind=causal&page=2&columns=a&columns=b")
    assert link(query, page=None, sort="name") == "?kind=causal&columns=a&columns=b&sort=name"
    assert query.urlencode() == "kind=causal&page=2&columns=a&columns=b"


BENCHMARK = Benchmark(slug="tiny", probe="multiple_choice")
SCORE = Score(metric="accuracy", value=0.5, low=0.4, high=0.6, n=10)


def run(hub_id: str = "org/a", **fields: object) -> Run:
    return Run(pk=7, model=Model(hub_id=hub_id), benchmark=BENCHMARK, **fields)


def published(authors: str, year: int | None = 2024) -> Run:
    record = {"source": {"authors": authors, "year": year}} if authors else {}
    return run(
        provenance=Run.Provenance.PUBLISHED,
        reference="Table 1 of a paper",
        reference_url="https://example.org/paper",
        provenance_record=record,
    )


def test_only_csv_has_a_column_for_each_end_of_both_intervals() -> None:
    columns = interval_columns(lambda score: score)
    assert [column.name for column in columns] == ["low", "high", "cluster_low", "cluster_high"]
    assert not any(column.shown for column in columns)
    score = Score(metric="accuracy", value=0.5, low=0.4, high=0.6, n=10, cluster_low=0.3, cluster_high=0.7)
    assert [column.cell(score).value for column in columns] == [0.4, 0.6, 0.3, 0.7]
    assert {column.cell(None).value for column in columns} == {None}


def test_a_point_leads_where_its_label_does() -> None:
    (point,) = score_points([("a", SCORE)], href=lambda label: f"/{label}/")
    assert point.href == "/a/"


def test_a_published_figure_is_cited_in_short_with_the_whole_reference_in_csv() -> None:
    cell = source(published("Ada Lovelace, Charles Babbage"))
    assert (cell.text, cell.value) == ("published: Lovelace et al. 2024", "published: Table 1 of a paper")
    assert (cell.href, cell.note) == ("https://example.org/paper", "Table 1 of a paper")


def test_a_citation_leaves_out_what_is_not_stored() -> None:
    assert source(published("Ada Lovelace", None)).text == "published: Lovelace"
    assert source(published("")).text == "published: Table 1 of a paper"


def test_scores_without_a_value_are_no_points() -> None:
    points = score_points([("a", SCORE), ("b", None), ("c", Score(value=None, n=0))])
    assert points == [Point("a", 0.5, 0.4, 0.6)]


def test_a_summary_has_the_lowest_and_the_highest_value() -> None:
    points = [Point("b", 0.5), Point("a", 0.25), Point("c", 0.75)]
    assert summary("Accuracy", points) == "Accuracy: from 0.250 (a) to 0.750 (c) over 3 groups."
    assert summary("Accuracy", points[:1]) == "Accuracy: 0.500 (b)."
    assert summary("Accuracy", []) == "Accuracy: nothing was measured."


def test_of_sized_scores_the_best_and_the_largest_are_named() -> None:
    small = SizedScore("small", 0.6, 0.55, 0.65, 10**8, "", True, "/runs/1/")
    large = SizedScore("large", 0.5, None, None, 3 * 10**9, "", True, "/runs/2/")
    assert best_and_largest([large, small]) == "Best: small (100 M), 0.600 ± 0.050. Largest: large (3 B), 0.500."
    assert best_and_largest([large]) == "Best and largest: large (3 B), 0.500."


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
    response = rows_response(["a"], [["ä"]], RequestFactory().get("/runs/4/items/"))
    assert response["Content-Disposition"] == 'attachment; filename="clozeboard-runs-4-items.csv"'
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response.getvalue() == "a\nä\n".encode()


@pytest.mark.parametrize(("query", "names"), [("sort=-name", "cba"), ("page=2", "c"), ("", "bac")])
def test_a_table_is_exported_in_the_order_of_the_page(query: str, names: str) -> None:
    response = table_response(names_table("b", "a", "c"), RequestFactory().get(f"/?{query}"))
    assert response.content.decode() == "".join(["name,length\n", *(f"{name},1\n" for name in names)])
    assert response["Content-Disposition"] == 'attachment; filename="clozeboard-names.csv"'


def test_json_has_an_object_for_each_row_with_values_as_they_are() -> None:
    rows: list[list[cells.Raw]] = [["=1", 2, 0.5], ["ä", True, None], ["", float("nan"), float("inf")]]
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


def test_a_table_with_an_export_of_its_own_exports_that() -> None:
    table = Table("all", "All", NAMES, rows=["abc"], export=names_table("a", "b", "c"))
    assert table_response(table, RequestFactory().get("/")).content.decode() == "name,length\na,1\nb,1\nc,1\n"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ({"title": "A leaderboard", "authors": "Ada Lovelace, contributors", "year": None}, "A leaderboard"),
        ({"title": "A paper", "authors": "Ada Lovelace, Alan Turing", "year": 1950}, "Lovelace et al. 1950"),
        ({}, "Table 1"),
    ],
)
def test_a_source_without_a_year_is_called_by_its_title(source: dict[str, Any], words: str) -> None:
    assert citation(Run(reference="Table 1", provenance_record={"source": source})) == words
