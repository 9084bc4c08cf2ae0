"""/changes/ : the log of every result that was added, scored again or withdrawn, with the reason."""

from collections.abc import Sequence, Set
from dataclasses import replace

from django.http import HttpRequest, HttpResponseBase

from leaderboard.display import cells
from leaderboard.display.cells import Cell
from leaderboard.display.tables import Column, Table
from leaderboard.models import Benchmark, Change, Run
from leaderboard.models.run import run_url
from leaderboard.views.page import show

PAGE_SIZE = 50


def changes_view(request: HttpRequest) -> HttpResponseBase:
    present: set[int | None] = set()  # the runs of the page that have not been withdrawn

    def prepare(changes: Sequence[Change]) -> None:
        present.update(Run.objects.filter(pk__in=[change.run for change in changes]).values_list("pk", flat=True))

    table = Table(
        "changes",
        "Changes",
        _columns(present),
        list(Change.objects.all()),
        main=True,
        empty="Nothing has changed yet.",
        page_size=PAGE_SIZE,
        order="-time",
        prepare=prepare,
    )
    return show(request, "changes.html", {}, [table])


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
