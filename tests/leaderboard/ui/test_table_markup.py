"""The HTML of the rows and the column heads of tables."""

from typing import Any

import pytest
from django.http import QueryDict

from leaderboard.ui import cells
from leaderboard.ui.markup import heads_html, help_html, rows_html, sort_links_html
from leaderboard.ui.tables import Column, Table, TableView, view

HOSTILE = """"'><script>alert(1)</script>&"""


def shown(columns: list[Column[Any]], rows: list[Any], query: str = "", **options: Any) -> TableView:
    return view(Table("t", "Letters", columns, rows, **options), QueryDict(query))


def column(name: str = "a", title: str = "A", align: str = "", **options: Any) -> Column[Any]:
    return Column(name, title, lambda row: cells.text(row), align=align, **options)


def test_the_column_that_names_the_rows_holds_their_heads() -> None:
    html = rows_html(shown([column(align="head"), column("b", "B", "number")], ["x"]))
    head, data = html.split("</th>")
    assert head == '<tr role="row"><th role="rowheader" scope="row" class="head"><span class="text">x</span>'
    assert data == '<td role="cell" class="number" data-label="B"><span class="text">x</span></td></tr>'


def test_an_empty_cell_is_marked_so_that_cards_leave_it_out() -> None:
    html = rows_html(shown([column(align="head"), column("b", "B", "number")], ["x", ""]))
    assert html.count('class="number empty"') == 1


def test_cells_of_a_folded_column_are_marked_so_that_narrow_screens_can_fold_them() -> None:
    table = shown([column(align="head"), column("b", "B", "number", folded=True)], ["x"])
    assert rows_html(table).count('class="number folded"') == 1
    assert table.is_folded
    assert not shown([column(align="head"), column("b", "B")], ["x"]).is_folded


def test_rows_have_their_band_as_class_and_their_heading_above_the_first_of_them() -> None:
    html = rows_html(
        shown([column(), column("b", "B")], ["x", "y"], heading=lambda row: "H", band=lambda row: "pinned")
    )
    assert html.count('<tr role="row" class="pinned">') == 2
    assert html.startswith(
        '<tr role="row" class="heading"><th role="rowheader" scope="colgroup" colspan="2">H</th></tr>\n'
    )
    assert html.count(">H<") == 1


def test_a_head_links_to_the_other_order_and_says_the_present_one() -> None:
    html = heads_html(shown([column(align="number")], ["x"], "t-sort=-a"))
    assert 'data-column="a" class="number" aria-sort="descending"' in html
    assert '<a href="?t-sort=a#table-t">A</a>' in html


@pytest.mark.parametrize(
    ("title", "shown_title"),
    [
        ("Accuracy", "Accuracy"),
        ("In top 1", "In top~1"),
        ("Within 15 tokens", "Within 15~tokens"),
        ("Public and Industrial Facilities", "Public~and Industrial~Facilities"),
    ],
)
def test_a_head_takes_two_lines_at_most(title: str, shown_title: str) -> None:
    html = heads_html(shown([column(title=title)], ["x"]))
    assert f">{shown_title.replace('~', chr(0xA0))}</a>" in html


def test_a_table_that_cannot_be_sorted_has_heads_without_links() -> None:
    html = heads_html(shown([column()], ["x"], sortable=False))
    assert '<span class="column-head">A </span>' in html


def test_a_button_opens_the_help_of_its_column() -> None:
    table = shown([column(), column("b", "B", help="The second.", methods_heading="comparing/#ranks")], ["x"])
    assert heads_html(table).count("<button") == 1
    assert 'popovertarget="help-t-2" title="The second." aria-label="What “B” means">?</button>' in heads_html(table)
    assert help_html(table) == (
        '<div class="column-help" id="help-t-2" popover><strong>B</strong><p>The second.</p>'
        '<p><a href="/methods/comparing/#ranks">How it is computed</a></p></div>\n'
    )


def test_narrow_screens_sort_by_the_columns_of_names_and_figures() -> None:
    html = sort_links_html(shown([column("a", "A"), column("b", "B", "number")], ["x"], "t-sort=b"))
    assert html == (
        '<span class="column-head">'
        '<a href="?t-sort=-b#table-t" aria-current="true" data-direction="ascending">B</a> </span>'
    )


@pytest.mark.parametrize("make", [rows_html, heads_html, help_html, sort_links_html])
def test_text_of_strangers_stays_text(make: Any) -> None:
    hostile = column(title=HOSTILE, align="head", help=HOSTILE)
    html = make(shown([hostile, column("b", HOSTILE, "number")], [HOSTILE], heading=lambda row: HOSTILE))
    assert "&lt;script&gt;" in html
    assert "<script" not in html
    assert HOSTILE not in html
