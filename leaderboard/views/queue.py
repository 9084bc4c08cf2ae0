"""/queue/ : the runs that are being measured, those that wait and for how long, and recent failures."""

from dataclasses import replace

from django.http import HttpRequest, HttpResponseBase

from leaderboard.display import cells
from leaderboard.display.columns import model_column, settings_column
from leaderboard.display.tables import Column, Table
from leaderboard.lists.progress import QueuedRun, queue
from leaderboard.lists.runs import WORKING, recent_failures
from leaderboard.models import Run
from leaderboard.operations.workers import live_workers
from leaderboard.views.page import show


def queue_view(request: HttpRequest) -> HttpResponseBase:
    rows = queue()
    failures = list(recent_failures())
    all_wait = bool(rows) and all(row.run.state not in WORKING for row in rows)
    context = {"live": bool(rows), "no_worker": all_wait and not live_workers()}
    return show(request, "queue.html", context, [queue_table(rows), ended_table(failures)])


def queue_table(rows: list[QueuedRun]) -> Table[QueuedRun]:
    return Table(
        name="queue",
        caption="Running and waiting",
        columns=[
            Column(
                "position",
                "Position",
                _position,
                "Number of runs ahead in the same lane, plus one. Runs that are being measured, and runs that wait "
                "for the hub or for disk space, have no position.",
            ),
            model_column(lambda row: row.run),
            Column("benchmark", "Benchmark", lambda row: cells.text(row.run.benchmark.title)),
            settings_column(lambda row: row.run),
            Column(
                "lane",
                "Lane",
                lambda row: cells.text(row.run.lane),
                shown=any(row.run.lane != "default" for row in rows),
            ),
            Column("state", "State", lambda row: cells.text(row.run.get_state_display())),
            Column("progress", "Done", lambda row: cells.percent(row.progress.percent), align="score"),
            Column("seconds_left_low", "Time left", _time_left, align="number"),
            Column("seconds_left_high", "Time left at most", _longest_time_left, shown=False),
            Column("submitted", "Submitted", lambda row: cells.moment(row.run.created)),
        ],
        rows=rows,
        main=True,
        cards=True,
        empty="No run is running or waiting.",
    )


def _position(row: QueuedRun) -> cells.Cell:
    return cells.number(row.position) if row.position else cells.Cell(None, "–")


def _time_left(row: QueuedRun) -> cells.Cell:
    left = row.progress.left
    shortest = cells.duration(left and left.low)
    return replace(shortest, text=cells.about_range(*left)) if left else shortest


def _longest_time_left(row: QueuedRun) -> cells.Cell:
    left = row.progress.left
    return cells.duration(left and left.high)


def ended_table(runs: list[Run]) -> Table[Run]:
    return Table(
        name="failed",
        caption="Ended without a result",
        columns=[
            model_column(lambda run: run),
            Column("benchmark", "Benchmark", lambda run: cells.text(run.benchmark.title)),
            settings_column(lambda run: run),
            Column("code", "Code", lambda run: cells.text(run.code or run.state), align="wide"),
            Column("reason", "Reason", lambda run: cells.text(run.message), align="wide"),
            Column("ended", "Ended", lambda run: cells.moment(run.finished)),
        ],
        rows=runs,
        cards=True,
        empty="No run has failed or been cancelled.",
    )
