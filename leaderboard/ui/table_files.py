"""Tables as CSV (UTF-8, values in full, safe to open in a spreadsheet) and as JSON, and rows as JSON lines."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain, islice
from math import isfinite
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone
from django.utils.text import slugify

from leaderboard.serving.middleware import TABLE_FORMATS

Raw = str | int | float | bool | None
JSON = "application/json"
JSON_LINES = "application/jsonl; charset=utf-8"
BYTE_ORDER_MARK = "\ufeff"
LINES = 200  # that are sent at once; each by itself would take longer to send than to write
LOOKED_AT = 50  # rows at the start whose scripts decide about the byte order mark
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
LAST_LATIN = "\u024f"  # the end of Unicode's block Latin Extended-B


def rows_response(
    header: Sequence[str],
    rows: Iterable[Iterable[Any]],
    request: HttpRequest,
    table: str = "",
    sample: Iterable[Sequence[Raw]] = (),
) -> StreamingHttpResponse:
    """Stream the rows of a page's table in the format that the request names; see `csv_lines` for `sample`."""
    values = ([written(value) for value in row] for row in rows)
    if request.GET.get("format") == "json":
        return StreamingHttpResponse(json_array(header, values), content_type=JSON)
    return StreamingHttpResponse(csv_lines(header, values, sample), headers=_csv_headers(request, table))


def written(value: Any) -> Raw:
    """Return a value as files have it: a local time to the second with its zone, a duration in whole seconds.

    The members of a list are one text.
    """
    if isinstance(value, datetime):
        return timezone.localtime(value).isoformat(timespec="seconds")
    if isinstance(value, timedelta):
        return round(value.total_seconds())
    plain: Raw = "; ".join(map(str, value)) if isinstance(value, list) else value
    return plain


def json_lines(rows: Iterable[object], name: str) -> StreamingHttpResponse:
    """Stream rows as the download `name`, one JSON object per line."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(_json_lines(rows), content_type=JSON_LINES, headers=headers)


def wants_file(request: HttpRequest) -> bool:
    return request.GET.get("format") in TABLE_FORMATS


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


def json_array(header: Sequence[str], rows: Iterable[Sequence[Raw]]) -> Iterator[str]:
    """Yield a JSON array with an object for each row, some at a time: values as they are, null where there is none."""
    objects = (_json_text({name: _plain(value) for name, value in zip(header, row, strict=True)}) for row in rows)
    separator = "["
    while text := ",\n".join(islice(objects, LINES)):
        yield separator + text
        separator = ",\n"
    yield "]\n" if separator != "[" else "[]\n"


def _plain(value: Raw) -> Raw:
    """Return a value as JSON can hold it, which has no infinite numbers and no NaN."""
    return None if isinstance(value, float) and not isfinite(value) else value


def _json_text(content: object) -> str:
    return json.dumps(content, ensure_ascii=False)


def safe(value: Raw) -> str | int | float:
    """Put an apostrophe before text that a spreadsheet would run as a formula; true and false are in lower case."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA_STARTS) else value
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else value


def has_other_script(text: str) -> bool:
    """Return whether the text has letters of another script than the Latin one."""
    return any(letter > LAST_LATIN and letter.isalpha() for letter in text)


class _Echo:
    """A file that returns what is written to it, so that a CSV writer's lines can be streamed."""

    def write(self, line: str) -> str:
        return line


def _json_lines(rows: Iterable[object]) -> Iterator[str]:
    lines = (f"{_json_text(row)}\n" for row in rows)
    while text := "".join(islice(lines, LINES)):
        yield text


def _csv_headers(request: HttpRequest, table: str) -> dict[str, str]:
    """Return the headers of a download, whose name says what it is: the page, then the table."""
    words = [slugify(part) for part in ["clozeboard", *request.path.split("/"), table]]
    name = "-".join(word for position, word in enumerate(words) if word and word not in words[:position])
    return {"Content-Type": "text/csv; charset=utf-8", "Content-Disposition": f'attachment; filename="{name}.csv"'}
