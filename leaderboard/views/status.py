"""/status/ : how long runs wait, how many succeed, which workers are alive, and recent failures."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from importlib.metadata import version
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from leaderboard.display import cells
from leaderboard.display.cells import Cell
from leaderboard.display.tables import Column, Table
from leaderboard.models import Run, Submission
from leaderboard.operations import statistics
from leaderboard.operations.statistics import Ages, Failures, Outcomes
from leaderboard.operations.workers import LiveWorker, live_workers
from leaderboard.views.page import show


class Waiting(NamedTuple):
    """A row of the table of waiting times."""

    what: str
    ages: Ages


class Count(NamedTuple):
    """A state with the number of runs or submissions in it."""

    kind: str
    state: str
    number: int


def status_view(request: HttpRequest) -> HttpResponseBase:
    now = timezone.now()
    workers, outcomes = live_workers(), statistics.outcomes(now)
    waiting = [Waiting(f"Waiting now, lane {lane}", ages) for lane, ages in statistics.waiting_ages(now).items()]
    started = Waiting("Before the start, last 30 days", statistics.start_delays(now))
    context = {
        "workers": len(workers),
        "busy": sum(bool(worker.runs) for worker in workers),
        "waiting": sum(row.ages.number for row in waiting),
        "outcomes": outcomes,
        "success": _percent(outcomes),
        "version": version("clozeboard"),
    }
    tables: list[Table[Any]] = [
        waiting_table([*(waiting or [Waiting("Waiting now", Ages())]), started]),
        workers_table(workers),
        failures_table(statistics.failures(now)),
        counts_table(_counts()),
    ]
    return show(request, "status.html", context, tables)


def waiting_table(rows: list[Waiting]) -> Table[Waiting]:
    def age(name: str, title: str, help: str, seconds: Callable[[Ages], float]) -> Column[Waiting]:
        return Column(name, title, lambda row: _age(row.ages, seconds(row.ages)), help, align="number")

    return Table(
        name="waiting",
        caption="Waiting times",
        columns=[
            Column("what", "Runs", lambda row: cells.text(row.what), align="head"),
            Column("number", "Number", lambda row: cells.number(row.ages.number), align="number"),
            age("p50_seconds", "Median", "Half of the runs wait at most this long.", lambda ages: ages.p50),
            age("p90_seconds", "9 of 10", "Nine runs of ten wait at most this long.", lambda ages: ages.p90),
            age("longest_seconds", "Longest", "", lambda ages: ages.longest),
        ],
        rows=rows,
        main=True,
        sortable=False,
    )


def workers_table(rows: list[LiveWorker]) -> Table[LiveWorker]:
    return Table(
        name="workers",
        caption="Workers",
        columns=[
            Column("worker", "Worker", lambda row: cells.text(row.name), align="head"),
            Column("lanes", "Lanes", lambda row: _words(row.lanes), "The queues that it takes runs from."),
            Column("device", "Device", lambda row: _words([row.device]), "Where its last part was computed."),
            Column("runs", "Works on", _work, align="wide"),
            Column("seen", "Last report", lambda row: cells.moment(row.last_seen)),
        ],
        rows=rows,
        empty="No worker has reported lately. Runs wait until one starts.",
    )


def failures_table(rows: list[Failures]) -> Table[Failures]:
    return Table(
        name="failures",
        caption="Failures of the last 30 days",
        columns=[
            Column("code", "Code", lambda row: cells.text(row.code), align="head"),
            Column("number", "Runs", lambda row: cells.number(row.number), align="number"),
            Column("last", "Last", lambda row: cells.moment(row.last.finished)),
            Column("run", "Last run", lambda row: _run(row.last), align="wide"),
            Column("reason", "Reason", lambda row: cells.text(row.last.message), align="wide"),
        ],
        rows=rows,
        empty="No run has failed in the last 30 days.",
    )


def counts_table(rows: list[Count]) -> Table[Count]:
    return Table(
        name="counts",
        caption="Submissions and runs by state",
        columns=[
            Column("kind", "Kind", lambda row: cells.text(row.kind), align="head"),
            Column("state", "State", lambda row: cells.text(row.state.capitalize())),
            Column("number", "Number", lambda row: cells.number(row.number), align="number"),
        ],
        rows=rows,
        sortable=False,
        empty="Nothing has been submitted yet.",
    )


def _counts() -> list[Count]:
    """Return submissions by state, then runs by state."""
    submissions, runs = statistics.submissions_by_state(), statistics.runs_by_state()
    labels = [(state, label) for state, label in Submission.State.choices if state in submissions]
    rows = [Count("submission", str(label), submissions[state]) for state, label in labels]
    return rows + [Count("run", str(label), runs[state]) for state, label in Run.State.choices if state in runs]


def _percent(outcomes: Outcomes) -> str:
    return "" if outcomes.success is None else f"{100 * outcomes.success:.0f} %"


def _age(ages: Ages, seconds: float) -> Cell:
    """Show a waiting time; CSV gets whole seconds."""
    return cells.duration(timedelta(seconds=seconds) if ages.number else None)


def _words(names: Sequence[str]) -> Cell:
    return cells.stored(", ".join(filter(None, names)) or None)


def _work(worker: LiveWorker) -> Cell:
    """Name the run that the worker has a part of; of several only the first is a link."""
    if not worker.runs:
        return cells.stored(None)
    return cells.text(", ".join(_name(run) for run in worker.runs), href=worker.runs[0].get_absolute_url())


def _run(run: Run) -> Cell:
    return Cell(run.pk, _name(run), href=run.get_absolute_url())


def _name(run: Run) -> str:
    return f"{run.model.hub_id} on {run.benchmark.title}"
