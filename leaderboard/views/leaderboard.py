"""/ : every finished run of one benchmark, ranked by what the intervals allow."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404

from leaderboard.display import cells, charts, labels
from leaderboard.display.breakdowns import bounds, provenance, settings_column
from leaderboard.display.cells import Cell
from leaderboard.display.charts import Chart, Point
from leaderboard.display.tables import PAGE_SIZE, Column, Table
from leaderboard.lists import queries
from leaderboard.lists.queries import Slice
from leaderboard.lists.standings import (
    FACETS,
    GAP,
    Leaderboard,
    LeaderboardFilter,
    Standing,
    leaderboard,
)
from leaderboard.models import Benchmark, Run, Score
from leaderboard.stored.chance import HUB_ID as CHANCE
from leaderboard.views.page import show
from probing.analysis.culture import CROSSED, WITH_GAP

PROVENANCE = Run.Provenance


def leaderboard_view(request: HttpRequest) -> HttpResponseBase:
    benchmarks = list(queries.benchmarks())
    if not benchmarks:
        return show(request, "leaderboard.html", {"benchmarks": []})
    benchmark = _chosen(request.GET, benchmarks)
    slices = queries.slices(benchmark)
    asked = read_filter(request.GET, benchmark, slices)
    found = leaderboard(asked)
    context = {
        "benchmarks": benchmarks,
        "benchmark": benchmark,
        "asked": asked,
        "facets": found.facets,
        "slices": _grouped(slices, asked),
        "narrowed": bool(asked.search or asked.chosen),
        "named": queries.models_named(asked.search) if asked.search else [],
    }
    return show(request, "leaderboard.html", context, [table(asked, found)], scatter(asked, found))


def _chosen(query: QueryDict, benchmarks: list[Benchmark]) -> Benchmark:
    slug = query.get("benchmark")
    return get_object_or_404(Benchmark, slug=slug, current=True) if slug else benchmarks[0]


def read_filter(query: QueryDict, benchmark: Benchmark, slices: list[Slice]) -> LeaderboardFilter:
    """What the query string asks for; what does not exist is left out."""
    chosen = {facet.name: query.get(facet.name, "") for facet in FACETS}
    wanted = {Slice.parse(text) for text in query.getlist("columns")}
    if "columns" not in query:
        wanted = {part for part in slices if part.dimension in queries.SHOWN.get(benchmark.probe, ())}
    return LeaderboardFilter(
        benchmark,
        chosen={facet.name: chosen[facet.name] for facet in FACETS if chosen[facet.name] in facet.choices},
        search=query.get("search", "").strip(),
        slices=list(dict.fromkeys(part for each in slices if each in wanted for part in _with_sides(each, slices))),
        rank_published=query.get("published") == "ranked",
    )


def _with_sides(chosen: Slice, slices: list[Slice]) -> list[Slice]:
    """A culture pair comes behind its two cultures."""
    of_sides = f"{chosen.dimension}_culture" if chosen.dimension in WITH_GAP else ""
    return [
        *(part for part in slices if part.dimension == of_sides and part.group.startswith(f"{chosen.group} ")),
        chosen,
    ]


def _grouped(slices: list[Slice], asked: LeaderboardFilter) -> list[tuple[str, list[tuple[Slice, bool]]]]:
    """The column chooser: dimension by dimension, each group with whether it is shown."""
    groups: dict[str, list[tuple[Slice, bool]]] = {}
    for part in slices:
        groups.setdefault(labels.dimension(part.dimension), []).append((part, part in asked.slices))
    return list(groups.items())


def table(asked: LeaderboardFilter, found: Leaderboard) -> Table[Standing]:
    title = labels.metric(queries.headline(asked.benchmark))
    return Table(
        name="leaderboard",
        caption=f"{asked.benchmark.title}: {labels.within(title)} of every model",
        columns=[
            *_about_model(),
            *settings_column(found.standings, lambda row: row.run),
            *_main_score(queries.headline(asked.benchmark)),
            *_spread(found.standings),
            *_counted(asked.benchmark),
            *map(_beside_column, queries.BESIDE.get(asked.benchmark.probe, ())),
            *(column for part in asked.slices for column in _slice_columns(part)),
            *_about_run(),
        ],
        rows=found.standings,
        main=True,
        band=band,
        pinned="baseline",
        page_size=PAGE_SIZE,
        cards=True,
        empty="No model here passes these filters. Drop one of them, or submit a model.",
    )


def band(row: Standing) -> str:
    if row.run.provenance == PROVENANCE.BASELINE:
        return "baseline"
    return "ranked" if row.rank else "reported"


def _about_model() -> list[Column[Standing]]:
    return [
        Column("rank", "Rank", _rank, "Best and worst place that the 95 % intervals allow.", _rank_key, "rank"),
        Column("model", "Model", _model, align="head"),
        Column("kind", "Kind", lambda row: cells.text(row.run.model.kind)),
        Column("parameters", "Parameters", lambda row: cells.parameters(row.run.model.parameters), align="number"),
    ]


def _rank(row: Standing) -> Cell:
    return cells.text(str(row.rank)) if row.rank else Cell(None, "–")


def _rank_key(row: Standing) -> tuple[int, int] | None:
    return (row.rank.best, row.rank.worst) if row.rank else None


def _model(row: Standing) -> Cell:
    return cells.text(row.run.model.hub_id, href=row.run.get_absolute_url())


def _main_score(metric: str) -> list[Column[Standing]]:
    title = labels.metric(metric)
    return [
        Column(metric, title, lambda row: cells.of_score(row.main), "With its 95 % interval.", align="score"),
        *bounds(lambda row: row.main),
    ]


def _spread(rows: list[Standing]) -> list[Column[Standing]]:
    """Over templates, where any run was asked with several."""
    if not any(row.spread is not None for row in rows):
        return []
    about = "Standard error of the mean over templates."
    return [Column("sem", "Template SEM", lambda row: cells.number(row.spread), about, align="number")]


def _counted(benchmark: Benchmark) -> list[Column[Standing]]:
    """How many items count, where that depends on the model."""
    if benchmark.probe not in queries.COUNTED:
        return []
    title, which = queries.COUNTED[benchmark.probe]
    return [Column("n", title, lambda row: cells.items((row.main and row.main.n) or None), which, align="number")]


def _beside_column(metric: str) -> Column[Standing]:
    return Column(metric, labels.metric(metric), lambda row: cells.number(row.beside[metric], 2), align="number")


def _slice_columns(part: Slice) -> list[Column[Standing]]:
    """Of a culture pair, the gap between its cultures before both together. Their intervals are in the CSV."""
    return [
        *(
            [_gap_column(part), *_bounds(f"{GAP}:{part.group}", lambda row: row.gaps.get(part))]
            if part.dimension in WITH_GAP
            else []
        ),
        _slice_column(part),
        *_bounds(str(part), lambda row: row.scores.get(part)),
    ]


def _bounds(name: str, score: Callable[[Standing], Score | None]) -> list[Column[Standing]]:
    def end(which: str) -> Column[Standing]:
        return Column(f"{name}_{which}", "", lambda row: cells.bound(getattr(score(row), which, None)), shown=False)

    return [end("low"), end("high")]


def _gap_column(part: Slice) -> Column[Standing]:
    def gap(row: Standing) -> Cell:
        score = row.gaps.get(part)
        return cells.number(None) if score is None or score.value is None else cells.signed(score.value)

    return Column(f"{GAP}:{part.group}", f"Gap: {part.group}", gap, "First culture minus West.", align="number")


def _slice_column(part: Slice) -> Column[Standing]:
    title = part.group if part.dimension in CROSSED else f"{labels.dimension(part.dimension)}: {part.group}"
    return Column(str(part), title, lambda row: cells.of_score(row.scores.get(part)), align="score")


def _about_run() -> list[Column[Standing]]:
    return [
        Column("provenance", "Source", lambda row: provenance(row.run), align="wide"),
        Column("date", "Date", lambda row: cells.day(row.run.finished)),
        Column("run", "", lambda row: cells.number(row.run.pk), shown=False),
        Column("commit", "", lambda row: cells.text(row.run.model.commit), shown=False),
        Column("version", "", lambda row: cells.text(row.run.benchmark.version), shown=False),
    ]


def scatter(asked: LeaderboardFilter, found: Leaderboard) -> list[Chart]:
    """The models whose size is known, if any."""
    title = labels.metric(queries.headline(asked.benchmark))
    known = [row for row in found.standings if row.main and row.main.value is not None]
    chance = next((row.main.value for row in known if row.run.model.hub_id == CHANCE), None)
    drawn = [row for row in known if row.run.model.parameters and row.run.provenance != PROVENANCE.BASELINE]
    if not drawn:
        return []
    counted = labels.counted([row.run for row in drawn])
    summary = f"{title} of {counted} against their numbers of parameters. The figures are in the table."
    plot = charts.against_parameters([_point(row) for row in drawn], chance, labels.within(title))
    return [Chart("scatter", f"{title} and size", summary, plot)]


def _point(row: Standing) -> Point:
    score, run = row.main, row.run
    published = run.provenance == PROVENANCE.PUBLISHED
    group = run.model.kind or "unknown kind"
    return Point(
        run.name,
        score.value,
        score.low,
        score.high,
        run.model.parameters,
        f"{group}, published" if published else group,
        run.get_absolute_url(),
    )
