"""Tables: rows and columns once, shown as HTML and handed out as CSV."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, Generic, NamedTuple, TypeVar

from django.http import QueryDict

from leaderboard.display.cells import Cell

Row = TypeVar("Row")
PAGE_SIZE = 50


@dataclass(frozen=True)
class Column(Generic[Row]):
    """`name` heads the column in CSV, `title` on the page; `key` orders rows where the cell's value does not.

    `shown`: whether pages have it too.
    """

    name: str
    title: str
    cell: Callable[[Row], Cell]
    help: str = ""
    key: Callable[[Row], Any] | None = None
    align: str = ""
    shown: bool = True

    def order(self, row: Row) -> Any:
        return self.key(row) if self.key else self.cell(row).value


@dataclass(frozen=True)
class Table(Generic[Row]):
    """The rows come in their default order.

    `name` tells the tables of one address apart, the `main` one needs none. `band` groups neighbouring rows: sorting
    never mixes bands, and the band `pinned` is on every page. `export`: what CSV gets, where a row
    of the page is several.
    """

    name: str
    caption: str
    columns: Sequence[Column[Row]]
    rows: Sequence[Row]
    main: bool = False
    band: Callable[[Row], str] = lambda row: ""
    pinned: str | None = None
    empty: str = "Nothing here yet."
    page_size: int | None = None
    cards: bool = False
    sortable: bool = True
    export: "Table[Any] | None" = None

    @cached_property
    def shown(self) -> list[Column[Row]]:
        return [column for column in self.columns if column.shown]

    def parameter(self, word: str) -> str:
        """What the query string calls this table's sort or page."""
        return word if self.main else f"{self.name}-{word}"

    def ordered(self, query: QueryDict) -> list[Row]:
        """The rows as the query string sorts them; what is missing comes last both ways."""
        column, descending = self._sorting(query)
        if column is None:
            return list(self.rows)
        return [row for _, rows in groupby(self.rows, self.band) for row in _sorted(rows, column.order, descending)]

    def cells(self, rows: Sequence[Row]) -> Iterator[list[Cell]]:
        for row in rows:
            yield [column.cell(row) for column in self.columns]

    def _sorting(self, query: QueryDict) -> tuple[Column[Row] | None, bool]:
        asked = query.get(self.parameter("sort"), "")
        found = [column for column in self.columns if self.sortable and column.name == asked.removeprefix("-")]
        return (found[0] if found else None, asked.startswith("-"))


def _sorted(rows: Iterator[Row], order: Callable[[Row], Any], descending: bool) -> list[Row]:
    known, missing = [], []
    for row in rows:
        (missing if order(row) is None else known).append(row)
    return sorted(known, key=order, reverse=descending) + missing


class Header(NamedTuple):
    """A column's head: its link sorts by it, and again the other way round."""

    column: Column[Any]
    href: str
    direction: str


class Line(NamedTuple):
    band: str
    cells: list[tuple[Column[Any], Cell]]


class PageLink(NamedTuple):
    title: str
    href: str
    current: bool = False


@dataclass(frozen=True)
class TableView:
    """A table as one page shows it, with the links that change the view. `empty`: it has no rows but pinned ones."""

    table: Table[Any]
    headers: list[Header]
    lines: list[Line]
    total: int
    empty: bool
    csv: str
    pages: list[PageLink] = field(default_factory=list)


def view(table: Table[Any], query: QueryDict) -> TableView:
    """The lines of the page that the query string asks for."""
    rows = select(table, query, all_pages=False)
    lines = [Line(table.band(row), [(column, column.cell(row)) for column in table.shown]) for row in rows]
    csv = link(query, format="csv", table=None if table.main else table.name, **{table.parameter("page"): None})
    empty = all(table.band(row) == table.pinned for row in table.rows)
    return TableView(table, _headers(table, query), lines, len(table.rows), empty, csv, _page_links(table, query))


def select(table: Table[Any], query: QueryDict, all_pages: bool) -> list[Any]:
    """The rows in order: one page of them, or all where no page is asked for and `all_pages` is set."""
    rows = table.ordered(query)
    number = query.get(table.parameter("page"), "")
    if not table.page_size or (all_pages and not number):
        return rows
    pinned = [row for row in rows if table.band(row) == table.pinned]
    others = [row for row in rows if table.band(row) != table.pinned]
    start = (page_number(number, len(others), table.page_size) - 1) * table.page_size
    return pinned + others[start : start + table.page_size]


def page_number(asked: str, rows: int, size: int) -> int:
    """The page asked for, or the nearest that exists."""
    last = max(1, -(-rows // size))
    return min(max(int(asked), 1), last) if asked.isdecimal() else 1


def link(query: QueryDict, **changes: str | None) -> str:
    """The same page with some parameters of its query string set, or left out where None."""
    changed = query.copy()
    for name, value in changes.items():
        changed.pop(name, None)
        if value is not None:
            changed[name] = value
    return f"?{changed.urlencode()}"


def _headers(table: Table[Any], query: QueryDict) -> list[Header]:
    sorted_by, descending = table._sorting(query)
    return [_header(table, query, column, descending if column is sorted_by else None) for column in table.shown]


def _header(table: Table[Any], query: QueryDict, column: Column[Any], descending: bool | None) -> Header:
    """The first click brings figures best first, words from A to Z."""
    if not table.sortable:
        return Header(column, "", "")
    first = "-" if {"number", "score"} & set(column.align.split()) else ""
    wanted = first if descending is None else ("" if descending else "-")
    href = link(query, **{table.parameter("sort"): wanted + column.name, table.parameter("page"): None})
    direction = "" if descending is None else ("descending" if descending else "ascending")
    return Header(column, href, direction)


def _page_links(table: Table[Any], query: QueryDict) -> list[PageLink]:
    if not table.page_size:
        return []
    rows = sum(table.band(row) != table.pinned for row in table.rows)
    return page_links(query, table.parameter("page"), rows, table.page_size)


def page_links(query: QueryDict, parameter: str, rows: int, size: int) -> list[PageLink]:
    """First, last and the pages around the current one, with a gap where some are left out; none of one page only."""
    last = max(1, -(-rows // size))
    current = page_number(query.get(parameter, ""), rows, size)
    near = [page for page in range(1, last + 1) if page in (1, last) or abs(page - current) <= 2]
    links: list[PageLink] = []
    for before, page in zip([0, *near], near, strict=False):
        gap = [PageLink("…", "")] if page > before + 1 else []
        links += [*gap, PageLink(str(page), link(query, **{parameter: str(page)}), page == current)]
    return links if last > 1 else []
