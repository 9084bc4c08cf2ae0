"""Tables of pages as LaTeX, for the packages booktabs and longtable."""

from typing import Any

import pandas as pd
from django.http import QueryDict

from leaderboard.display.cells import Cell
from leaderboard.display.tables import Column, Table, select
from leaderboard.exports.latex import latex

ONE_PAGE = 40  # rows that fit on one page
NUMBERS = {"number", "score"}  # classes of columns that are set flush right


def latex_table(table: Table[Any], query: QueryDict, source: str) -> str:
    """Return the rows and columns that a page shows of a table, in its order, with `source` in the caption."""
    rows = select(table, query, all_pages=True)
    table.prepare(rows)
    columns = [column for column in table.columns if column.shown and column.title]
    cells = [[column.cell(row) for column in columns] for row in rows]
    filled = [place for place in range(len(columns)) if not cells or any(not line[place].is_empty for line in cells)]
    frame = pd.DataFrame([[_text(line[place]) for place in filled] for line in cells], columns=range(len(filled)))
    text: str = frame.to_latex(
        index=False,
        escape=False,
        header=[latex(columns[place].title) for place in filled],
        column_format="".join(_alignment(columns[place]) for place in filled),
        caption=latex(f"{table.caption}. {source}"),
        label=f"tab:{table.name}",
        longtable=len(rows) > ONE_PAGE,
    )
    return f"% Needs \\usepackage{{booktabs, longtable}}\n{text}"


def _text(cell: Cell) -> str:
    return latex(" ".join(filter(None, [cell.text, cell.half])))


def _alignment(column: Column[Any]) -> str:
    return "r" if NUMBERS & set(column.align.split()) else "l"
