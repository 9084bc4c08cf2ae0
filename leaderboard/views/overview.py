"""/ : which models know what: a curve of scores against sizes, and the figure of each model on each benchmark."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.urls import NoReverseMatch, reverse

from leaderboard.display.columns import source
from leaderboard.display.labels import number_of
from leaderboard.display.links import PageLink, link
from leaderboard.display.tables import Table, select
from leaderboard.lists.overview import citations, model_rows, overview, running, versions, with_open_runs
from leaderboard.lists.overview_filter import FACETS, OverviewFilter, read_overview_filter
from leaderboard.lists.overview_rows import BenchmarkColumn, ModelRow, Overview
from leaderboard.lists.scores import OVERALL
from leaderboard.models import Benchmark
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.overview_curve import curve_charts, curve_column
from leaderboard.probe_pages.overview_measures import PartChoice, measures, parts_offered
from leaderboard.probe_pages.overview_table import overview_table
from leaderboard.probe_pages.search import benchmarks_and_relations, page_named
from leaderboard.probe_pages.topics import TOPICS
from leaderboard.views.page import page_reference, show

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
        "parts": chosen.parts if any(column.measure.part != OVERALL for column in columns) else [],
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
    split = {column.measure.topic for column in columns if column.measure.part != OVERALL}
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
