"""/queue/ : the runs that are being measured, those that wait and for how long, and those that have ended."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from leaderboard.figures.live_workers import LiveWorker, live_workers
from leaderboard.figures.progress import (
    Queue,
    QueuedRun,
    RecentResult,
    queue,
    recent_failures,
    recent_results,
    state_in_words,
)
from leaderboard.line import MEASURE
from leaderboard.models import Run
from leaderboard.operations import site_state
from leaderboard.pages.rendering import show
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import with_part
from leaderboard.probes.probe_pages import ProbePages
from leaderboard.ui import cells, labels
from leaderboard.ui.links import page_links, page_number
from leaderboard.ui.table_files import wants_file
from leaderboard.ui.tables import PAGE_SIZE, Column, Table, model_column, settings_column, view

MOST_WAITING = 10**6  # runs; more than any site lets wait


def queue_view(request: HttpRequest) -> HttpResponseBase:
    now = timezone.now()
    line, workers = queue(*_shown(request)), live_workers()
    others: list[Table[Any]] = [
        finished_table(recent_results(now)),
        failed_table(list(recent_failures(now))),
        workers_table(workers),
    ]
    if wants_file(request):
        return show(request, "queue.html", {}, [queue_table(line), running_table(line.working), *others])
    if not line.waiting and line.number_waiting:  # the page is beyond the last one
        line = queue(*_page(page_number(request.GET.get("page", ""), line.number_waiting, PAGE_SIZE)))
    waiting = waiting_table(line.waiting)
    pages = page_links(request.GET, "page", line.number_waiting, PAGE_SIZE)
    context = {
        "live": bool(line.working) or line.number_waiting,
        "working": len(line.working),
        "number_waiting": line.number_waiting,
        "no_worker": not line.has_workers,
        "waiting": replace(view(waiting, request.GET), pages=pages, total=line.number_waiting),
        **_figures(now),
    }
    return show(request, "queue.html", context, [running_table(line.working), *others])


def _figures(now: datetime) -> dict[str, Any]:
    """Return how many runs of the last 30 days had a result, and how long they had waited for a worker."""
    outcomes, waits = site_state.outcomes(now), site_state.start_delays(now)
    typical, long = (cells.approximate_time(timedelta(seconds=seconds)) for seconds in (waits.p50, waits.p90))
    return {
        "outcomes": outcomes,
        "success": f"{100 * (outcomes.success or 0):.0f} %",
        "typical_wait": typical if waits.number else "",
        "long_wait": long,
    }


def _shown(request: HttpRequest) -> tuple[int, int]:
    """Return which of the waiting runs are shown, from the first to before the last, however many there are."""
    if wants_file(request):
        return 0, MOST_WAITING
    return _page(page_number(request.GET.get("page", ""), MOST_WAITING, PAGE_SIZE))


def _page(number: int) -> tuple[int, int]:
    return (number - 1) * PAGE_SIZE, number * PAGE_SIZE


def queue_table(line: Queue) -> Table[QueuedRun]:
    """Return all open runs in one table, for CSV."""
    rows = [*line.working, *line.waiting]
    columns = [_POSITION, *_what(), _QUEUE, _STATE, _DONE, _TIME_LEFT, _SUBMITTED]
    return Table(name="queue", caption="Running and waiting", columns=columns, rows=rows, main=True)


def running_table(rows: list[QueuedRun]) -> Table[QueuedRun]:
    return Table(
        name="running",
        caption="Being measured now",
        columns=[*_what(), _STATE, _DONE, _ITEMS, _TIME_LEFT],
        rows=rows,
        sortable=False,
        empty="No run is being measured.",
    )


def waiting_table(rows: list[QueuedRun]) -> Table[QueuedRun]:
    some = [
        (_POSITION, any(row.position for row in rows)),
        (_QUEUE, any(row.run.queue != MEASURE for row in rows)),
        (_STATE, any(row.run.state != Run.State.QUEUED for row in rows)),
        (_TIME_LEFT, any(row.progress.left is not None for row in rows)),
    ]
    position, queue_column, state, time_left = (replace(column, shown=shown) for column, shown in some)
    return Table(
        name="queue",
        caption="Waiting",
        columns=[position, *_what(), queue_column, state, replace(time_left, title="Result in"), _SUBMITTED],
        rows=rows,
        main=True,
        sortable=False,
        empty="No run is waiting.",
    )


def finished_table(rows: list[RecentResult]) -> Table[RecentResult]:
    return Table(
        name="finished",
        caption="Finished in the last 7 days",
        columns=[
            *_what(),
            Column("score", "Score", lambda row: cells.of_score(row.scores.get(_metric(row))), align="score"),
            Column("metric", "Metric", _metric_cell),
            Column("finished", "Finished", lambda row: cells.moment(row.run.finished)),
        ],
        rows=rows,
        sortable=False,
        empty="None recently.",
    )


def failed_table(runs: list[Run]) -> Table[Run]:
    return Table(
        name="failed",
        caption="Failed or cancelled in the last 7 days",
        columns=[
            *_what(lambda run: run),
            Column("code", "Code", lambda run: cells.text(run.code or run.state)),
            Column("reason", "Reason", lambda run: cells.text(run.message), align="wide"),
            Column("ended", "Ended", lambda run: cells.moment(run.finished)),
        ],
        rows=runs,
        sortable=False,
    )


def workers_table(rows: list[LiveWorker]) -> Table[LiveWorker]:
    return Table(
        name="workers",
        caption="Workers",
        columns=[
            Column("worker", "Worker", lambda row: cells.text(row.name), align="head"),
            Column(
                "queues",
                "Queues",
                lambda row: cells.stored(", ".join(row.queues) or None),
                "Where it takes its work from.",
            ),
            Column(
                "device",
                "Device",
                lambda row: cells.stored(row.device or None),
                "Where it computed the last part of its run.",
            ),
            Column("runs", "Works on", _work, align="wide"),
            Column("seen", "Last report", lambda row: cells.moment(row.last_seen)),
        ],
        rows=rows,
        sortable=False,
        empty="No worker is alive.",
    )


def _work(worker: LiveWorker) -> cells.Cell:
    if worker.run is None:
        return cells.stored(None)
    return cells.text(f"{worker.run.model.hub_id} on {worker.run.benchmark.title}", href=worker.run.get_absolute_url())


def _pages(row: RecentResult) -> ProbePages:
    return pages_of(row.run.benchmark)


def _metric(row: RecentResult) -> str:
    return _pages(row).main_metric(row.run.benchmark)


def _metric_cell(row: RecentResult) -> cells.Cell:
    """Return the title of the metric, with the part of the items that the figure is about if it is a part."""
    title, score = _pages(row).metric_label(_metric(row)), row.scores.get(_metric(row))
    return cells.text(with_part(title, score) if score else title)


def _what(run: Callable[[Any], Run] = lambda row: row.run) -> list[Column[Any]]:
    """Return the columns that tell what the run of a row measures."""
    return [
        model_column(run),
        Column("benchmark", "Benchmark", lambda row: cells.text(run(row).benchmark.title)),
        settings_column(run),
    ]


def _state(row: QueuedRun) -> cells.Cell:
    return cells.text(labels.sentence(state_in_words(row.run, row.progress)))


def _items(row: QueuedRun) -> cells.Cell:
    return cells.Cell(row.progress.done, f"{row.progress.done:,} of {row.progress.total:,}", kind="number")


_POSITION: Column[QueuedRun] = Column(
    "position",
    "Position",
    lambda row: cells.number(row.position or None),
    "Number of runs ahead, plus one. Two runs of each submitter stand in line; as one begins, the next one joins it. "
    "Runs that wait for the hub or for disk space have no position.",
)
_QUEUE: Column[QueuedRun] = Column("queue", "Queue", lambda row: cells.text(row.run.queue))
_STATE: Column[QueuedRun] = Column("state", "State", _state)
_DONE: Column[QueuedRun] = Column(
    "progress", "Work done", lambda row: cells.percent(row.progress.percent), align="score"
)
_ITEMS: Column[QueuedRun] = Column("items_done", "Items", _items, align="number")
_TIME_LEFT: Column[QueuedRun] = Column(
    "seconds_left", "Time left", lambda row: cells.duration(row.progress.left), align="number"
)
_SUBMITTED: Column[QueuedRun] = Column("submitted", "Submitted", lambda row: cells.moment(row.run.created))
