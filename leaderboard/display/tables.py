"""Tables: rows and columns that a page shows as HTML and hands out as CSV.

The query string sorts a table and chooses its page: `sort=<column>` or `sort=-<column>`, and `page=<number>`. Both are
prefixed with the table's name where a page has several tables.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, Generic, NamedTuple, TypeVar

from django.core.paginator import Paginator
from django.http import QueryDict

from leaderboard.display.cells import Cell

RowT = TypeVar("RowT")
PAGE_SIZE = 50
NEIGHBOURS = 2  # page links on each side of the current page


@dataclass(frozen=True)
class Column(Generic[RowT]):
    """A column of a table, named `name` in CSV and in the query string and `title` on the page.

    `cell` makes a row's cell. Rows are sorted by `key`, or else by the cell's value. `help` is the tooltip of the
    heading, `align` the CSS classes. Only CSV has a column that is not `shown`.
    """

    name: str
    title: str
    cell: Callable[[RowT], Cell]
    help: str = ""
    key: Callable[[RowT], Any] | None = None
    align: str = ""
    shown: bool = True

    def order(self, row: RowT) -> Any:
        """Return the value by which the row is sorted, None if it is missing."""
        return self.key(row) if self.key else self.cell(row).value


@dataclass(frozen=True)
class Table(Generic[RowT]):
    """A table whose `rows` come in their default order.

    `name` prefixes the table's parameters in the query string, unless it is the `main` table of its page. `band`
    names the group that a row belongs to: the rows of a band stand together, and sorting keeps the order of the bands.
    `heading` is the text above the rows that share it, empty where they need none; these stand together as well.
    The band `pinned` is on every page. Narrow screens show each row as a card if `cards` is set. CSV gets `export`
    instead, where a row of the page stands for several.
    """

    name: str
    caption: str
    columns: Sequence[Column[RowT]]
    rows: Sequence[RowT]
    main: bool = False
    band: Callable[[RowT], str] = lambda row: ""
    heading: Callable[[RowT], str] = lambda row: ""
    pinned: str | None = None
    empty: str = "There is nothing here yet."
    page_size: int | None = None
    cards: bool = False
    sortable: bool = True
    export: "Table[Any] | None" = None

    @cached_property
    def shown(self) -> list[Column[RowT]]:
        """The columns that pages have."""
        return [column for column in self.columns if column.shown]

    def parameter(self, word: str) -> str:
        """Return the query string's name of this table's `sort` or `page`."""
        return word if self.main else f"{self.name}-{word}"

    def ordered(self, query: QueryDict) -> list[RowT]:
        """Return all rows, sorted within their bands as the query string asks, rows without a value last."""
        column, descending = self.sorting(query)
        if column is None:
            return list(self.rows)
        bands = groupby(self.rows, lambda row: (self.heading(row), self.band(row)))
        return [row for _, rows in bands for row in _missing_last(rows, column.order, descending)]

    def sorting(self, query: QueryDict) -> tuple[Column[RowT] | None, bool]:
        """Return the column that the query string sorts by, if any, and whether it sorts in descending order."""
        sort = query.get(self.parameter("sort"), "")
        columns = [column for column in self.columns if self.sortable and column.name == sort.removeprefix("-")]
        return (columns[0] if columns else None, sort.startswith("-"))

    def cells(self, rows: Sequence[RowT]) -> Iterator[list[Cell]]:
        """Yield the cells of each row in all columns, those that only CSV has included."""
        for row in rows:
            yield [column.cell(row) for column in self.columns]

    def is_pinned(self, row: RowT) -> bool:
        return self.band(row) == self.pinned


def _missing_last(rows: Iterable[RowT], order: Callable[[RowT], Any], descending: bool) -> list[RowT]:
    """Sort the rows; those without a value come last in either direction."""
    present: list[RowT] = []
    missing: list[RowT] = []
    for row in rows:
        (missing if order(row) is None else present).append(row)
    return sorted(present, key=order, reverse=descending) + missing


class Header(NamedTuple):
    """The heading of a column; its link sorts by the column, or the other way round if the table is sorted by it."""

    column: Column[Any]
    href: str
    direction: str


class TableLine(NamedTuple):
    """A row as a page shows it: the heading that begins with it, its band, and the cell of each column of pages."""

    heading: str
    band: str
    cells: list[tuple[Column[Any], Cell]]


class PageLink(NamedTuple):
    """A link of a list of which one may be `current`; an ellipsis in the list has no address."""

    title: str
    href: str
    current: bool = False


@dataclass(frozen=True)
class TableView:
    """One page of a table with the links that change the view.

    `total` is the number of rows on all pages. `empty` tells that the table has no rows but pinned ones. `csv` is the
    address of the table as CSV.
    """

    table: Table[Any]
    headers: list[Header]
    lines: list[TableLine]
    total: int
    empty: bool
    csv: str
    pages: list[PageLink] = field(default_factory=list)


def view(table: Table[Any], query: QueryDict) -> TableView:
    """Return the page of the table that the query string asks for."""
    rows = select(table, query, all_pages=False)
    lines = [line for _, under in groupby(rows, table.heading) for line in _lines(table, list(under))]
    csv = link(query, format="csv", table=None if table.main else table.name, **{table.parameter("page"): None})
    empty = all(table.is_pinned(row) for row in table.rows)
    return TableView(table, _headers(table, query), lines, len(table.rows), empty, csv, _page_links(table, query))


def _lines(table: Table[Any], rows: Sequence[Any]) -> Iterator[TableLine]:
    """Yield the lines of rows that stand under one heading."""
    for number, row in enumerate(rows):
        heading = "" if number else table.heading(row)
        yield TableLine(heading, table.band(row), [(column, column.cell(row)) for column in table.shown])


def select(table: Table[Any], query: QueryDict, all_pages: bool) -> list[Any]:
    """Return the rows in order, pinned rows first: one page of them, or all if `all_pages` and no page is asked for."""
    rows = table.ordered(query)
    page = query.get(table.parameter("page"), "")
    if not table.page_size or (all_pages and not page):
        return rows
    pinned = [row for row in rows if table.is_pinned(row)]
    others = [row for row in rows if not table.is_pinned(row)]
    start = (page_number(page, len(others), table.page_size) - 1) * table.page_size
    return [*pinned, *others[start : start + table.page_size]]


def page_number(text: str, rows: int, size: int) -> int:
    """Return the number of the page that a query string asks for.

    Text that is not a number and numbers below 1 ask for the first page, numbers above the last page for the last.
    """
    paginator = Paginator(range(rows), size)
    try:
        return min(max(int(text), 1), paginator.num_pages)
    except ValueError:
        return 1


def page_links(query: QueryDict, parameter: str, rows: int, size: int) -> list[PageLink]:
    """Return links to the first, the last and the pages around the current one, with an ellipsis for pages left out.

    A single page needs no links.
    """
    paginator = Paginator(range(rows), size)
    if paginator.num_pages == 1:
        return []
    current = page_number(query.get(parameter, ""), rows, size)
    pages = paginator.get_elided_page_range(current, on_each_side=NEIGHBOURS, on_ends=1)
    return [_page_link(query, parameter, page, current) for page in pages]


def link(query: QueryDict, **changes: str | None) -> str:
    """Return the address of the same page with some parameters of its query string set, or removed where None."""
    changed = query.copy()
    for name, value in changes.items():
        changed.pop(name, None)
        if value is not None:
            changed[name] = value
    return f"?{changed.urlencode()}"


def _headers(table: Table[Any], query: QueryDict) -> list[Header]:
    sorted_by, descending = table.sorting(query)
    return [_header(table, query, column, descending if column is sorted_by else None) for column in table.shown]


def _header(table: Table[Any], query: QueryDict, column: Column[Any], descending: bool | None) -> Header:
    """Make a heading whose link first sorts numbers from the highest, words from A to Z; None means not sorted by."""
    if not table.sortable:
        return Header(column, "", "")
    first = "-" if {"number", "score"} & set(column.align.split()) else ""
    prefix = first if descending is None else ("" if descending else "-")
    href = link(query, **{table.parameter("sort"): prefix + column.name, table.parameter("page"): None})
    direction = "" if descending is None else ("descending" if descending else "ascending")
    return Header(column, href, direction)


def _page_links(table: Table[Any], query: QueryDict) -> list[PageLink]:
    """Return the page links of a table; its pinned rows do not count."""
    if not table.page_size:
        return []
    rows = sum(not table.is_pinned(row) for row in table.rows)
    return page_links(query, table.parameter("page"), rows, table.page_size)


def _page_link(query: QueryDict, parameter: str, page: str | int, current: int) -> PageLink:
    if not isinstance(page, int):  # the ellipsis
        return PageLink(str(page), "")
    return PageLink(str(page), link(query, **{parameter: str(page)}), page == current)
