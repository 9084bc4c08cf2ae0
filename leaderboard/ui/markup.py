"""The HTML of cells, of rows and of column heads; pages have too many cells for a template each.

Everything that a cell holds may be a stranger's text: each value is escaped where it enters the HTML.
"""

from functools import lru_cache
from html import escape

from django.urls import reverse
from django.utils.safestring import SafeString

from leaderboard.ui.cells import Bar, Cell
from leaderboard.ui.tables import Column, Header, TableLine, TableView

GROUND = '<line class="ground" x1="0" x2="100%" y1="50%" y2="50%" />'


def cell_html(cell: Cell) -> SafeString:
    """Return the mark, the text or the list of a cell, what is drawn right behind the text, and the interval.

    The bar comes before the interval, so that the bars of a column begin at one place, and beside its figure where the
    interval has a line of its own.
    """
    if cell.several:
        return _list_html(cell)
    parts = [_text_html(cell)]
    if cell.mark:
        parts.insert(0, _mark_html(cell))
    if cell.bar:
        parts.append(bar_html(cell.bar, cell.kind, cell.mark))
    if cell.uncertainty:
        parts.append(f'<span class="uncertainty"> {escape(cell.uncertainty)}</span>')
    if cell.spoken:
        parts.append(f'<span class="visually-hidden">{escape(cell.spoken)}</span>')
    if cell.dots:
        parts.append(_strip_html(cell))
    return SafeString("".join(parts))


def bar_html(bar: Bar, kind: str = "", mark: str = "") -> SafeString:
    """Draw a value and its intervals on a line with a tick at chance, or a line as long as a cell's "share"."""
    if kind == "share":
        shapes = _line("length", 0, bar.high)
    else:
        lines = (
            _line("chance", bar.chance, bar.chance, 'y1="10%" y2="90%"'),
            _line("thin", bar.least, bar.most),
            _line("interval", bar.low, bar.high),
        )
        shapes = f'{"".join(lines)}<circle class="dot" cx="{svg_length(bar.at)}" cy="50%" r="3" />'
    return SafeString(f'<svg class="bar {escape(mark)}" aria-hidden="true">{GROUND}{shapes}</svg>')


def svg_length(percent: float) -> str:
    return f"{percent:.2f}%"


def language_attributes(code: str) -> SafeString:
    """Return the HTML attributes of text in another language than the page's, nothing without a code."""
    return SafeString(f'lang="{escape(code)}" dir="auto"' if code else "")


def _list_html(cell: Cell) -> SafeString:
    language = language_attributes(cell.lang)
    names = (
        f'<li><span {language}>{escape(name)}</span> <span class="quiet">{escape(remark)}</span></li>'
        for name, remark in cell.several
    )
    return SafeString(f'<ul class="several">{"".join(names)}</ul>')


def _text_html(cell: Cell) -> str:
    """Return the text as a link, with a highlighted word, or plain, with its language and tooltip."""
    note = f' title="{escape(tooltip)}"' if (tooltip := cell.tooltip) else ""
    language = f" {language_attributes(cell.lang)}" if cell.lang else ""
    kind, attributes = f'class="{escape(cell.kind)}"', f"{language}{note}"
    if cell.href:
        return f'<a {kind} href="{escape(cell.href)}"{attributes}>{escape(cell.text)}</a>'
    if cell.pieces:
        before, word, after = map(escape, cell.pieces)
        return f"<span {kind}{attributes}>{before}<mark>{word}</mark>{after}</span>"
    return f"<span {kind}{attributes}>{escape(cell.text)}</span>"


def _mark_html(cell: Cell) -> str:
    """Return a filled circle for what was measured here and a hollow one for everything else."""
    word = escape(cell.mark_word)
    return f'<span class="mark {escape(cell.mark)}" title="{word}"></span><span class="visually-hidden">{word}</span>'


def _strip_html(cell: Cell) -> str:
    """Draw one dot for each of several values on a line from 0 to 1; the style sheet has their size and height."""
    dots = (f'<circle class="dot{" hollow" if dot.hollow else ""}" cx="{svg_length(dot.at)}" />' for dot in cell.dots)
    return f'<svg class="bar strip" aria-hidden="true">{GROUND}{"".join(dots)}</svg>'


def _line(kind: str, start: float | None, end: float | None, height: str = 'y1="50%" y2="50%"') -> str:
    """Draw a line between two places in percent, nothing if one of them is missing."""
    if start is None or end is None:
        return ""
    return f'<line class="{kind}" x1="{svg_length(start)}" x2="{svg_length(end)}" {height} />'


# The HTML of the rows and of the column heads of tables, beside what their templates say once for each table.


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
        "".join(_help_html(column, _help_id(view.table.name, number), methods) for number, column in explained)
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
        f'<span class="column-head">{words} {_help_button(column, number, table)}</span>{_scale_html(head)}</th>'
    )


def _scale_html(head: Header) -> str:
    return f'<span class="scale">bar {escape(head.scale)}</span>' if head.scale else ""


def _in_two_lines(title: str) -> str:
    """Return a title that breaks at one place only, the one that leaves it narrowest, where it does not fit a line."""
    words = title.split(" ")
    breaks = ((UNBROKEN.join(words[:number]), UNBROKEN.join(words[number:])) for number in range(1, len(words)))
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


def _help_html(column: Column[object], identifier: str, methods: str) -> str:
    words = f"<p>{escape(column.help)}</p>" if column.help else ""
    address = escape(f"{methods}{column.paragraph}")
    link = f'<p><a href="{address}">How it is computed</a></p>' if column.paragraph else ""
    title = f"<strong>{escape(column.title)}</strong>"
    return f'<div class="column-help" id="{identifier}" popover>{title}{words}{link}</div>\n'
