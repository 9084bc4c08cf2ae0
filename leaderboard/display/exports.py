"""Tables as CSV: UTF-8, values in full, safe to open in a spreadsheet."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from leaderboard.display.cells import Raw
from leaderboard.display.tables import Table, select

Response = TypeVar("Response", bound=HttpResponseBase)

CSV = "text/csv; charset=utf-8"
BYTE_ORDER_MARK = "\ufeff"
LOOKED_AT = 50  # rows
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class _Echo:
    """A file that hands back what is written, so that lines can be streamed."""

    def write(self, line: str) -> str:
        return line


def safe(value: Raw) -> Raw:
    """Text that a spreadsheet would run as a formula gets an apostrophe in front; figures stay as they are."""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return "" if value is None else value


def other_script(text: str) -> bool:
    return any(letter > "\u024f" and letter.isalpha() for letter in text)


def csv_lines(
    header: Sequence[str], rows: Iterable[Sequence[Raw]], sample: Iterable[Sequence[Raw]] = ()
) -> Iterator[str]:
    """With a byte order mark where a spreadsheet needs it to show other scripts than the Latin one.

    What tells are the first rows, and those of a `sample` where the scripts may change further down.
    """
    writer = csv.writer(_Echo(), lineterminator="\n")
    rows = iter(rows)
    first = list(islice(rows, LOOKED_AT))
    if any(other_script(value) for row in chain(first, sample) for value in row if isinstance(value, str)):
        yield BYTE_ORDER_MARK
    yield writer.writerow(header)
    for row in chain(first, rows):
        yield writer.writerow([safe(value) for value in row])


def csv_response(
    header: Sequence[str], rows: Iterable[Sequence[Raw]], name: str, sample: Iterable[Sequence[Raw]] = ()
) -> StreamingHttpResponse:
    return _named(StreamingHttpResponse(csv_lines(header, rows, sample), content_type=CSV), name)


def table_response(table: Table[Any], request: HttpRequest) -> HttpResponse:
    """The table of this address, or its export: rows and order of the page, all pages unless one is named."""
    table = table.export or table
    rows = select(table, request.GET, all_pages=True)
    values = ([cell.value for cell in cells] for cells in table.cells(rows))
    lines = csv_lines([column.name for column in table.columns], values)
    return _named(HttpResponse("".join(lines), content_type=CSV), f"clozeboard-{table.name}")


def _named(response: Response, name: str) -> Response:
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response
