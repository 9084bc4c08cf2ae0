"""/models/<org>/<name>/ : a model's facts, its commits, and everything measured on it."""

from django.http import Http404, HttpRequest, HttpResponseBase, QueryDict

from leaderboard import probe_pages
from leaderboard.display import cells, labels
from leaderboard.display.breakdowns import bounds, provenance, settings_column
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.lists import queries
from leaderboard.models import Run, Score
from leaderboard.views.page import show
from leaderboard.views.run import dimension_section

Row = tuple[Run, Score | None]


def model_view(request: HttpRequest, org: str, name: str) -> HttpResponseBase:
    hub_id = f"{org}/{name}"
    versions = list(queries.model_versions(hub_id))
    if not versions:
        raise Http404(f"No model is called {hub_id} here.")
    runs = list(queries.model_runs(hub_id))
    by_benchmark = _newest(runs)
    newest = by_benchmark.get(request.GET.get("benchmark", "")) or next(iter(by_benchmark.values()), None)
    shown = _sections(newest, request.GET) if newest else []
    context = {
        "hub_id": hub_id,
        "model": versions[0],
        "versions": versions,
        "newest": newest,
        "benchmarks": [run.benchmark for run in by_benchmark.values()],
        "sections": shown,
    }
    tables = [runs_table(runs), *(section.table for section in shown if section.table)]
    return show(request, "model.html", context, tables, [section.chart for section in shown if section.chart])


def _newest(runs: list[Run]) -> dict[str, Run]:
    """By benchmark, the newest finished run that was measured here."""
    found: dict[str, Run] = {}
    for run in runs:
        if run.state == Run.State.FINISHED and run.artefact:
            found.setdefault(run.benchmark.slug, run)
    return found


def _sections(run: Run, query: QueryDict) -> list[Section]:
    """The newest run's breakdowns, but for relations and templates, which its own page has."""
    found = queries.breakdowns(run, run.scores.order_by("pk"))
    wanted = [dimension_section(run, name, groups) for name, groups in found.items() if name not in queries.LAST]
    return [*probe_pages.of_run(run, query), *wanted]


def runs_table(runs: list[Run]) -> Table[Row]:
    scores = queries.overall_scores(runs)
    rows = [(run, scores.get(run.pk)) for run in runs]
    return Table(
        name="runs",
        caption="Runs of every commit",
        columns=[
            Column("run", "Run", _run, align="head"),
            Column("benchmark", "Benchmark", lambda row: cells.text(row[0].benchmark.title)),
            *settings_column(rows, lambda row: row[0]),
            Column("commit", "Commit", lambda row: cells.text(row[0].model.commit[:7])),
            Column("state", "State", lambda row: cells.text(row[0].get_state_display())),
            Column("metric", "Metric", lambda row: cells.text(labels.metric(queries.headline(row[0].benchmark)))),
            Column("score", "Score", lambda row: cells.of_score(row[1]), align="score"),
            *bounds(lambda row: row[1]),
            Column("provenance", "Source", lambda row: provenance(row[0]), align="wide"),
            Column("date", "Date", lambda row: cells.day(row[0].finished or row[0].created)),
        ],
        rows=rows,
        main=True,
        cards=True,
    )


def _run(row: Row) -> cells.Cell:
    return cells.text(f"run {row[0].pk}", href=row[0].get_absolute_url())
