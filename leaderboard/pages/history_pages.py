"""/history/ and /snapshots/<digest>/ : every result that changed, and frozen tables at lasting addresses."""

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from leaderboard.exports.references import snapshot_reference
from leaderboard.figures.history import FrozenTable, board_file, read_document, read_tables
from leaderboard.models import Benchmark, Change, Run, Snapshot
from leaderboard.models.run import run_url
from leaderboard.operations.freezing import freeze
from leaderboard.pages.rendering import file_response, show
from leaderboard.serving.limits import MAX_ADDRESS, allow, client_address, retry_after
from leaderboard.ui import cells, labels
from leaderboard.ui.cells import Cell
from leaderboard.ui.links import link
from leaderboard.ui.tables import Column, Table
from probing.errors import BadInput

# /history/ : every result that was added, scored again or withdrawn, with the reason, and the list of snapshots.


CHANGES_ON_A_PAGE = 50
SNAPSHOTS_LISTED = 20


@require_safe
def history_view(request: HttpRequest) -> HttpResponseBase:
    return show(request, "history.html", {}, [_changes_table(), _snapshots_table()])


@require_safe
def former_snapshots_view(request: HttpRequest) -> HttpResponse:
    """Lead the former address of the list of snapshots to the list, or to its CSV."""
    query = link(request.GET, table="snapshots")
    return redirect(f"{reverse('history')}{query}#snapshots", permanent=True)


def _changes_table() -> Table[Change]:
    present: set[int | None] = set()  # the runs of the page that have not been withdrawn

    def prepare(changes: Sequence[Change]) -> None:
        present.update(Run.objects.filter(pk__in=[change.run for change in changes]).values_list("pk", flat=True))

    return Table(
        "changes",
        "Changes",
        _columns(present),
        list(Change.objects.all()),
        main=True,
        empty="Nothing has changed yet.",
        page_size=CHANGES_ON_A_PAGE,
        order="-time",
        prepare=prepare,
    )


def _snapshots_table() -> Table[Snapshot]:
    columns: list[Column[Snapshot]] = [
        Column("title", "Tables", lambda row: cells.text(row.title, row.get_absolute_url()), align="head"),
        Column("date", "Frozen", lambda row: cells.day(row.created)),
        Column("sha256", "SHA-256", lambda row: Cell(row.digest, row.digest[:12], note=row.digest)),
        Column("bytes", "Bytes", lambda row: cells.number(row.length), align="number"),
    ]
    rows = list(Snapshot.objects.defer("document"))
    empty = "Nothing has been frozen yet."
    return Table("snapshots", "Snapshots", columns, rows, empty=empty, page_size=SNAPSHOTS_LISTED)


def _columns(present: Set[int | None]) -> list[Column[Change]]:
    """Return the columns; `present` are the runs that have a page, filled before the cells are made."""
    current = {benchmark.name: benchmark for benchmark in Benchmark.objects.filter(current=True)}

    def title(change: Change) -> str:
        return current[change.benchmark].title if change.benchmark in current else change.benchmark

    def benchmark(change: Change) -> Cell:
        href = current[change.benchmark].get_absolute_url() if change.benchmark in current else ""
        return replace(cells.text(change.benchmark, href), text=title(change))

    def run(change: Change) -> Cell:
        href = run_url(change.run) if change.run and change.run in present else ""
        return Cell(change.run, str(change.run or ""), href, kind="number")

    return [
        Column("time", "Time", lambda row: cells.moment(row.time), key=lambda row: row.time),
        Column("change", "Change", lambda row: cells.text(str(row.get_kind_display()))),
        Column("model", "Model", lambda row: cells.text(row.model), align="head"),
        Column("benchmark", "Benchmark", benchmark, key=lambda row: title(row).casefold()),
        Column("run", "Run", run, align="number"),
        Column("reason", "Reason, or what has changed", lambda row: cells.text(row.text)),
    ]


# /snapshots/<digest>/ : frozen tables, each at an address that is its digest, and the form that freezes a table.


LIMIT_OF_ADDRESS = "20 per hour"
LIMIT = "500 per day"  # for all readers, so that snapshots cannot fill the database
SNAPSHOTS_ON_A_PAGE = 50
FOREVER = 365 * 24 * 3600  # seconds


@require_safe
def snapshot_view(request: HttpRequest, digest: str) -> HttpResponseBase:
    """Show the tables of a snapshot, which are never computed again."""
    snapshot = get_object_or_404(Snapshot, digest=digest)
    frozen = read_tables(snapshot)
    benchmarks = dict(Benchmark.objects.filter(current=True, main=True).values_list("slug", "title"))
    tables = [_shown(table, number, benchmarks) for number, table in enumerate(frozen)]
    context = {
        "snapshot": snapshot,
        "frozen": [(table.title, table.address, shown.name) for table, shown in zip(frozen, tables, strict=True)],
    }
    address = request.build_absolute_uri(snapshot.get_absolute_url())
    return show(request, "snapshot.html", context, tables, reference=snapshot_reference(snapshot, address))


@require_safe
def document_view(request: HttpRequest, digest: str) -> HttpResponse:
    """Send the document itself, whose SHA-256 is its name."""
    document = read_document(get_object_or_404(Snapshot, digest=digest))
    response = HttpResponse(document, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="clozeboard-{digest[:12]}.json"'
    response["ETag"] = f'"{digest}"'
    patch_cache_control(response, public=True, max_age=FOREVER, immutable=True)
    return response


def freeze_view(request: HttpRequest) -> HttpResponseBase:
    """Ask whether to freeze the table at the address `of`, and freeze it."""
    address = request.POST.get("of", "") or request.GET.get("of", "")
    if not _is_of_this_site(address):
        raise Http404
    context = {"address": address}
    if request.method != "POST":
        return render(request, "freeze.html", context)
    if refusal := _refused(request, context):
        return refusal
    try:
        return redirect(freeze([address]))
    except BadInput as error:
        return render(request, "freeze.html", {**context, "error": error}, status=400)


def _is_of_this_site(address: str) -> bool:
    """Tell whether this is a path of the site with its query string, as `bounded_requests` lets one pass.

    Browsers read "//" and "/\\" at the beginning as the address of another site.
    """
    is_path = address.startswith("/") and not address.startswith(("//", "/\\"))
    return is_path and len(address) <= MAX_ADDRESS and "\0" not in address and "%00" not in address


def _refused(request: HttpRequest, context: dict[str, Any]) -> HttpResponse | None:
    """Return the answer to a reader who has frozen too much, and None to all others."""
    for name, key, limit in (("freeze", client_address(request), LIMIT_OF_ADDRESS), ("freeze", "everybody", LIMIT)):
        if not allow(name, key, limit):
            seconds = retry_after(name, key, limit)
            error = BadInput(f"There were too many snapshots: {limit} are allowed.", "Try again later.")
            response = render(request, "freeze.html", {**context, "error": error}, status=429)
            response["Retry-After"] = str(seconds)
            return response
    return None


def _shown(frozen: FrozenTable, number: int, benchmarks: Mapping[str, str]) -> Table[Sequence[str]]:
    """Return a frozen table; its columns have the names that they have in CSV, and on the page titles for people."""
    columns = [_column(frozen, number, benchmarks) for number in range(len(frozen.columns))]
    return Table(
        f"table{number}",
        frozen.title,
        columns,
        frozen.rows,
        main=number == 0,
        sortable=False,
        page_size=SNAPSHOTS_ON_A_PAGE,
    )


def _column(frozen: FrozenTable, number: int, benchmarks: Mapping[str, str]) -> Column[Sequence[str]]:
    """Return a column, whose numbers are shown with at most four decimals; CSV has the texts as they were frozen."""
    name = frozen.columns[number]
    values = [_value(row[number]) for row in frozen.rows if row[number]]
    numbers = [value for value in values if not isinstance(value, str)]
    digits = 4 if any(value % 1 for value in numbers) else 0

    def cell(row: Sequence[str]) -> Cell:
        value = _value(row[number])
        if isinstance(value, str):
            return cells.text(value)
        if name == "run":
            return Cell(value, row[number], run_url(int(value)), kind="number")
        return Cell(value, f"{value:,.{digits}f}", kind="number")

    head = name == ("model" if "model" in frozen.columns else frozen.columns[0])
    align = "number" if values and len(numbers) == len(values) else "head" if head else ""
    return Column(name, column_title(name, benchmarks), cell, align=align)


# What the last part of a column's name in CSV stands for.
ENDINGS = {
    "cluster_low": "low end on other relations",
    "cluster_high": "high end on other relations",
    "standard_error": "standard error",
    "low": "low end",
    "high": "high end",
    "n": "items",
    "provenance": "source",
    **{name: name for name in ("metric", "version", "run")},
}


def column_title(name: str, benchmarks: Mapping[str, str]) -> str:
    """Return what people call a column with this name in CSV: “BEAR, low end” for bear_low.

    `benchmarks`: their titles by slug.
    """
    ending = next((ending for ending in ENDINGS if name == ending or name.endswith(f"_{ending}")), "")
    if name == ending:
        return labels.sentence(ENDINGS[ending])
    if ending:
        return f"{column_title(name.removesuffix(f'_{ending}'), benchmarks)}, {ENDINGS[ending]}"
    return benchmarks.get(name) or labels.metric(name)


def _value(text: str) -> str | int | float:
    """Return the number of which this is the text in CSV, or else the text."""
    for kind in (int, float):
        with suppress(ValueError):
            number = kind(text)
            if str(number) == text:
                return number
    return text


# /board.parquet : every score of every finished run as one file, for pandas, DuckDB and their like.


CONTENT_TYPE = "application/vnd.apache.parquet"


@require_safe
def board_view(request: HttpRequest) -> HttpResponseBase:
    """Send the file, or the requested range of it: DuckDB reads only the columns that it needs."""
    return file_response(request, board_file(), CONTENT_TYPE)
