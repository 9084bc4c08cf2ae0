"""/queue/ : what is being measured, what waits and for how long, and what went wrong of late."""

from django.http import HttpRequest, HttpResponseBase

from leaderboard.display import cells
from leaderboard.display.breakdowns import settings_column
from leaderboard.display.tables import Column, Table
from leaderboard.lists import queries
from leaderboard.lists.queries import Queued
from leaderboard.models import Run
from leaderboard.views.page import show


def queue_view(request: HttpRequest) -> HttpResponseBase:
    rows = queries.queue()
    failures = list(queries.recent_failures())
    return show(request, "queue.html", {"live": bool(rows)}, [queue_table(rows), ended_table(failures)])


def queue_table(rows: list[Queued]) -> Table[Queued]:
    return Table(
        name="queue",
        caption="Running and waiting",
        columns=[
            Column("position", "Position", _position, "Runs ahead count first; running ones have none."),
            Column(
                "model", "Model", lambda q: cells.text(q.run.model.hub_id, href=q.run.get_absolute_url()), align="head"
            ),
            Column("benchmark", "Benchmark", lambda q: cells.text(q.run.benchmark.title)),
            *settings_column(rows, lambda q: q.run),
            Column("state", "State", lambda q: cells.text(q.run.get_state_display())),
            Column("progress", "Done", lambda q: cells.percent(q.progress.percent), align="score"),
            Column("seconds_left", "Expected", lambda q: cells.duration(q.left), align="number"),
            Column("submitted", "Submitted", lambda q: cells.moment(q.run.created)),
        ],
        rows=rows,
        main=True,
        cards=True,
        empty="Nothing is running and nothing waits.",
    )


def _position(row: Queued) -> cells.Cell:
    return cells.number(row.position) if row.position else cells.Cell(None, "–")


def ended_table(runs: list[Run]) -> Table[Run]:
    return Table(
        name="failed",
        caption="Ended without a result",
        columns=[
            Column("model", "Model", lambda r: cells.text(r.model.hub_id, href=r.get_absolute_url()), align="head"),
            Column("benchmark", "Benchmark", lambda r: cells.text(r.benchmark.title)),
            *settings_column(runs, lambda r: r),
            Column("code", "Code", lambda r: cells.text(r.code or r.state), align="wide"),
            Column("reason", "Reason", lambda r: cells.text(r.message), align="wide"),
            Column("ended", "Ended", lambda r: cells.moment(r.finished)),
        ],
        rows=runs,
        cards=True,
        empty="Nothing failed.",
    )
