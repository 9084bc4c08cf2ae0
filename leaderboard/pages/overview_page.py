"""/ : which models know what: who knows most, a table of one topic or of all, and a curve of scores against sizes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.urls import NoReverseMatch, reverse

from leaderboard.figures.filters import OVERVIEW_FACETS, OverviewFilter, read_overview_filter
from leaderboard.figures.leaders import column_groups, fullest
from leaderboard.figures.overview import (
    BenchmarkColumn,
    Figure,
    Measure,
    ModelRow,
    Overview,
    citations,
    model_rows,
    overview,
    parts_by_slug,
    running,
    versions,
)
from leaderboard.figures.scores import OVERALL_SLICE, PART_SETTINGS, Slice, parts_among
from leaderboard.models import Benchmark
from leaderboard.models.run import run_url
from leaderboard.pages.overview_answers import (
    Answer,
    SizeClass,
    answer,
    measured_beside,
    other_topics,
    published_of,
    size_classes,
)
from leaderboard.pages.overview_table import Details, Grouped, overview_table, topic_table
from leaderboard.pages.rendering import page_reference, show
from leaderboard.probes import pages_of
from leaderboard.probes.benchmark_words import TOPICS
from leaderboard.probes.culture.sides import pair_title
from leaderboard.ui import charts, labels
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.charts.scaling_chart import SizedScore, best_of_size
from leaderboard.ui.labels import number_of
from leaderboard.ui.links import PageLink, link
from leaderboard.ui.tables import Table, best_and_largest, select, source
from probing.analysis.breakdowns import split_group
from probing.analysis.culture_metrics import PAIR_IN_LANGUAGE

DEFAULT_SORT = "coverage"
EVERY_TOPIC = "all"
LEADING = {True: 3, False: 2}  # columns before those of benchmarks, by whether all topics are shown


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
    """The table of models, and the benchmarks that its page shows: those with anything in its rows.

    `main`: the benchmark whose groups are columns as well, in a table of one topic. `heads` stand above the columns,
    and `starts` are the columns with which they begin. `sources`: what published figures of its page are cited from.
    """

    table: Table[ModelRow]
    shown: Sequence[BenchmarkColumn]
    main: Grouped | None
    heads: Sequence[TopicHead]
    starts: Sequence[str]
    sources: Mapping[int, str]


@dataclass(frozen=True)
class PartChoice:
    """A group of items of which one is shown at a time, such as a culture pair in one language."""

    value: str
    title: str
    chosen: bool


class Findings(NamedTuple):
    """Who is best in each class of sizes of the main benchmark and in each other topic, and the curve.

    `others` begin with the best model measured here where the main benchmark has published figures only.
    """

    classes: Sequence[SizeClass]
    others: Sequence[tuple[BenchmarkColumn, SizeClass]]
    charts: Sequence[Chart]


class Selection(NamedTuple):
    """What a reader chose: the part and the topic with its columns, and the rows among its candidates that pass.

    `measures`: what is shown of each benchmark. `everything`: the overview of all topics.
    """

    measures: Sequence[Measure]
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
    main = main_column(chosen, query)
    matrix = _matrix(chosen, main, query)
    curve = curve_column(chosen.everything.columns, query.get("curve", ""), main)
    findings = _findings(chosen, main, curve)
    details = f"{number_of(len(chosen.rows), 'model')} on {number_of(len(chosen.columns), 'benchmark')}"
    reference = page_reference(request, "overview", "What language models know: figures by benchmark", details)
    return show(
        request,
        "overview.html",
        _context(chosen, matrix, curve, query) | _answers(findings, matrix, query),
        [matrix.table],
        findings.charts,
        reference=reference if matrix.table.rows else None,
    )


def _context(chosen: Selection, matrix: Matrix, curve: BenchmarkColumn | None, query: QueryDict) -> dict[str, Any]:
    """Return what the template needs beside the table, the answers and the curve."""
    everything, columns, filters = chosen.everything, chosen.columns, chosen.filters
    return {
        "models": len(everything.rows),
        "benchmarks": len(chosen.measures),
        "updated": everything.updated,
        "running": running(),
        "filters": filters,
        "facets": [(facet, filters.chosen.get(facet.name, "")) for facet in OVERVIEW_FACETS],
        "parts": chosen.parts if any(column.measure.part != OVERALL_SLICE for column in columns) else [],
        "tabs": _tabs(query, everything.columns, chosen.topic),
        "topic": chosen.topic,
        "topics": matrix.heads,
        "leading": LEADING[matrix.main is None],
        "about": {column.slug: column for column in columns},
        "starts": matrix.starts,
        "default_sort": "" if matrix.main or matrix.table.sorting(query)[0] else DEFAULT_SORT,
        "left": _left_without(filters, chosen.candidates, query) if not matrix.table.rows else [],
        "near": _near(filters, chosen.candidates, query) if not matrix.table.rows else [],
        "curves": [(column, column is curve) for column in everything.columns if column.figures],
        "kept": {"topic": chosen.topic.lower() or EVERY_TOPIC, "sort": query.get("sort", "")},
    }


def _findings(chosen: Selection, main: BenchmarkColumn | None, curve: BenchmarkColumn | None) -> Findings:
    """Return what a selection shows first."""
    everything = chosen.everything
    beside = measured_beside(everything, main) if main else []
    return Findings(
        size_classes(everything, main) if main else [],
        [*beside, *other_topics(everything, chosen.topic)],
        curve_charts(everything, curve) if curve else [],
    )


def _answers(findings: Findings, matrix: Matrix, query: QueryDict) -> dict[str, Any]:
    """Return who knows most: of each class of sizes on the main benchmark, if there is one, and of each other topic."""
    main = matrix.main
    published = published_of([*findings.classes, *(best for _, best in findings.others)])
    elsewhere = citations({figure.run for figure in published} - matrix.sources.keys())
    sources = {**matrix.sources, **{run.pk: source(run).text for run in elsewhere}}
    return {
        "main": main.column if main else None,
        "asked": _asked(main.column) if main else "",
        "answers": [answer(of_size, main.column, sources) for of_size in findings.classes] if main else [],
        "other_answers": [_topic_answer(column, best, sources, query) for column, best in findings.others],
    }


def _topic_answer(column: BenchmarkColumn, best: SizeClass, sources: Mapping[int, str], query: QueryDict) -> Answer:
    sort = f"-{column.slug}" if best.title == column.measure.title else None
    href = link(query, topic=column.measure.topic.lower(), page=None, sort=sort)
    return answer(best, column, sources, href)


def selection(query: QueryDict) -> Selection:
    """Return what a query string chooses; a page has one topic unless its reader asks for all of them."""
    benchmarks = versions()
    metrics = {pages_of(rows[0]).ranking_metric(rows[0]) for rows in benchmarks.values()}
    of_benchmarks = parts_by_slug(benchmarks, metrics)
    parts = parts_offered(of_benchmarks, query.get("part", ""))
    part = next((part for part in parts if part.chosen), None)
    shown = measures(benchmarks, of_benchmarks, part.value if part else "")
    everything = overview(shown)
    filters = read_overview_filter(query)
    topic = _topic(query, everything.columns)
    if "topic" not in query and not filters.active:
        topic = _first_topic(query, everything.columns)
    columns = [column for column in everything.columns if topic in ("", column.measure.topic)]
    candidates = everything.rows if len(columns) == len(everything.columns) else model_rows(columns)
    rows = [row for row in candidates if filters.holds(row)] if filters.active else candidates
    return Selection(shown, parts, part, everything, topic, columns, candidates, filters, rows)


def _first_topic(query: QueryDict, columns: Sequence[BenchmarkColumn]) -> str:
    """Return the topic of the first visit: the first with a figure, or none where the rows are sorted otherwise."""
    with_figures = [column for column in columns if column.figures]
    topic = with_figures[0].measure.topic if with_figures else ""
    sort = query.get("sort", "").removeprefix("-")
    elsewhere = {"coverage", *(column.slug for column in columns if column.measure.topic != topic)}
    return "" if sort in elsewhere else topic


def main_column(chosen: Selection, query: QueryDict) -> BenchmarkColumn | None:
    """Return the benchmark that a topic's table begins with: that by which the rows are sorted, or else the fullest."""
    if not chosen.topic:
        return None
    sort = query.get("sort", "").removeprefix("-")
    sorted_by = [column for column in chosen.columns if column.slug == sort and column.figures]
    return fullest(sorted_by) or fullest(chosen.columns)


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
    split = {column.measure.topic for column in columns if column.measure.part.dimension == PAIR_IN_LANGUAGE}
    return [
        TopicHead(topic, counts[topic], TOPICS[topic], part.title if part and topic in split else "")
        for topic in TOPICS
        if counts[topic]
    ]


def _tabs(query: QueryDict, columns: Sequence[BenchmarkColumn], topic: str) -> list[TopicTab]:
    """Return the links that choose a topic; sorting by a column that is not in a topic ends with it."""
    tabs = []
    for head in _topic_heads(columns, None):
        href = link(query, topic=head.title.lower(), page=None, sort=None)
        tabs.append(TopicTab(head.title, href, head.title == topic, head.question))
    return [*tabs, TopicTab("All", link(query, topic=EVERY_TOPIC, page=None, sort=None), not topic)]


def _left_without(
    filters: OverviewFilter, candidates: Sequence[ModelRow], query: QueryDict
) -> list[tuple[str, int, str]]:
    """Return for each filter its choice in words, how many models are left without it, and the link that drops it."""
    left = filters.left_without(candidates)
    return [(words, number, link(query, **{name: None, "page": None})) for name, words, number in left]


def _matrix(chosen: Selection, main: BenchmarkColumn | None, query: QueryDict) -> Matrix:
    """Return the table, with open runs and the sources of figures for the rows of the requested page."""
    grouped = Grouped(main, column_groups(main, _dimensions(main))) if main else None
    if grouped is None:
        columns, details, rows = chosen.columns, Details(), chosen.rows
        table = overview_table(rows, columns, details)
    else:
        columns = sorted(chosen.columns, key=lambda column: -len(column.figures))
        details = Details(is_dense=True, bars_of=grouped.column.slug)
        rows = [row for row in _best_first(chosen.rows, grouped.column) if row.figures]
        table = topic_table(rows, columns, grouped, details)
    page = select(table, query, all_pages=False)
    details.read(page)
    slugs = details.slugs(page) | {
        column.slug for column in columns if any(row.key in column.comparable for row in rows)
    }
    shown = [column for column in columns if column.slug in slugs and (not main or column.figures)]
    return Matrix(table, shown, grouped, *_heads(chosen, shown, grouped), details.sources)


def _dimensions(column: BenchmarkColumn) -> list[str]:
    """Return the dimensions one of which is shown beside a column where its benchmark has no domains."""
    part = column.measure.part
    return list(pages_of(column.version).default_dimensions) if part == OVERALL_SLICE else [part.dimension]


def _best_first(rows: Sequence[ModelRow], main: BenchmarkColumn) -> list[ModelRow]:
    """Return the rows with the highest figures in a column first, and those without any last."""

    def order(row: ModelRow) -> tuple[bool, float]:
        figure = row.figures.get(main.slug)
        return (row.key not in main.comparable, -figure.value if figure else 0.0)

    return sorted(rows, key=order)


def _heads(
    chosen: Selection, shown: Sequence[BenchmarkColumn], main: Grouped | None
) -> tuple[list[TopicHead], list[str]]:
    """Return the heads above the columns, and the columns with which they begin."""
    heads = _topic_heads(shown, chosen.part)
    starts = list({column.measure.topic: column.slug for column in reversed(shown)}.values())
    if main and main.groups.names:
        dimension = labels.dimension(main.groups.dimension)
        title = f"{main.column.measure.title} by {dimension[:1].lower()}{dimension[1:]}"
        heads.append(TopicHead(title, len(main.groups.names), "Darker fields are higher figures of their column."))
        starts.append(labels.group_column(main.groups.dimension, main.groups.names[0]))
    return heads, starts


# The curve of the overview: the figures of one benchmark against the sizes of the models.


def curve_column(
    columns: Sequence[BenchmarkColumn], slug: str, main: BenchmarkColumn | None = None
) -> BenchmarkColumn | None:
    """Return the benchmark of the curve: the one named by the slug, the main one of the table, or the fullest."""
    named = [column for column in columns if column.slug == slug and column.figures]
    return next(iter(named), None) or main or fullest(columns)


def curve_charts(everything: Overview, column: BenchmarkColumn) -> list[Chart]:
    """Return the curve of a benchmark, if the size of any of its models is known."""
    scores = [
        _sized(row.hub_id, row.parameters, figure)
        for row in everything.rows
        if row.parameters and (figure := column.comparable.get(row.key))
    ]
    if not scores:
        return []
    metric = pages_of(column.version).metric_label(column.metric)
    title = f"{_asked(column)}: {labels.within(metric)} by model size"
    plot = charts.scaling_curve(scores, column.chance, labels.within(metric))
    return [Chart("curve", title, _summary(title, scores, column.chance), plot)]


def _asked(column: BenchmarkColumn) -> str:
    """Return the title of a benchmark with the part of its items that the figures are about, if it is a part."""
    title, part = column.measure.title, column.measure.part
    return f"{title}, {part_title(part)}" if part.dimension == PAIR_IN_LANGUAGE else title


def _sized(hub_id: str, parameters: int, figure: Figure) -> SizedScore:
    name, href = hub_id.rpartition("/")[2], run_url(figure.run)
    return SizedScore(
        name, figure.value, figure.low, figure.high, parameters, figure.family, figure.is_measured, href, figure.kind
    )


def _summary(title: str, scores: Sequence[SizedScore], chance: float | None) -> str:
    """Describe the curve: how many models from which sources, the best and the largest, and what guessing reaches."""
    measured = sum(score.is_measured for score in scores)
    sentences = [
        f"{title}, {labels.number_of(len(scores), 'model')}: {measured} measured here (filled points), "
        f"{len(scores) - measured} published (hollow points).",
        best_and_largest(scores),
        f"Nothing of their size beats {', '.join(score.label for score in best_of_size(scores))}.",
    ]
    if chance is not None:
        sentences.append(f"Guessing reaches {chance:.3f}.")
    return " ".join(sentences)


def parts_offered(by_slug: Mapping[str, Sequence[Slice]], group: str) -> list[PartChoice]:
    """Return the parts between which a reader chooses: the first, as on all pages, unless another is asked for.

    They are pairs of cultures in a language, which all benchmarks with languages follow; or languages without any.
    """
    offered = parts_among({part for parts in by_slug.values() for part in parts})
    groups = [part.group for part in offered]
    chosen = group if group in groups else next(iter(groups), "")
    return [PartChoice(part.group, part_title(part), part.group == chosen) for part in offered]


def measures(
    versions: Mapping[str, Sequence[Benchmark]], by_slug: Mapping[str, Sequence[Slice]], group: str
) -> list[Measure]:
    """Return what is shown of each benchmark, by topic; of those with parts, only the one that is chosen."""
    chosen = [_measure(rows, _chosen_part(by_slug.get(slug, ()), group)) for slug, rows in versions.items()]
    return sorted(chosen, key=lambda measure: list(TOPICS).index(measure.topic))


def _chosen_part(own: Sequence[Slice], group: str) -> Slice:
    """Return the part of a benchmark: the chosen pair, or the language that is chosen, or else its first one."""
    main = next(iter(own), OVERALL_SLICE)
    if main.dimension == PAIR_IN_LANGUAGE:
        return Slice(PAIR_IN_LANGUAGE, group)
    return next((part for part in own if part.group == group.rpartition(" ")[2]), main)


def _measure(rows: Sequence[Benchmark], part: Slice) -> Measure:
    current = rows[0]
    pages = pages_of(current)
    metrics = [pages.ranking_metric(current), *pages.metrics_beside(current)]
    if part == OVERALL_SLICE:
        return Measure(current.title, pages.topic, rows, metrics, part)
    is_pair = part.dimension == PAIR_IN_LANGUAGE  # whose name stands above all columns of the topic
    title = current.title if is_pair else f"{current.title}, {part_title(part)}"
    return Measure(title, pages.topic, rows, metrics[:1], part, PART_SETTINGS)


def part_title(part: Slice) -> str:
    *pair, language = split_group(*part)
    return ", ".join([*map(pair_title, pair), f"in {labels.language(language)}"])
