"""/ : which models know what: a curve of scores against sizes, and the figure of each model on each benchmark."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.urls import NoReverseMatch, reverse

from leaderboard.figures.overview import (
    BenchmarkColumn,
    Figure,
    Measure,
    ModelRow,
    Overview,
    Provenance,
    citations,
    groups,
    model_rows,
    overview,
    running,
    versions,
    with_open_runs,
)
from leaderboard.figures.overview_filter import FACETS, OverviewFilter, read_overview_filter
from leaderboard.figures.profiles import family_of
from leaderboard.figures.runs import ANY_VERSION
from leaderboard.figures.scores import OVERALL_SLICE, Slice
from leaderboard.models import Benchmark
from leaderboard.models.run import run_url
from leaderboard.pages.rendering import page_reference, show
from leaderboard.pages.search_page import benchmarks_and_relations, page_named
from leaderboard.probes import pages_of
from leaderboard.probes.benchmark_words import TOPICS
from leaderboard.probes.culture.pairs import EVERYTHING
from leaderboard.probes.culture.sides import pair_title
from leaderboard.probes.probe_pages import Split
from leaderboard.ui import cells, charts, labels
from leaderboard.ui.cells import Bar, Cell, Raw
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.charts.curves import SizedScore
from leaderboard.ui.columns import best_and_largest, source
from leaderboard.ui.labels import number_of
from leaderboard.ui.links import PageLink, link
from leaderboard.ui.tables import PAGE_SIZE, Column, Table, select
from probing.analysis.breakdowns import split_group

DEFAULT_SORT = "coverage"


class TopicTab(NamedTuple):
    """A link that shows only the benchmarks of one topic, or all of them."""

    title: str
    href: str
    current: bool
    question: str = ""


class TopicHead(NamedTuple):
    """The heading above the columns of a topic; `part` names the items that they are about, where a reader chooses."""

    title: str
    columns: int
    question: str
    part: str = ""


class Matrix(NamedTuple):
    """The table of models and benchmarks, and the benchmarks that its page shows: those with anything in its rows."""

    table: Table[ModelRow]
    shown: Sequence[BenchmarkColumn]


@dataclass(frozen=True)
class PartChoice:
    """A group of items of which one is shown at a time, such as a culture pair in one language."""

    value: str
    title: str
    chosen: bool


class Selection(NamedTuple):
    """What a reader chose: the part and the topic with its columns, and the rows among its candidates that pass.

    `benchmarks`: their number. `everything`: the overview of all topics.
    """

    benchmarks: int
    parts: Sequence[PartChoice]
    part: PartChoice | None
    everything: Overview
    topic: str
    columns: Sequence[BenchmarkColumn]
    candidates: Sequence[ModelRow]
    filters: OverviewFilter
    rows: Sequence[ModelRow]


def overview_view(request: HttpRequest) -> HttpResponseBase:
    query = request.GET
    if "benchmark" in query:
        return _to_benchmark(query)
    chosen = selection(query)
    if not chosen.rows and not request.headers.get("HX-Request") and (page := page_named(chosen.filters.search)):
        return HttpResponseRedirect(page)
    matrix = _matrix(chosen.rows, chosen.columns, query)
    curve = curve_column(chosen.everything.columns, query.get("curve", ""), chosen.topic)
    details = f"{number_of(len(chosen.rows), 'model')} on {number_of(len(chosen.columns), 'benchmark')}"
    reference = page_reference(request, "overview", "What language models know: figures by benchmark", details)
    return show(
        request,
        "overview.html",
        _context(chosen, matrix, curve, query),
        [matrix.table],
        curve_charts(curve, chosen.everything.rows),
        reference=reference if matrix.table.rows else None,
    )


def _context(chosen: Selection, matrix: Matrix, curve: BenchmarkColumn | None, query: QueryDict) -> dict[str, Any]:
    """Return what the template needs beside the table and the curve."""
    everything, columns, filters = chosen.everything, chosen.columns, chosen.filters
    return {
        "models": len(everything.rows),
        "benchmarks": chosen.benchmarks,
        "updated": everything.updated,
        "running": running(),
        "quiz": _quiz(everything.columns),
        "filters": filters,
        "named": benchmarks_and_relations(filters.search),
        "facets": [(facet, filters.chosen.get(facet.name, "")) for facet in FACETS],
        "parts": chosen.parts if any(column.measure.part != OVERALL_SLICE for column in columns) else [],
        "tabs": _tabs(query, everything.columns, chosen.topic),
        "topics": _topic_heads(matrix.shown, chosen.part),
        "about": {column.slug: column for column in columns},
        "starts": list({column.measure.topic: column.slug for column in reversed(matrix.shown)}.values()),
        "default_sort": "" if matrix.table.sorting(query)[0] else DEFAULT_SORT,
        "left": _left_without(filters, chosen.candidates, query) if not matrix.table.rows else [],
        "near": _near(filters, chosen.candidates, query) if not matrix.table.rows else [],
        "curves": [(column, column is curve) for column in everything.columns if column.figures],
        "kept": [(name, query[name]) for name in ("sort", "topic") if query.get(name)],
    }


def selection(query: QueryDict) -> Selection:
    """Return what a query string chooses."""
    benchmarks = versions()
    parts = parts_offered(benchmarks, query.get("part", ""))
    part = next((part for part in parts if part.chosen), None)
    everything = overview(measures(benchmarks, part.value if part else ""))
    topic = _topic(query, everything.columns)
    columns = [column for column in everything.columns if topic in ("", column.measure.topic)]
    candidates = model_rows(columns) if topic else everything.rows
    filters = read_overview_filter(query)
    rows = [row for row in candidates if filters.holds(row)]
    return Selection(len(benchmarks), parts, part, everything, topic, columns, candidates, filters, rows)


def matrix_table(chosen: Selection) -> Table[ModelRow]:
    """Return the table with all models and benchmarks of a selection, without the texts of tooltips."""
    return overview_table(chosen.rows, chosen.columns, chosen.columns, {})


def _to_benchmark(query: QueryDict) -> HttpResponseRedirect:
    """Redirect to the leaderboard of one benchmark, with all other parameters."""
    rest = query.copy()
    slug = rest.pop("benchmark")[-1]
    try:
        address = reverse("benchmark", args=[slug]) if slug else reverse("benchmarks")
    except NoReverseMatch as error:
        raise Http404(f"There is no benchmark {slug!r}.") from error
    return HttpResponseRedirect(f"{address}?{rest.urlencode()}" if rest else address)


def _near(filters: OverviewFilter, candidates: Sequence[ModelRow], query: QueryDict) -> list[PageLink]:
    """Return links that search for models with similar names."""
    return [PageLink(name, link(query, search=name, page=None)) for name in filters.near(candidates)]


def _topic(query: QueryDict, columns: Sequence[BenchmarkColumn]) -> str:
    """Return the topic whose benchmarks alone are shown; empty if all are."""
    topics = {column.measure.topic.lower(): column.measure.topic for column in columns}
    return topics.get(query.get("topic", ""), "")


def _topic_heads(columns: Sequence[BenchmarkColumn], part: PartChoice | None) -> list[TopicHead]:
    counts = Counter(column.measure.topic for column in columns)
    split = {column.measure.topic for column in columns if column.measure.part != OVERALL_SLICE}
    return [
        TopicHead(topic, counts[topic], TOPICS[topic], part.title if part and topic in split else "")
        for topic in TOPICS
        if counts[topic]
    ]


def _tabs(query: QueryDict, columns: Sequence[BenchmarkColumn], topic: str) -> list[TopicTab]:
    """Return the links that choose a topic; sorting by a column that is not in a topic ends with it."""
    tabs = [TopicTab("All", link(query, topic=None, page=None), not topic)]
    for head in _topic_heads(columns, None):
        href = link(query, topic=head.title.lower(), page=None, sort=None)
        tabs.append(TopicTab(head.title, href, head.title == topic, head.question))
    return tabs


def _left_without(
    filters: OverviewFilter, candidates: Sequence[ModelRow], query: QueryDict
) -> list[tuple[str, int, str]]:
    """Return for each filter its choice in words, how many models are left without it, and the link that drops it."""
    left = filters.left_without(candidates)
    return [(words, number, link(query, **{name: None, "page": None})) for name, words, number in left]


def _matrix(rows: Sequence[ModelRow], columns: Sequence[BenchmarkColumn], query: QueryDict) -> Matrix:
    """Return the table, with open runs and the sources of figures for the rows of the requested page."""
    page = with_open_runs(select(overview_table(rows, columns, columns, {}), query, all_pages=False))
    detailed = {row.key: row for row in page}
    slugs = {slug for row in page for slug in (*row.figures, *row.open_runs, *row.published_apart)}
    shown = [column for column in columns if column.slug in slugs]
    cited = {figure.run for row in page for figure in row.figures.values() if not figure.is_measured}
    sources = {run.pk: source(run).text for run in citations(cited)}
    return Matrix(overview_table([detailed.get(row.key, row) for row in rows], columns, shown, sources), shown)


def _quiz(columns: Sequence[BenchmarkColumn]) -> Benchmark | None:
    """Return the first benchmark of which readers can try questions themselves."""
    benchmarks = (column.measure.versions[0] for column in columns)
    playable = (row for row in benchmarks if row.path and not pages_of(row).question_form.unplayable)
    return next(playable, None)


# The curve of the overview: the figures of one benchmark against the sizes of the models.


def curve_column(columns: Sequence[BenchmarkColumn], slug: str, topic: str = "") -> BenchmarkColumn | None:
    """Return the benchmark of the curve: the one named by the slug, or else the one of the topic with most models."""
    drawable = [column for column in columns if column.figures]
    named = [column for column in drawable if column.slug == slug]
    most = sorted(drawable, key=lambda column: (column.measure.topic != topic, -len(column.figures)))
    return next(iter([*named, *most]), None)


def curve_charts(column: BenchmarkColumn | None, rows: Sequence[ModelRow]) -> list[Chart]:
    """Return the curve of a benchmark, if the size of any of its models is known."""
    if column is None:
        return []
    scores = [
        _sized(row.hub_id, row.parameters, figure)
        for row in rows
        if (figure := row.figures.get(column.slug)) and row.parameters and not column.is_about_other_items(figure)
    ]
    if not scores:
        return []
    metric = pages_of(column.version).metric_label(column.metric)
    title = f"{_asked(column)}: {labels.within(metric)} by model size"
    plot = charts.scaling_curve(scores, column.chance, labels.within(metric))
    return [Chart("curve", title, _summary(title, scores, column.chance), plot)]


def _asked(column: BenchmarkColumn) -> str:
    """Return the title of a benchmark with the part of its items that the figures are about, if it is a part."""
    split, part = pages_of(column.version).split, column.measure.part
    return column.measure.title if split is None else f"{column.measure.title}, {part_title(split, part.group)}"


def _sized(hub_id: str, parameters: int, figure: Figure) -> SizedScore:
    name, href = hub_id.rpartition("/")[2], run_url(figure.run)
    family = family_of(hub_id)
    return SizedScore(name, figure.value, figure.low, figure.high, parameters, family, figure.is_measured, href)


def _summary(title: str, scores: Sequence[SizedScore], chance: float | None) -> str:
    """Describe the curve: how many models from which sources, the best and the largest, and what guessing reaches."""
    measured = sum(score.is_measured for score in scores)
    sentences = [
        f"{title}, {labels.number_of(len(scores), 'model')}: {measured} measured here (filled points), "
        f"{len(scores) - measured} published (hollow points).",
        best_and_largest(scores),
    ]
    if chance is not None:
        sentences.append(f"Guessing reaches {chance:.3f}.")
    return " ".join(sentences)


def parts_offered(versions: Mapping[str, Sequence[Benchmark]], part: str) -> list[PartChoice]:
    """Return the groups between which a reader chooses; that of the most runs unless another is asked for."""
    split, metrics = _split(rows[0] for rows in versions.values())
    if split is None:
        return []
    offered = groups(split.dimension, metrics)
    chosen = part if part in offered else next(iter(offered), "")
    return [PartChoice(group, part_title(split, group), group == chosen) for group in sorted(offered)]


def measures(versions: Mapping[str, Sequence[Benchmark]], part: str) -> list[Measure]:
    """Return what is shown of each benchmark, by topic; of those that are split by groups, only the group `part`."""
    chosen = [_measure(rows, part) for rows in versions.values()]
    return sorted(chosen, key=lambda measure: list(TOPICS).index(measure.topic))


def _measure(rows: Sequence[Benchmark], part: str) -> Measure:
    current = rows[0]
    pages = pages_of(current)
    metrics = [pages.ranking_metric(current), *pages.metrics_beside(current)]
    if pages.split is None:
        return Measure(current.title, pages.topic, rows, metrics, OVERALL_SLICE)
    return Measure(
        current.title, pages.topic, rows, metrics[:1], Slice(pages.split.dimension, part), pages.split.options
    )


def _split(benchmarks: Iterable[Benchmark]) -> tuple[Split | None, list[str]]:
    """Return by what benchmarks are split, if any are, and their metrics."""
    split = [(pages.split, pages.ranking_metric(row)) for row in benchmarks if (pages := pages_of(row)).split]
    return (split[0][0] if split else None), list(dict.fromkeys(metric for _, metric in split))


def part_title(split: Split, group: str) -> str:
    pair, language = split_group(split.dimension, group)
    return f"{pair_title(pair)}, in {labels.language(language)}"


# The table of the overview: models as rows, benchmarks as columns, and further columns in its CSV.


BEST = "among the best of its column"
OTHER_ITEMS = "about other questions than the rest of this column"
WAITING = "waiting"
APART = "see ○"  # stands for published figures that share no column with others
OTHER_METRIC = "in another metric or with other settings than this column"
OTHER_PARTS = "about other pairs of cultures or in other languages than this column"
UNRESOLVED = "published"  # stands in place of the owner of a model that its paper does not identify


def overview_table(
    rows: Sequence[ModelRow],
    columns: Sequence[BenchmarkColumn],
    shown: Sequence[BenchmarkColumn],
    sources: Mapping[int, str],
) -> Table[ModelRow]:
    """Return the table of all rows; only the CSV has the columns that are not `shown`."""
    names = Counter(name for _, name in {(row.hub_id, row.hub_id.rpartition("/")[2]) for row in rows})
    short = {row.hub_id: names[row.hub_id.rpartition("/")[2]] for row in rows}
    tests = f"Of {len(columns)} benchmarks, those with a figure."
    return Table(
        name="overview",
        caption="Models and benchmarks",
        columns=[
            Column("model", "Model", lambda row: _model_cell(row, short), align="head"),
            Column("parameters", "Size", lambda row: cells.parameters(row.parameters), "Parameters.", align="number"),
            Column("coverage", "Tests", _coverage_cell, tests, align="number"),
            Column("hub_id", "", lambda row: cells.text(row.hub_id), shown=False),
            Column("kind", "Type", lambda row: cells.text(row.kind), shown=False),
            Column("family", "Family", lambda row: cells.text(family_of(row.hub_id)), shown=False),
            *(part for column in columns for part in _benchmark_columns(column, sources, column in shown)),
        ],
        rows=rows,
        main=True,
        page_size=PAGE_SIZE,
        empty="No model passes these filters.",
    )


def _model_cell(row: ModelRow, short: Mapping[str, int]) -> Cell:
    """Return a model's cell, with what sets its weights apart from those of the hub.

    The page hides the owner of a model whose own name no other row has. A model that only a paper names has no page.
    """
    owner, _, name = row.hub_id.rpartition("/")
    full = f"{row.hub_id} ({row.key.weights})" if row.key.weights else row.hub_id
    hidden = f"{owner}/" if short[row.hub_id] == 1 else ""
    named_only = owner == UNRESOLVED
    return Cell(
        full,
        full,
        "" if named_only else reverse("model", args=[owner, name]),
        "as named in its paper" if named_only else "",
        pieces=(hidden, row.hub_id.removeprefix(hidden), row.key.weights),
    )


def _coverage_cell(row: ModelRow) -> Cell:
    return Cell(row.coverage, str(row.coverage), note=f"{row.measured} measured here", kind="number")


def _benchmark_columns(column: BenchmarkColumn, sources: Mapping[int, str], shown: bool) -> list[Column[ModelRow]]:
    """Return the column of a benchmark, and those that only the CSV has."""
    slug, plan = column.slug, column.version.plan

    def figure(row: ModelRow) -> Figure | None:
        return row.figures.get(slug)

    def cell(row: ModelRow) -> Cell:
        stored = figure(row)
        return _figure_cell(column, stored, plan, sources) if stored else _cell_without_figure(column, row)

    def key(row: ModelRow) -> float | None:
        stored = figure(row)
        return stored.value if stored and not column.is_about_other_items(stored) else None

    def also(name: str, value: Callable[[Figure], Raw]) -> Column[ModelRow]:
        return Column(f"{slug}_{name}", "", lambda row: _raw(figure(row), value), shown=False)

    return [
        Column(slug, column.measure.title, cell, key=key, align="score", shown=shown),
        also("low", lambda stored: stored.low),
        also("high", lambda stored: stored.high),
        also("n", lambda stored: stored.n or None),
        also("metric", lambda stored: stored.metric),
        Column(f"{slug}_provenance", "", lambda row: _provenance_cell(row, slug), shown=False),
        also("version", lambda stored: ANY_VERSION if column.is_about_other_items(stored) else column.version.version),
        also("run", lambda stored: stored.run),
    ]


def _provenance_cell(row: ModelRow, slug: str) -> Cell:
    """Tell whose the figure is; a model whose published figures stand apart has a provenance and no figure."""
    stored = row.figures.get(slug)
    raw = stored.provenance if stored else Provenance.PUBLISHED.value if slug in row.published_apart else None
    return Cell(raw, raw or "")


def _raw(figure: Figure | None, value: Callable[[Figure], Raw]) -> Cell:
    raw = value(figure) if figure else None
    return Cell(raw, "" if raw is None else str(raw))


def _figure_cell(column: BenchmarkColumn, figure: Figure, plan: str, sources: Mapping[int, str]) -> Cell:
    """Return the cell of a figure; its tooltip has the interval, the number of items, the source and the settings."""
    score = cells.score(figure.value, figure.low, figure.high)
    is_best = column.is_among_the_best(figure)
    facts = [
        score.note,
        f"{figure.n:,.0f} questions" if figure.n else "",
        f"measured here, {plan}" if figure.is_measured else sources.get(figure.run, figure.provenance),
        OTHER_ITEMS if column.is_about_other_items(figure) else "",
        BEST if is_best else "",
    ]
    return Cell(
        figure.value,
        score.text,
        run_url(figure.run),
        " · ".join(filter(None, facts)),
        _bar(figure.value, column.chance) if score.bar and column.chance is not None else None,
        f"{'measured' if figure.is_measured else 'published'}{' best' * is_best}",
    )


def _bar(value: float, chance: float) -> Bar:
    """Return a bar from chance to 1; that of a model which is no better than chance has no length."""
    return Bar(100 * max(0.0, value - chance) / (1 - chance) if chance < 1 else 0.0)


def _apart_cell(column: BenchmarkColumn) -> Cell:
    """Return the cell of published figures that share no column with others; it leads to them."""
    address = reverse("benchmark", args=[column.slug])
    if column.measure.part != OVERALL_SLICE:
        return Cell(None, APART, f"{address}?part={EVERYTHING}", f"published, {OTHER_PARTS}", kind="apart")
    anchor = "" if column.measure.versions[0].version == ANY_VERSION else "#section-published"
    return Cell(None, APART, f"{address}{anchor}", f"published, {OTHER_METRIC}", kind="apart")


def _cell_without_figure(column: BenchmarkColumn, row: ModelRow) -> Cell:
    """Return the cell of an open run, or the one that leads to published figures which share no column with others."""
    run = row.open_runs.get(column.slug)
    if run is None:
        if column.slug not in row.published_apart:
            return Cell(None, "")
        return _apart_cell(column)
    text = f"{run.percent} %" if run.percent else WAITING
    return Cell(None, text, run_url(run.run), f"{run.state}, no result yet", kind="open")
