"""The HTML of the overview's rows: a model with the tick that compares it, and its figure on each benchmark."""

from collections.abc import Collection
from html import escape

from django.utils.safestring import SafeString

from leaderboard.display.cell_markup import svg_length
from leaderboard.display.cells import Cell
from leaderboard.display.tables import Column, TableView
from leaderboard.display.visible import visible

SPOKEN = ("published", "highest")  # what is said of a figure to readers who do not see how it looks


def overview_rows_html(view: TableView, starts: Collection[str]) -> SafeString:
    """Return the rows of the overview; `starts` names the columns with which a topic begins."""
    rows = (
        f"<tr>{''.join(_cell_html(column, cell, column.name in starts) for column, cell in line.cells)}</tr>"
        for line in view.lines
    )
    return SafeString("\n".join(rows))


def _cell_html(column: Column[object], cell: Cell, first: bool) -> str:
    if column.name == "model":
        return f'<th scope="row" class="head">{_model_html(cell)}</th>'
    if cell.href:
        return _figure_html(column, cell, first)
    classes = f"{escape(column.align)}{' first' if first else ''}{'' if cell.text else ' empty'}"
    label = f' data-label="{escape(column.title)}"' if cell.text else ""
    note = f' title="{escape(cell.note)}"' if cell.note else ""
    return f'<td class="{classes}"{label}{note}>{escape(cell.text)}</td>'


def _figure_html(column: Column[object], cell: Cell, first: bool) -> str:
    """Return a cell with a figure that leads to its run; its bar is as long as the figure."""
    kind = escape(cell.kind)
    link = f'<a class="{kind}" href="{escape(cell.href)}" title="{escape(cell.note)}">{escape(cell.text)}</a>'
    words = ", ".join(word for word in cell.kind.split() if word in SPOKEN)
    spoken = f'<span class="visually-hidden">&nbsp;{words}</span>' if words else ""
    bar = ""
    if cell.bar:
        length = svg_length(cell.bar.at)
        bar = f'<svg aria-hidden="true"><rect class="{kind.partition(" ")[0]}" width="{length}" height="100%" /></svg>'
    classes = "score first" if first else "score"
    return f'<td class="{classes}" data-label="{escape(column.title)}">{link}{spoken}{bar}</td>'


def _model_html(cell: Cell) -> str:
    """Return the name of a model with the tick that compares it, and on a line of its own what its weights are.

    A button follows the tick, so that who comes by keyboard need not pass all rows after it. Only a ticked row has it,
    and only while it has the focus.
    """
    org, name, weights = cell.pieces or ("", cell.text, "")
    text = escape(visible(cell.text))
    words = f'<span class="org">{escape(visible(org))}</span>{escape(visible(name))}'
    if weights:
        words += f' <span class="weights">{escape(visible(weights))}</span>'
    tick = (
        f'<input type="checkbox" name="m" value="{escape(f"{org}{name}")}" form="compare" aria-label="Compare {text}">'
    )
    tick += '<input type="submit" class="compare-here" form="compare" value="Compare ticked">'
    if cell.href:
        return f'{tick}<a href="{escape(cell.href)}" title="{text}">{words}</a>'
    return f'{tick}<span title="{escape(cell.note)}">{words}</span>'
