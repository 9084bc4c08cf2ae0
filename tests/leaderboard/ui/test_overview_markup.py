"""The HTML of the overview's rows."""

from typing import Any

from django.http import QueryDict

from leaderboard.ui.cells import Bar, Cell
from leaderboard.ui.markup import overview_rows_html
from leaderboard.ui.tables import Column, Table, view

HOSTILE = """"'><script>alert(1)</script>&"""
NAMED = Cell("org/a", "org/a", "/models/org/a/", pieces=("org/", "a", ""))


def rows(name: Cell, figure: Cell, starts: tuple[str, ...] = ()) -> str:
    columns: list[Column[Any]] = [
        Column("model", "Model", lambda row: name),
        Column("facts", "Facts", lambda row: figure, align="score"),
    ]
    return overview_rows_html(view(Table("overview", "", columns, [0]), QueryDict()), starts)


def test_a_model_has_a_tick_that_compares_it_and_a_link() -> None:
    html = rows(NAMED, Cell(None, ""))
    assert '<input type="checkbox" name="m" value="org/a" form="compare" aria-label="Compare org/a">' in html
    assert '<a href="/models/org/a/" title="org/a"><span class="org">org/</span>a</a>' in html


def test_a_model_without_a_page_has_a_note_in_place_of_the_link() -> None:
    assert '<span title="as named"><span class="org"></span>a</span>' in rows(
        Cell("a", "a", note="as named", pieces=("", "a", "")), Cell(None, "")
    )


def test_what_sets_weights_apart_stands_behind_the_name_and_is_no_part_of_the_id() -> None:
    html = rows(Cell("org/a (Q4_1)", "org/a (Q4_1)", "/models/org/a/", pieces=("org/", "a", "Q4_1")), Cell(None, ""))
    assert 'value="org/a" form="compare" aria-label="Compare org/a (Q4_1)"' in html
    assert 'title="org/a (Q4_1)"><span class="org">org/</span>a <span class="weights">Q4_1</span></a>' in html


def test_a_figure_leads_to_its_run_and_has_a_bar() -> None:
    html = rows(NAMED, Cell(0.5, "0.500", "/runs/1/", "n", Bar(25), "published"), ("facts",))
    assert html.endswith(
        '<td class="score first" data-label="Facts">'
        '<a class="published" href="/runs/1/" title="n">0.500</a>'
        '<span class="visually-hidden">&nbsp;published</span>'
        '<svg aria-hidden="true"><rect class="published" width="25.00%" height="100%" /></svg></td></tr>'
    )


def test_a_figure_among_the_best_is_said_to_be_one() -> None:
    html = rows(NAMED, Cell(0.5, "0.500", "/runs/1/", "n", Bar(25), "published best"))
    assert '<a class="published best" ' in html
    assert '<span class="visually-hidden">&nbsp;published, best</span>' in html


def test_a_benchmark_without_a_figure_has_an_empty_cell_or_words() -> None:
    assert rows(NAMED, Cell(0, "")).endswith('<td class="score empty"></td></tr>')
    assert rows(NAMED, Cell("w", "waiting", note="soon")).endswith(
        '<td class="score" data-label="Facts" title="soon">waiting</td></tr>'
    )


def test_text_of_strangers_stays_text_and_hidden_characters_are_written_out() -> None:
    name = HOSTILE + "\u202e"
    figures = (Cell(0.5, name, name, name, None, name), Cell(None, name, note=name))
    for figure in figures:
        for address in ("", name):
            html = rows(Cell(name, name, address, name, pieces=(name, name, name)), figure)
            assert "<script" not in html
            assert HOSTILE not in html
            assert "\\u202e" in html
