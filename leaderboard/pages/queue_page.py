"""/queue/ : the runs that are being measured, those that wait and for how long, and those that have ended."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_cache_control

from leaderboard.figures.live_workers import LiveWorker, live_workers
from leaderboard.figures.progress import (
    queue,
    recent_failures,
    recent_results,
    state_in_words,
)
from leaderboard.figures.scores import main_scores
from leaderboard.line import MEASURE
from leaderboard.models import Run, Score
from leaderboard.operations import site_state
from leaderboard.pages.rendering import LIVE_SECONDS
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import with_part
from leaderboard.tables import Files, download, filled, ordered, page_of
from leaderboard.ui import labels, spelled
from leaderboard.ui.table_files import wants_file

MOST_WAITING = 10**6  # runs; more than any site lets wait

WHAT = ("model", "benchmark", "settings")
OPEN = ("position", *WHAT, "queue", "state", "progress", "seconds_left", "submitted")
RUNNING = (*WHAT, "state", "progress", "items_done", "seconds_left")
FINISHED = (*WHAT, "score", "metric", "finished")
FAILED = (*WHAT, "code", "reason", "ended")
WORKERS = ("worker", "queues", "device", "runs", "seen")


def queue_view(request: HttpRequest) -> HttpResponseBase:
    now = timezone.now()
    is_file = wants_file(request)
    line = queue(0, MOST_WAITING) if is_file else _page_of_line(request)
    working, waiting = open_runs(line["working"]), open_runs(line["waiting"])
    finished, failed = _finished(list(recent_results(now))), [_failed(run) for run in recent_failures(now)]
    workers = [_worker(row) for row in live_workers()]
    files: Files = {
        "queue": (OPEN, ordered([*working, *waiting], request, OPEN)),
        "running": (RUNNING, working),
        "finished": (FINISHED, finished),
        "failed": (FAILED, failed),
        "workers": (WORKERS, workers),
    }
    if file := download(request, files):
        return file
    context = {
        "live": bool(line["working"]) or line["number_waiting"],
        "number_waiting": line["number_waiting"],
        "no_worker": not line["has_workers"],
        "waiting": waiting,
        "waiting_filled": _worth_telling(line["waiting"]) | filled(waiting, ("position", "settings", "seconds_left")),
        "page": page_of(range(line["number_waiting"]), request),
        "scale": "0 to 1" if any(row["score"] is not None and 0 <= row["score"] <= 1 for row in finished) else "",
        "canonical": request.build_absolute_uri(request.path),
        **{name: rows for name, (_, rows) in files.items() if name != "queue"},
        **{f"{name}_filled": filled(rows, columns) for name, (columns, rows) in files.items() if name != "queue"},
        **_figures(now),
    }
    response = render(request, "queue.html", context)
    if context["live"]:  # it changes with time and with parts of runs
        patch_cache_control(response, max_age=LIVE_SECONDS)
    return response


def _page_of_line(request: HttpRequest) -> dict[str, Any]:
    """Return the open runs, of those that wait one page, however many there are; the last page for pages beyond it."""
    page = page_of(range(MOST_WAITING), request)
    line = queue(page.start_index() - 1, page.end_index())
    if not line["waiting"] and line["number_waiting"]:
        page = page_of(range(line["number_waiting"]), request)
        line = queue(page.start_index() - 1, page.end_index())
    return line


def _worth_telling(waiting: Sequence[dict[str, Any]]) -> set[str]:
    """Return the columns in which runs that wait differ from what is usual."""
    columns = {
        "queue": any(row["run"].queue != MEASURE for row in waiting),
        "state": any(row["run"].state != Run.State.QUEUED for row in waiting),
    }
    return {name for name, differs in columns.items() if differs}


def _figures(now: datetime) -> dict[str, Any]:
    """Return how many runs of the last 30 days had a result, and how long they had waited for a worker."""
    outcomes, waits = site_state.outcomes(now), site_state.start_delays(now)
    typical, long = (spelled.approximate_time(timedelta(seconds=seconds)) for seconds in (waits["p50"], waits["p90"]))
    return {
        "outcomes": outcomes,
        "success": f"{100 * (outcomes['success'] or 0):.0f} %",
        "typical_wait": typical if waits["number"] and typical != long else "",
        "long_wait": (long if long.startswith("under") else f"at most {long}") if waits["number"] else "",
    }


# The rows of the tables, with the values of their CSV.


def _what(run: Run) -> dict[str, Any]:
    title = run.benchmark.title
    return {"run": run, "model": run.model.title, "benchmark": title, "settings": labels.variant(run)}


def open_runs(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            **_what(row["run"]),
            "position": row["position"] or None,
            "queue": row["run"].queue,
            "state": labels.sentence(state_in_words(row["run"], row["progress"])),
            "progress": row["progress"].percent,
            "items_done": row["progress"].done,
            "items": row["progress"].total,
            "seconds_left": row["progress"].left,
            "submitted": row["run"].created,
        }
        for row in rows
    ]


def _finished(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return runs with the score that stands for each, and what it is about if that is a part of the questions."""
    scores = main_scores(runs)
    return [_finished_row(run, scores.get(run.pk)) for run in runs]


def _finished_row(run: Run, score: Score | None) -> dict[str, Any]:
    pages = pages_of(run.benchmark)
    title = pages.metric_label(run.benchmark.main_metric)
    return {
        **_what(run),
        "figure": score,
        "score": score.value if score else None,
        "metric": with_part(title, score) if score else title,
        "finished": run.finished,
    }


def _failed(run: Run) -> dict[str, Any]:
    return {**_what(run), "code": run.code or run.state, "reason": run.message, "ended": run.finished}


def _worker(row: LiveWorker) -> dict[str, Any]:
    return {
        "worker": row.name,
        "queues": ", ".join(row.queues) or None,
        "device": row.device or None,
        "run": row.run,
        "runs": f"{row.run.model.hub_id} on {row.run.benchmark.title}" if row.run else None,
        "seen": row.last_seen,
    }
