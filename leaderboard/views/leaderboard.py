"""/ : every finished run of one benchmark, in groups of equal settings with ranks of their own."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404

from leaderboard.display import cells, charts, labels
from leaderboard.display.cells import Cell
from leaderboard.display.charts import Chart, Point
from leaderboard.display.columns import interval_columns, model_column, settings_column, source_column
from leaderboard.display.tables import PAGE_SIZE, Column, Table
from leaderboard.lists import runs
from leaderboard.lists.scores import Slice
from leaderboard.lists.standings import Leaderboard, LeaderboardFilter, Standing, leaderboard
from leaderboard.models import Benchmark, Run, Score
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.filters import offered_slices, read_filter
from leaderboard.probe_pages.pages import ProbePages
from leaderboard.probe_pages.published_sections import published_tables
from leaderboard.rank_tables import RunRank
from leaderboard.stored.chance import HUB_ID as CHANCE
from leaderboard.views.page import show

RANK_HELP = "The best and the worst place within its group; all places hold at once in 95 of 100 samples of items."


def leaderboard_view(request: HttpRequest) -> HttpResponseBase:
    benchmarks = list(runs.benchmarks())
    if not benchmarks:
        return show(request, "leaderboard.html", {"benchmarks": []})
    benchmark = _chosen(request.GET, benchmarks)
    offered = offered_slices(benchmark)
    filters = read_filter(request.GET, benchmark, offered)
    board = leaderboard(filters)
    context = {
        "benchmarks": benchmarks,
        "benchmark": benchmark,
        "asked": filters,
        "facets": board.facets,
        "slices": _grouped(offered, filters),
        "narrowed": bool(filters.search or filters.chosen),
        "named": runs.models_named(filters.search) if filters.search else [],
    }
    tables: list[Table[Any]] = [_standings_table(filters, board), *published_tables(benchmark)]
    return show(request, "leaderboard.html", context, tables, _scatter(filters, board))


def _chosen(query: QueryDict, benchmarks: Sequence[Benchmark]) -> Benchmark:
    slug = query.get("benchmark")
    return get_object_or_404(Benchmark, slug=slug, current=True) if slug else benchmarks[0]


def _grouped(offered: list[Slice], filters: LeaderboardFilter) -> list[tuple[str, list[tuple[Slice, bool]]]]:
    """Return the column chooser: by dimension, each group with whether it is a column."""
    groups: dict[str, list[tuple[Slice, bool]]] = {}
    for part in offered:
        groups.setdefault(labels.dimension(part.dimension), []).append((part, part in filters.slices))
    return list(groups.items())


def _standings_table(filters: LeaderboardFilter, board: Leaderboard) -> Table[Standing]:
    benchmark = filters.benchmark
    pages = pages_of(benchmark)
    title = pages.metric_label(filters.metric)
    return Table(
        name="leaderboard",
        caption=f"{benchmark.title}: {labels.within(title)} of every model",
        columns=[
            *_model_columns(),
            settings_column(lambda row: row.run),
            *_common_columns(board.standings, pages),
            Column(filters.metric, title, _main_score, "Value ± half the width of its 95 % interval.", align="score"),
            *interval_columns(lambda row: row.main),
            *_spread_column(board.standings),
            *_count_column(pages),
            *(_secondary_column(metric, pages) for metric in pages.metrics_beside(benchmark)),
            *(column for part in filters.slices for column in pages.slice_columns(part, filters.metric)),
            *_run_columns(),
        ],
        rows=board.standings,
        main=True,
        band=_band,
        heading=lambda row: row.heading,
        pinned="baseline",
        page_size=PAGE_SIZE,
        order=f"-{filters.metric}",
        cards=True,
        empty="No model passes these filters. Remove one of them, or submit a model.",
    )


def _main_score(row: Standing) -> Cell:
    return cells.of_run(cells.of_score(row.main), row.run)


def _band(row: Standing) -> str:
    if row.run.provenance == Run.Provenance.BASELINE:
        return "baseline"
    return "ranked" if row.rank else "reported"


def _model_columns() -> list[Column[Standing]]:
    return [
        Column("rank", "Rank", _rank, RANK_HELP, _rank_key, "rank"),
        model_column(lambda row: row.run),
        Column("kind", "Kind", lambda row: cells.text(row.run.model.kind)),
        Column("parameters", "Parameters", lambda row: cells.parameters(row.run.model.parameters), align="number"),
    ]


def _rank(row: Standing) -> Cell:
    if row.rank:
        return cells.text(str(row.rank))
    note = f"It shares too few items with the others: only {row.stored_rank.counted}" if row.stored_rank else ""
    return Cell(None, "–", note=f"{note} count for it." if note else "")


def _rank_key(row: Standing) -> tuple[int, int] | None:
    return (row.rank.best, row.rank.worst) if row.rank else None


def _spread_column(rows: list[Standing]) -> list[Column[Standing]]:
    """Return the column with the spread over templates, where any run was asked with several."""
    if not any(row.spread is not None for row in rows):
        return []
    help_text = "Standard error of the mean over templates."
    return [
        Column("sem", labels.metric("accuracy_sem"), lambda row: cells.number(row.spread), help_text, align="number")
    ]


def _count_column(pages: ProbePages) -> list[Column[Standing]]:
    if pages.count_column is None:
        return []
    title, help_text = pages.count_column
    return [Column("n", title, lambda row: cells.items((row.main and row.main.n) or None), help_text, align="number")]


def _common_columns(rows: list[Standing], pages: ProbePages) -> list[Column[Standing]]:
    """Return the columns with the figures on common items, where these are not all items of every ranked run."""
    ranks = [rank for row in rows for rank in row.stored_ranks.values()]
    if all(rank.n == rank.counted for rank in ranks):
        return []
    metrics = dict.fromkeys(rank.metric for rank in ranks)
    main = rows[0].metric
    counted = Column[Standing](
        f"{main}_common_n",
        "Common items",
        lambda row: cells.number(row.stored_rank.n if row.stored_rank else None),
        "The items that count for all ranked runs of the group; ranks and figures on common items are about them.",
        align="number",
    )
    columns = [column for metric in metrics for column in _common_figure(metric, pages.metric_label(metric))]
    return [*columns, counted]


def _common_figure(metric: str, title: str) -> list[Column[Standing]]:
    def figure(row: Standing) -> RunRank | None:
        return row.stored_ranks.get(metric)

    def cell(row: Standing) -> Cell:
        rank = figure(row)
        return cells.score(rank.value, rank.low, rank.high) if rank and rank.value is not None else Cell(None, "–")

    def bound(end: str) -> Column[Standing]:
        name = f"{metric}_common_{end}"
        return Column(name, "", lambda row: cells.number(getattr(figure(row), end, None)), shown=False)

    return [
        Column(f"{metric}_common", f"{title}, common items", cell, "With its 95 % interval.", align="score"),
        bound("low"),
        bound("high"),
    ]


def _secondary_column(metric: str, pages: ProbePages) -> Column[Standing]:
    return Column(metric, pages.metric_label(metric), lambda row: cells.number(row.value(metric), 2), align="number")


def _run_columns() -> list[Column[Standing]]:
    return [
        source_column(lambda row: row.run, align="wide"),
        Column("date", "Date", lambda row: cells.day(row.run.finished)),
        Column("group", "", lambda row: cells.text(row.run.settings_group), shown=False),
        Column("run", "", lambda row: cells.number(row.run.pk), shown=False),
        Column("commit", "", lambda row: cells.text(row.run.model.commit), shown=False),
        Column("version", "", lambda row: cells.text(row.run.benchmark.version), shown=False),
    ]


def _scatter(filters: LeaderboardFilter, board: Leaderboard) -> list[Chart]:
    """Return the chart of scores against sizes, if the size of any model is known.

    Only the first group has it, as figures of different settings share no axis.
    """
    title = pages_of(filters.benchmark).metric_label(filters.metric)
    groups = [row.heading for row in board.standings if row.run.provenance != Run.Provenance.BASELINE]
    first = [row for row in board.standings if not row.heading or row.heading == groups[0]]
    scored = [row for row in first if row.main and row.main.value is not None]
    chance = next((row.main.value for row in scored if row.main and row.run.model.hub_id == CHANCE), None)
    sized = [row for row in scored if row.run.model.parameters and row.run.provenance != Run.Provenance.BASELINE]
    if not sized:
        return []
    models = labels.counted([row.run for row in sized])
    summary = f"{title} of {models} by number of parameters. The figures are in the table."
    figure = charts.against_parameters(_points(sized), chance, labels.within(title))
    return [Chart("scatter", f"{title} and size", summary, figure)]


def _points(rows: list[Standing]) -> list[Point]:
    return [_point(row.run, row.main, row.main.value) for row in rows if row.main and row.main.value is not None]


def _point(run: Run, score: Score, value: float) -> Point:
    group = run.model.kind or "unknown kind"
    return Point(
        run.name,
        value,
        score.low,
        score.high,
        run.model.parameters,
        f"{group}, published" if run.is_published else group,
        run.get_absolute_url(),
    )
