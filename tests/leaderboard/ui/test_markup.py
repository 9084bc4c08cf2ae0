"""The HTML of cells, and of the rows and the column heads of tables."""

from dataclasses import fields, replace
from typing import Any

import pytest
from django.http import QueryDict

from leaderboard.ui import cells
from leaderboard.ui.cells import Bar, Cell, Dot
from leaderboard.ui.markup import (
    bar_html,
    cell_html,
    heads_html,
    help_html,
    language_attributes,
    rows_html,
    sort_links_html,
    svg_length,
)
from leaderboard.ui.tables import Column, Table, TableView, view

HOSTILE = """"'><script>alert(1)</script>&"""
ESCAPED = "&quot;&#x27;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;"
# Every field of a cell that can hold a stranger's text, with such a text.
TEXTS: dict[str, Any] = {
    **dict.fromkeys(("text", "href", "note", "kind", "lang", "spoken", "uncertainty", "mark"), HOSTILE),
    "pieces": (HOSTILE, HOSTILE, HOSTILE),
    "several": ((HOSTILE, HOSTILE),),
}


@pytest.mark.parametrize("field", TEXTS)
@pytest.mark.parametrize("bar", [None, Bar(50, 40, 60)])
def test_text_of_strangers_stays_text(field: str, bar: Bar | None) -> None:
    html = cell_html(replace(Cell("a", "a", bar=bar), **{field: TEXTS[field]}))
    assert ESCAPED in html
    assert HOSTILE not in html
    assert "<script" not in html


def test_every_field_of_a_cell_with_text_is_among_the_hostile_ones() -> None:
    assert {field.name for field in fields(Cell)} - TEXTS.keys() == {"value", "bar", "dots"}


def test_a_cell_has_only_the_attributes_that_it_needs() -> None:
    assert cell_html(Cell("a", "a")) == '<span class="text">a</span>'
    assert cell_html(Cell("a", "a", lang="ko")) == '<span class="text" lang="ko" dir="auto">a</span>'
    assert cell_html(Cell("a", "a", note="n")) == '<span class="text" title="n">a</span>'
    assert (
        cell_html(Cell("a", "a", note="n", lang="ko")) == '<span class="text" lang="ko" dir="auto" title="n">a</span>'
    )


def test_a_long_text_is_repeated_in_its_tooltip() -> None:
    text = "a" * (cells.LONGEST + 1)
    assert cell_html(Cell(text, text)) == f'<span class="text" title="{text}">{text}</span>'


def test_a_cell_with_an_address_is_a_link() -> None:
    assert cell_html(Cell("a", "a", "/a/?b=1&c=2")) == '<a class="text" href="/a/?b=1&amp;c=2">a</a>'


def test_the_middle_of_three_pieces_is_highlighted() -> None:
    assert (
        cell_html(Cell("a dog barks", "a dog barks", pieces=("a ", "dog", " barks")))
        == '<span class="text">a <mark>dog</mark> barks</span>'
    )


def test_several_names_are_a_list_with_their_remarks() -> None:
    html = cell_html(cells.several([("Rome", "12"), ("Oslo", "3")], lang="it"))
    first, second = html.split("</li><li>")
    assert first == '<ul class="several"><li><span lang="it" dir="auto">Rome</span> <span class="quiet">12</span>'
    assert second == '<span lang="it" dir="auto">Oslo</span> <span class="quiet">3</span></li></ul>'


def test_a_score_has_mark_half_width_and_what_is_read_out_in_the_order_of_reading() -> None:
    cell = replace(cells.score(0.5, 0.4, 0.6), mark="measured", spoken="all of it")
    parts = (
        '<span class="mark measured" title="',
        ">0.500<",
        '<svg class="bar measured" aria-hidden="true">',  # is not read out, and begins where the bars of all rows do
        '<span class="uncertainty"> ± 0.100</span>',
        ">all of it<",
    )
    places = [cell_html(cell).index(part) for part in parts]
    assert places == sorted(places)


def test_a_bar_has_the_lines_whose_ends_are_known() -> None:
    def lines(bar: Bar) -> list[str]:
        return [kind for kind in ("chance", "thin", "interval", "length") if f'class="{kind}"' in bar_html(bar)]

    assert lines(Bar(50)) == []
    assert lines(Bar(50, 40)) == []
    assert lines(Bar(50, 40, 60, 30, 70, 0)) == ["chance", "thin", "interval"]


def test_a_bar_puts_intervals_dot_and_chance_at_their_places() -> None:
    html = bar_html(Bar(50, 40, 60, chance=25))
    assert '<line class="chance" x1="25.00%" x2="25.00%" y1="10%" y2="90%" />' in html
    assert '<line class="interval" x1="40.00%" x2="60.00%" y1="50%" y2="50%" />' in html
    assert html.endswith('<circle class="dot" cx="50.00%" cy="50%" r="3" /></svg>')


def test_a_share_is_a_line_as_long_as_it_without_a_dot() -> None:
    html = cell_html(cells.share(0.25))
    assert '<line class="length" x1="0.00%" x2="25.00%" y1="50%" y2="50%" />' in html
    assert "circle" not in html


def test_a_strip_has_a_dot_for_each_value_hollow_where_it_is_published() -> None:
    html = cell_html(Cell(0.5, "0.500", dots=(Dot(10, False), Dot(20, True))))
    assert '<circle class="dot" cx="10.00%" />' in html
    assert '<circle class="dot hollow" cx="20.00%" />' in html


def test_text_in_another_language_is_marked_with_it() -> None:
    assert language_attributes("ar") == 'lang="ar" dir="auto"'
    assert language_attributes("") == ""


def test_a_length_on_a_bar_is_a_percentage_with_two_digits() -> None:
    assert svg_length(100 / 3) == "33.33%"


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
def test_text_of_strangers_stays_text_in_rows_and_heads(make: Any) -> None:
    hostile = column(title=HOSTILE, align="head", help=HOSTILE)
    html = make(shown([hostile, column("b", HOSTILE, "number")], [HOSTILE], heading=lambda row: HOSTILE))
    assert "&lt;script&gt;" in html
    assert "<script" not in html
    assert HOSTILE not in html
