"""/models/<org>/<name>/ : a model's facts, its commits, and everything measured on it."""

from dataclasses import replace
from typing import NamedTuple

from django.http import Http404, HttpRequest, HttpResponseBase, QueryDict

from leaderboard.display import cells
from leaderboard.display.columns import interval_columns, settings_column, source_column
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.lists.published import differs
from leaderboard.lists.runs import model_runs, model_versions
from leaderboard.lists.scores import LAST, breakdowns, overall_scores
from leaderboard.models import Benchmark, Run, Score
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.breakdowns import dimension_section
from leaderboard.views.page import probe_sections, show


class RunScore(NamedTuple):
    """A run and its overall score in the main metric of its benchmark."""

    run: Run
    score: Score | None


def model_view(request: HttpRequest, org: str, name: str) -> HttpResponseBase:
    hub_id = f"{org}/{name}"
    versions = list(model_versions(hub_id))
    if not versions:
        raise Http404(f"This site has no model called {hub_id}.")
    runs = list(model_runs(hub_id))
    by_benchmark = _newest(runs)
    newest = by_benchmark.get(request.GET.get("benchmark", "")) or next(iter(by_benchmark.values()), None)
    context = {
        "hub_id": hub_id,
        "model": versions[0],
        "versions": versions,
        "newest": newest,
        "benchmarks": [run.benchmark for run in by_benchmark.values()],
    }
    sections = _sections(newest, request.GET) if newest else []
    comparable = [run for run in runs if not differs(run)]
    published = [run for run in runs if differs(run)]
    tables = [runs_table(comparable), *([published_runs_table(published)] if published else [])]
    return show(request, "model.html", context, tables, sections=sections)


def _newest(runs: list[Run]) -> dict[str, Run]:
    """Map each benchmark to the newest finished run that was measured here."""
    newest: dict[str, Run] = {}
    for run in runs:
        if run.state == Run.State.FINISHED and run.artefact:
            newest.setdefault(run.benchmark.slug, run)
    return newest


def _sections(run: Run, query: QueryDict) -> list[Section]:
    """Return the run's sections and breakdowns, except for relations and templates, which its own page has."""
    pages = pages_of(run.benchmark)
    groups = breakdowns(run.scores.order_by("pk"), pages.main_metric(run.benchmark), pages.hidden_dimensions)
    sections = probe_sections(run, pages, query)
    elsewhere = {*LAST, *(section.name for section in sections)}
    return [*sections, *(dimension_section(run, pages, name, groups[name]) for name in groups if name not in elsewhere)]


def runs_table(runs: list[Run]) -> Table[RunScore]:
    scores = overall_scores(runs, _main_metric)
    rows = [RunScore(run, scores.get(run.pk)) for run in runs]
    return Table(
        name="runs",
        caption="Runs of every commit",
        columns=[
            Column("run", "Run", _run_link, align="head"),
            Column("benchmark", "Benchmark", lambda row: cells.text(row.run.benchmark.title)),
            settings_column(lambda row: row.run),
            Column("commit", "Commit", lambda row: cells.text(row.run.model.commit[:7])),
            Column("state", "State", lambda row: cells.text(row.run.get_state_display())),
            Column("metric", "Metric", lambda row: cells.text(_metric_label(row.run.benchmark))),
            Column("score", "Score", lambda row: cells.of_score(row.score), align="score"),
            *interval_columns(lambda row: row.score),
            source_column(lambda row: row.run, align="wide"),
            Column("date", "Date", lambda row: cells.day(row.run.finished or row.run.created)),
        ],
        rows=rows,
        main=True,
        cards=True,
    )


def published_runs_table(runs: list[Run]) -> Table[RunScore]:
    """Return the figures that share no column with those of measured runs, and in what they differ."""
    table = runs_table(runs)
    column = Column[RunScore]("differs", "What differs", lambda row: cells.text(differs(row.run)), align="wide")
    columns = [column for column in table.columns if column.name not in ("commit", "state", "date")]
    return replace(table, name="published", caption="Published figures", columns=[*columns, column], main=False)


def _main_metric(benchmark: Benchmark) -> str:
    return pages_of(benchmark).main_metric(benchmark)


def _metric_label(benchmark: Benchmark) -> str:
    return pages_of(benchmark).metric_label(_main_metric(benchmark))


def _run_link(row: RunScore) -> cells.Cell:
    return cells.text(f"run {row.run.pk}", href=row.run.get_absolute_url())
