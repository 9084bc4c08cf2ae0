"""/runs/<id>/ : a run while it goes on, and what came out of it."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404

from leaderboard import cells, charts, queries, words
from leaderboard.charts import Chart, Point
from leaderboard.models import Run, Score
from leaderboard.tables import Column, Table
from leaderboard.views.page import show
from probing.settings import Settings

STATE = Run.State


@dataclass(frozen=True)
class Section:
    """One dimension: its chart with its table beside it, found by `name` among the page's charts and tables."""

    name: str
    title: str


def run_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    run = get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk)
    scores = list(run.scores.order_by("pk"))
    found = {name: rows for name, rows in queries.by_dimension(scores).items() if name != "overall"}
    tables = [all_scores(scores), *(dimension_table(run, name, rows) for name, rows in found.items())]
    drawn = [dimension_chart(run, name, rows) for name, rows in found.items()]
    context = {
        "run": run,
        "overall": [score for score in scores if score.dimension == "overall"],
        "main": _main(run, scores),
        "sections": [Section(name, words.dimension(name)) for name in found],
        "events": run.events.all(),
        "live": run.state in queries.OPEN,
        "working": run.state in queries.WORKING,
        "progress": queries.progress(run),
        "command": command(run) if run.provenance == Run.Provenance.MEASURED else "",
        "record": provenance(run),
        "phases": phases(run),
    }
    return show(request, "run.html", context, tables, drawn)


def _main(run: Run, scores: Sequence[Score]) -> Score | None:
    metric = queries.headline(run.benchmark)
    return next((score for score in scores if score.dimension == "overall" and score.metric == metric), None)


def phases(run: Run) -> list[tuple[str, str]]:
    """The states that a run passes through, each done, current or still to come."""
    order = [STATE.CHECKING, STATE.QUEUED, STATE.DOWNLOADING, STATE.SCORING, STATE.AGGREGATING, STATE.FINISHED]
    if run.state not in order:
        return []
    at = order.index(run.state)
    return [
        (state.label, "done" if n < at or run.state == STATE.FINISHED else "current" if n == at else "to come")
        for n, state in enumerate(order)
    ]


def all_scores(scores: Sequence[Score]) -> Table[Score]:
    """The tidy scores, with the columns of every scores.csv."""
    return Table(
        name="scores",
        caption="All scores",
        columns=[
            Column("metric", "Metric", lambda s: cells.text(s.metric)),
            Column("dimension", "Dimension", lambda s: cells.text(s.dimension)),
            Column("group", "Group", lambda s: cells.text(s.group)),
            Column("value", "Value", lambda s: cells.number(s.value, 4), align="number"),
            Column("n", "Items", lambda s: cells.items(s.n), align="number"),
            Column("low", "low", lambda s: cells.number(s.low, 4), align="number"),
            Column("high", "high", lambda s: cells.number(s.high, 4), align="number"),
        ],
        rows=scores,
        main=True,
        empty="No scores yet.",
    )


def dimension_table(run: Run, dimension: str, scores: Sequence[Score]) -> Table[dict[str, Score]]:
    """One line per group: the main metric with its interval, then every other metric of the dimension."""
    main = queries.headline(run.benchmark)
    groups: dict[str, dict[str, Score]] = {}
    for score in scores:
        groups.setdefault(score.group, {})[score.metric] = score
    others = dict.fromkeys(score.metric for score in scores if score.metric != main)
    return Table(
        name=dimension,
        caption=f"{words.metric(main)} by {words.dimension(dimension).lower()}",
        columns=[*_group_columns(run, dimension, main), *map(_metric_column, others)],
        rows=list(groups.values()),
    )


def _group_columns(run: Run, dimension: str, main: str) -> list[Column[dict[str, Score]]]:
    def group(row: dict[str, Score]) -> cells.Cell:
        name = next(iter(row.values())).group
        return cells.text(name, href=queries.group_url(run.benchmark, dimension, name))

    def bound(name: str) -> Any:
        return lambda row: cells.bound(getattr(row.get(main), name, None))

    return [
        Column("group", words.dimension(dimension), group, align="head"),
        Column("value", words.metric(main), lambda row: cells.of_score(row.get(main)), align="number"),
        Column("low", "low", bound("low"), "Lower end of the 95 % interval.", align="number"),
        Column("high", "high", bound("high"), "Upper end of the 95 % interval.", align="number"),
        Column("n", "Items", lambda row: cells.items(getattr(row.get(main), "n", None)), align="number"),
    ]


def _metric_column(metric: str) -> Column[dict[str, Score]]:
    return Column(
        metric,
        words.metric(metric),
        lambda row: cells.number(row[metric].value if metric in row else None),
        align="number",
    )


def dimension_chart(run: Run, dimension: str, scores: Sequence[Score]) -> Chart:
    main = queries.headline(run.benchmark)
    points = [
        Point(score.group, score.value, score.low, score.high)
        for score in scores
        if score.metric == main and score.value is not None
    ]
    chance = {s.group: s.value for s in scores if s.metric == "chance" and s.value is not None}
    title = f"{words.metric(main)} by {words.dimension(dimension).lower()}"
    return Chart(dimension, title, summary(title, points), charts.dots(points, chance, words.metric(main).lower()))


def summary(title: str, points: Sequence[Point]) -> str:
    """In words: how many groups, the lowest, the highest."""
    if not points:
        return f"{title}: nothing was measured."
    low, high = min(points, key=lambda p: p.value), max(points, key=lambda p: p.value)
    return f"{title}: from {low.value:.3f} ({low.label}) to {high.value:.3f} ({high.label}) over {len(points)} groups."


def command(run: Run) -> str:
    """The command line that measures the same."""
    settings = Settings.from_json(run.settings)
    words_ = ["python", "-m", "probing", "run", run.model.hub_id, "--benchmark", run.benchmark.slug]
    words_ += [word for name in settings.relations for word in ("--relation", name)]
    words_ += [word for number in settings.templates for word in ("--template", str(number))]
    words_ += ["--limit", str(settings.limit)] if settings.limit else []
    words_ += ["--decide"] if settings.decide else []
    changed = [(name, getattr(settings, name)) for name in ("probe", "language", "pll", "reduction", "dtype", "seed")]
    words_ += [w for name, value in changed if value != getattr(DEFAULTS, name) for w in (f"--{name}", str(value))]
    words_ += [word for name, value in settings.options.items() for word in ("--set", f"{name}={value}")]
    return shlex.join([*words_, "--out", f"run-{run.pk}"])


DEFAULTS = Settings()


def provenance(run: Run) -> list[tuple[str, Any]]:
    """run.json as lines: nested names are joined with a dot."""
    return list(_flat(run.provenance_record))


def _flat(record: dict[str, Any], prefix: str = "") -> Any:
    for name, value in record.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        elif value not in (None, "", []):
            yield f"{prefix}{name}", ", ".join(map(str, value)) if isinstance(value, list) else value
