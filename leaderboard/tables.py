"""Tables of pages: rows in the order, and on the page, that a query string asks for, and as files.

A row is a dict of raw values by the names of the CSV's columns, beside which it may have what only its page needs. The
parameters of a table have its name as a prefix, except those of the main table of a page, whose prefix is empty.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse, QueryDict

from leaderboard.models import Score
from leaderboard.ui.table_files import rows_response, wants_file

Row = dict[str, Any]
File = tuple[Sequence[str], Sequence[Row]]  # the columns and rows of a table
Files = Mapping[str, File]  # by the name of a table
ItemT = TypeVar("ItemT")
PAGE_SIZE = 50
MISSING = (None, "")
ENDS = ("low", "high", "cluster_low", "cluster_high")  # of the two intervals of a score
INTERVAL = ("value", *ENDS)
TIDY = ("metric", "dimension", "group", "value", "n", *ENDS)  # the columns of scores, as in every scores.csv


def tidy_row(score: Score) -> Row:
    """Return a score with the columns of every scores.csv; a paper may not state the number of items."""
    return {**{name: getattr(score, name) for name in TIDY}, "n": score.n or None}


def parameter(word: str, prefix: str = "") -> str:
    """Return the query string's name of a table's `sort` or `page`."""
    return f"{prefix}-{word}" if prefix else word


def sorting(query: QueryDict, prefix: str = "") -> tuple[str, bool]:
    """Return the column by which the query string sorts a table, if it does, and whether the highest come first."""
    sort = query.get(parameter("sort", prefix), "")
    return sort.removeprefix("-"), sort.startswith("-")


def ordered(
    rows: Iterable[Row],
    request: HttpRequest,
    columns: Collection[str],
    prefix: str = "",
    within: str = "",
    keys: Mapping[str, Callable[[Row], Any]] | None = None,
) -> list[Row]:
    """Return the rows as the query string sorts them; those without a value come last in either direction.

    Rows that share the value `within` stand together, and such groups keep their order. `keys` has what a column is
    sorted by where that is not its value.
    """
    name, descending = sorting(request.GET, prefix)
    if name not in columns:
        return list(rows)
    return _in_groups(rows, (keys or {}).get(name, itemgetter(name)), descending, within)


def arranged(tables: Files, query: QueryDict) -> Files:
    """Return tables as the query string sorts them, whose names are the prefixes of their parameters.

    Those without rows are left out. Rows with the same `heading` stand together.
    """
    files = {}
    for table, (columns, rows) in tables.items():
        name, descending = sorting(query, table)
        if rows and name in columns:
            rows = _in_groups(rows, itemgetter(name), descending, "heading" if "heading" in rows[0] else "")
        if rows:
            files[table] = (columns, rows)
    return files


def _in_groups(rows: Iterable[Row], key: Callable[[Row], Any], descending: bool, within: str) -> list[Row]:
    groups = groupby(rows, itemgetter(within)) if within else [(None, rows)]
    return [row for _, group in groups for row in _missing_last(list(group), key, descending)]


def _missing_last(rows: Sequence[Row], key: Callable[[Row], Any], descending: bool) -> list[Row]:
    present = [row for row in rows if key(row) not in MISSING]
    return [*sorted(present, key=key, reverse=descending), *(row for row in rows if key(row) in MISSING)]


def page_of(rows: Sequence[ItemT], request: HttpRequest, prefix: str = "", size: int = PAGE_SIZE) -> Page[ItemT]:
    """Return the page that the query string asks for: the first without a number, the last where there is none such."""
    return page_in(rows, request.GET, prefix, size)


def page_in(rows: Sequence[ItemT], query: QueryDict, prefix: str, size: int = PAGE_SIZE) -> Page[ItemT]:
    """Return the page of rows that a query string asks for (`page_of`)."""
    return Paginator(rows, size).get_page(query.get(parameter("page", prefix)))


def filled(rows: Sequence[Row], columns: Iterable[str]) -> set[str]:
    """Return the columns in which a row has a value; a page leaves the others out."""
    return {name for name in columns if any(row[name] not in MISSING for row in rows)}


def download(request: HttpRequest, tables: Files) -> HttpResponse | None:
    """Return the table that the query string asks for as CSV or JSON, the first where it names none.

    None: the query string asks for the page.
    """
    if not wants_file(request):
        return None
    name = request.GET.get("table") or next(iter(tables))
    if name not in tables:
        names = ", ".join(tables)
        return HttpResponse(f"There is no table {name!r} here. Tables of this page: {names}.\n", "text/plain", 404)
    columns, rows = tables[name]
    values = ([row[column] for column in columns] for row in rows)
    file = rows_response(columns, values, request, name)
    return HttpResponse(file.getvalue(), headers=file.headers)  # complete, so that it can be kept


def figures_of(score: Score | None, name: str = "") -> Row:
    """Return a score's value and the ends of its intervals, in columns that begin with a name, and its number of items.

    Without a name the value is the column `value`. Papers that state no number of items have 0 of them in the database.
    """
    number = f"{name}_n" if name else "n"
    ends = {f"{name}_{end}" if name else end: getattr(score, end, None) for end in ENDS}
    return {name or "value": score.value if score else None, **ends, number: (score and score.n) or None}


def values_of(scores: Mapping[str, Score | None]) -> Row:
    """Return the values of several scores in columns that begin with their names (`figures_of`)."""
    return {column: value for name, score in scores.items() for column, value in figures_of(score, name).items()}


def score_columns(titles: Sequence[tuple[str, str]]) -> list[str]:
    """Return the columns of several scores (`figures_of`), given their names with their titles."""
    return [column for name, _ in titles for column in figures_of(None, name)]
