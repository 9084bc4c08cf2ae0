"""The HTML of the rows and of the column heads of tables, beside what their templates say once for each table."""

from functools import lru_cache
from html import escape

from django.urls import reverse
from django.utils.safestring import SafeString

from leaderboard.display.cell_markup import cell_html
from leaderboard.display.cells import Cell
from leaderboard.display.tables import Column, Header, TableLine, TableView

UNBROKEN = "\N{NO-BREAK SPACE}"


def rows_html(view: TableView) -> SafeString:
    """Return the rows of a table; the column that names them holds their heads."""
    return SafeString("\n".join(_row_html(line, view.head) for line in view.lines))


def heads_html(view: TableView) -> SafeString:
    """Return the heads of the columns: links that sort by them, where the table can be sorted, and their help."""
    heads = (_head_html(head, number, view.table.name) for number, head in enumerate(view.headers, start=1))
    return SafeString("\n".join(heads))


def sort_links_html(view: TableView) -> SafeString:
    """Return the links that sort a table where its column heads are hidden, for columns of figures and of names."""
    links = (
        _sort_link_html(head, number, view.table.name)
        for number, head in enumerate(view.headers, start=1)
        if head.column.align
    )
    return SafeString("".join(links))


def help_html(view: TableView) -> SafeString:
    """Return what the buttons beside the heads of columns open, by touch and by keyboard."""
    methods = reverse("methods")
    explained = (
        (number, head.column)
        for number, head in enumerate(view.headers, start=1)
        if head.column.help or head.column.paragraph
    )
    return SafeString(
        "".join(_help(column, _help_id(view.table.name, number), methods) for number, column in explained)
    )


def _row_html(line: TableLine, head: Column[object]) -> str:
    above = ""
    if line.heading:
        words = f'<th role="rowheader" scope="colgroup" colspan="{len(line.cells)}">{escape(line.heading)}</th>'
        above = f'<tr role="row" class="heading">{words}</tr>\n'
    band = f' class="{escape(line.band)}"' if line.band else ""
    cells = (_row_head(column, cell) if column is head else _data_cell(column, cell) for column, cell in line.cells)
    return f'{above}<tr role="row"{band}>{"".join(cells)}</tr>'


def _row_head(column: Column[object], cell: Cell) -> str:
    return f'<th role="rowheader" scope="row" class="{escape(column.align)}">{cell_html(cell)}</th>'


def _data_cell(column: Column[object], cell: Cell) -> str:
    return f"{_cell_tag(column.align, column.title, column.folded, cell.is_empty)}{cell_html(cell)}</td>"


@lru_cache(maxsize=512)  # it is the same in all rows of a column
def _cell_tag(align: str, title: str, folded: bool, empty: bool) -> str:
    classes = f"{escape(align)}{' empty' if empty else ''}{' folded' if folded else ''}"
    return f'<td role="cell" class="{classes}" data-label="{escape(title)}">'


def _head_html(head: Header, number: int, table: str) -> str:
    column, title = head.column, _in_two_lines(head.column.title)
    align = f' class="{escape(column.align)}"' if column.align else ""
    direction = f' aria-sort="{escape(head.direction)}"' if head.direction else ""
    words = f'<a href="{_sorted(head, table)}">{title}</a>' if head.href else title
    return (
        f'<th role="columnheader" scope="col" data-column="{escape(column.name)}"{align}{direction}>'
        f'<span class="column-head">{words} {_help_button(column, number, table)}</span></th>'
    )


def _in_two_lines(title: str) -> str:
    """Return a title that breaks at one place only, the one that leaves it narrowest, where it does not fit a line."""
    words = title.split(" ")
    breaks = ((UNBROKEN.join(words[:place]), UNBROKEN.join(words[place:])) for place in range(1, len(words)))
    return escape(" ".join(min(breaks, key=lambda lines: max(map(len, lines)), default=(title,))))


def _sort_link_html(head: Header, number: int, table: str) -> str:
    state = f' aria-current="true" data-direction="{escape(head.direction)}"' if head.direction else ""
    link = f'<a href="{_sorted(head, table)}"{state}>{escape(head.column.title)}</a>'
    return f'<span class="column-head">{link} {_help_button(head.column, number, table)}</span>'


def _sorted(head: Header, table: str) -> str:
    return escape(f"{head.href}#table-{table}")


def _help_button(column: Column[object], number: int, table: str) -> str:
    """Return a button that opens the help of a column, nothing for a column without help."""
    if not (column.help or column.paragraph):
        return ""
    tooltip = f' title="{escape(column.help)}"' if column.help else ""
    return (
        f'<button class="help" type="button" popovertarget="{_help_id(table, number)}"{tooltip}'
        f' aria-label="What “{escape(column.title)}” means">?</button>'
    )


def _help_id(table: str, number: int) -> str:
    return f"help-{escape(table)}-{number}"


def _help(column: Column[object], identifier: str, methods: str) -> str:
    words = f"<p>{escape(column.help)}</p>" if column.help else ""
    address = escape(f"{methods}#{column.paragraph}")
    link = f'<p><a href="{address}">How it is computed</a></p>' if column.paragraph else ""
    title = f"<strong>{escape(column.title)}</strong>"
    return f'<div class="column-help" id="{identifier}" popover>{title}{words}{link}</div>\n'
