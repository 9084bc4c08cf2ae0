"""Tables as CSV: UTF-8, values in full, safe to open in a spreadsheet."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from leaderboard.display.cells import Raw, written
from leaderboard.display.tables import Table, select

ResponseT = TypeVar("ResponseT", bound=HttpResponseBase)

CONTENT_TYPE = "text/csv; charset=utf-8"
BYTE_ORDER_MARK = "\ufeff"
LINES = 200  # that are sent at once; each by itself would take longer to send than to write
LOOKED_AT = 50  # rows at the start whose scripts decide about the byte order mark
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
LAST_LATIN = "\u024f"  # the end of Unicode's block Latin Extended-B


class _Echo:
    """A file that returns what is written to it, so that a CSV writer's lines can be streamed."""

    def write(self, line: str) -> str:
        return line


def safe(value: Raw) -> str | int | float:
    """Put an apostrophe before text that a spreadsheet would run as a formula; numbers, true and false have none."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA_STARTS) else value
    plain = written(value)
    return "" if plain is None else plain


def has_other_script(text: str) -> bool:
    """Return whether the text has letters of another script than the Latin one."""
    return any(letter > LAST_LATIN and letter.isalpha() for letter in text)


def csv_lines(
    header: Sequence[str], rows: Iterable[Sequence[Raw]], sample: Iterable[Sequence[Raw]] = ()
) -> Iterator[str]:
    """Yield a CSV file, some lines at a time; it starts with a byte order mark if there is text in a non-Latin script.

    Without the mark a spreadsheet garbles such text. The first rows decide whether it is needed, and those of `sample`
    where later rows may have other scripts; the rest of the rows is read while the lines are sent.
    """
    writer = csv.writer(_Echo(), lineterminator="\n")
    rows = iter(rows)
    first = list(islice(rows, LOOKED_AT))
    if any(has_other_script(value) for row in chain(first, sample) for value in row if isinstance(value, str)):
        yield BYTE_ORDER_MARK
    yield writer.writerow(header)
    lines = (writer.writerow([safe(value) for value in row]) for row in chain(first, rows))
    while text := "".join(islice(lines, LINES)):
        yield text


def csv_response(
    header: Sequence[str], rows: Iterable[Sequence[Raw]], name: str, sample: Iterable[Sequence[Raw]] = ()
) -> StreamingHttpResponse:
    """Stream rows as the download `name`.csv; see `csv_lines` for `sample`."""
    return _as_download(StreamingHttpResponse(csv_lines(header, rows, sample), content_type=CONTENT_TYPE), name)


def table_response(table: Table[Any], request: HttpRequest) -> HttpResponse:
    """Return a table, or its export, as CSV with the page's rows and order; all pages unless the request names one."""
    exported = table.export or table
    rows = select(exported, request.GET, all_pages=True)
    exported.prepare(rows)
    values = ([cell.value for cell in cells] for cells in exported.cells(rows))
    lines = csv_lines([column.name for column in exported.columns], values)
    return _as_download(HttpResponse("".join(lines), content_type=CONTENT_TYPE), f"clozeboard-{exported.name}")


def _as_download(response: ResponseT, name: str) -> ResponseT:
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response
