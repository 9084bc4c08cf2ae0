"""/ : which models know what: the best one, a curve of scores against sizes, and a table of one topic or of all."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import nan
from typing import Any
from urllib.parse import quote_plus

from django.db.models import Max
from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse

from leaderboard.figures.board import FACTS, ON_FRONT_PAGE, size_class
from leaderboard.figures.filters import SIZE_TITLES
from leaderboard.figures.overview import (
    MEASURED,
    Column,
    Figure,
    Row,
    figures_on,
    model_rows,
    parts_by_slug,
    read,
    versions,
)
from leaderboard.figures.runs import measured_runs
from leaderboard.figures.scores import OVERALL_SLICE, PART_SETTINGS, Slice, parts_among
from leaderboard.figures.variants import folded
from leaderboard.figures.verdicts import level_with
from leaderboard.models import Benchmark, Run, Score
from leaderboard.models.printed import PUBLISHED
from leaderboard.pages.benchmark_page import benchmark_view, benchmarks_view
from leaderboard.pages.overview_table import (
    column_names,
    has_answers,
    heads,
    leading_columns,
    lines,
    sort_keys,
    with_values,
)
from leaderboard.pages.rendering import page_reference, reference_file, what_is_cited
from leaderboard.pages.run_page import basis
from leaderboard.probes import pages_of
from leaderboard.probes.benchmark_words import TOPICS
from leaderboard.probes.culture.sides import pair_title
from leaderboard.tables import download, ordered, page_of, sorting
from leaderboard.ui import labels
from leaderboard.ui.charts.curve import SizedScore, curve
from leaderboard.ui.links import link, model_address
from leaderboard.ui.table_files import wants_file
from probing.analysis.accuracy import MAJORITY
from probing.analysis.breakdowns import split_group
from probing.analysis.culture_metrics import PAIR_IN_LANGUAGE
from probing.kinds import KINDS
from probing.probes import probe_named
from probing.probes.probe import finding, reached_without

EVERY_TOPIC = "all"
LEAST_MODELS = 10  # measured ones, of which the best is named
# The filters, by the names of their parameters: what each is called, and the titles of its choices.
FACETS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "kind": ("Type", {kind: facts.title for kind, facts in KINDS.items()}),
    "size": ("Size", SIZE_TITLES),
    "provenance": ("Source", {MEASURED: "● measured here", PUBLISHED: "○ published"}),
}


def overview_view(request: HttpRequest) -> HttpResponseBase:
    query = request.GET
    if "benchmark" in query:
        return _to_benchmark(request)
    columns, parts = all_columns(query.get("part", ""))
    chosen = {name: query.get(name, "") for name, (_, choices) in FACETS.items() if query.get(name) in choices}
    search = query.get("search", "").strip()
    topic = _topic(query, columns, is_narrowed=bool(chosen or search))
    of_topic = [column for column in columns if topic in ("", column.topic)]
    main = main_column(of_topic, query) if topic else None
    every_row = model_rows(of_topic)
    rows = [row for row in every_row if _passes(row, chosen, search)]
    table = _table(request, rows, of_topic, main)
    if file := download(request, {"overview": (table["names"], table["rows"])}):
        return file
    numbers = [(len(table["rows"]), "model"), (len(table["columns"]), "benchmark")]
    details = " on ".join(labels.number_of(*number) for number in numbers)
    reference = page_reference(request, "overview", "What language models know: figures by benchmark", details)
    if rows and (file := reference_file(request, reference)):
        return file
    context = {
        **table,
        **what_is_cited(request, reference if rows else None),
        "models": len({key for column in columns for key in column.models}),
        "updated": _updated(columns),
        "tabs": _tabs(query, columns, topic),
        "question": TOPICS.get(topic, ""),
        "parts": parts if any(column.part != OVERALL_SLICE for column in of_topic) else [],
        "facets": _facets(every_row, chosen),
        "search": search,
        "is_narrowed": bool(chosen or search),
        "everything": link(query, page=None, search=None, **dict.fromkeys(FACETS)),
        "kept": {"topic": topic.lower() or EVERY_TOPIC, "sort": query.get("sort", "")},
        "main": main,
        "answer": _answer(main) if main else None,
        "curve": _curve(main, every_row, query) if main else None,
    }
    return render(request, "overview.html", context)


def _to_benchmark(request: HttpRequest) -> HttpResponseBase:
    """Redirect to the leaderboard of one benchmark, with all other parameters.

    A table comes at once, because many programs follow no redirects.
    """
    rest = request.GET.copy()
    slug = rest.pop("benchmark")[-1]
    if wants_file(request):
        return benchmark_view(request, slug) if slug else benchmarks_view(request)
    try:
        address = reverse("benchmark", args=[slug]) if slug else reverse("benchmarks")
    except NoReverseMatch as error:
        raise Http404(f"There is no benchmark {slug!r}.") from error
    return HttpResponseRedirect(f"{address}?{rest.urlencode()}" if rest else address)


def _updated(columns: Sequence[Column]) -> Any:
    """Return when the last of the figures was measured, None without any. One query."""
    benchmarks = [column.version.pk for column in columns]
    return measured_runs().filter(benchmark__in=benchmarks).aggregate(last=Max("finished"))["last"]


# The columns: what is shown of each benchmark, and the topic whose benchmarks alone are shown.


def all_columns(part: str = "") -> tuple[list[Column], list[Row]]:
    """Return the columns by topic, and the parts of which one is shown at a time.

    They are pairs of cultures in a language, which all benchmarks with languages follow; or languages without any. The
    first is shown, as on all pages, unless another is asked for.
    """
    benchmarks = versions()
    figures = figures_on(benchmarks, {metric for rows in benchmarks.values() for metric in _metrics(rows[0])})
    of_benchmarks = parts_by_slug(benchmarks, figures)
    offered = parts_among({part for parts in of_benchmarks.values() for part in parts})
    groups = [one.group for one in offered]
    chosen = part if part in groups else next(iter(groups), "")
    columns = [_column(rows, _part_of(of_benchmarks.get(slug, ()), chosen)) for slug, rows in benchmarks.items()]
    columns.sort(key=lambda column: list(TOPICS).index(column.topic))
    parts = [{"value": one.group, "title": part_title(one), "is_chosen": one.group == chosen} for one in offered]
    return read(columns, figures), parts


def _part_of(own: Sequence[Slice], group: str) -> Slice:
    """Return the part of a benchmark: the chosen pair, or the language that is chosen, or else its first one."""
    main = next(iter(own), OVERALL_SLICE)
    if main.dimension == PAIR_IN_LANGUAGE:
        return Slice(PAIR_IN_LANGUAGE, group)
    return next((part for part in own if part.group == group.rpartition(" ")[2]), main)


def _column(rows: Sequence[Benchmark], part: Slice) -> Column:
    current, metrics = rows[0], _metrics(rows[0])
    pages = pages_of(current)
    if part == OVERALL_SLICE:
        return Column(rows, current.title, pages.topic, metrics, part)
    is_pair = part.dimension == PAIR_IN_LANGUAGE  # whose name stands above all columns of the topic
    title = current.title if is_pair else f"{current.title}, {part_title(part)}"
    return Column(rows, title, pages.topic, metrics[:1], part, PART_SETTINGS)


def _metrics(benchmark: Benchmark) -> list[str]:
    """Return the metrics of which the first that any model has is shown."""
    return [benchmark.main_metric, *pages_of(benchmark).metrics_beside(benchmark)]


def part_title(part: Slice) -> str:
    *pair, language = split_group(*part)
    return ", ".join([*map(pair_title, pair), f"in {labels.language(language)}"])


def _asked(column: Column) -> str:
    """Return the title of a benchmark with the part of its items that the figures are about, if it is a part."""
    return f"{column.title}, {part_title(column.part)}" if _is_pair(column) else column.title


def _topic(query: QueryDict, columns: Sequence[Column], *, is_narrowed: bool) -> str:
    """Return the topic whose benchmarks alone are shown; empty if all are.

    That is the first one with a figure, unless a reader asks for another one, narrows the rows, or sorts them by
    something that it does not have.
    """
    if "topic" in query or is_narrowed:
        return {column.topic.lower(): column.topic for column in columns}.get(query.get("topic", ""), "")
    first = next((column.topic for column in columns if column.figures), "")
    elsewhere = {"coverage", *(column.slug for column in columns if column.topic != first)}
    return "" if sorting(query)[0] in elsewhere else first


def main_column(columns: Sequence[Column], query: QueryDict) -> Column | None:
    """Return the benchmark that a topic is shown by: the one by which the rows are sorted, or else the fullest."""
    with_figures = [column for column in columns if column.comparable]
    sorted_by = [column for column in with_figures if column.slug == sorting(query)[0]]
    return max(sorted_by or with_figures, key=lambda column: len(column.comparable), default=None)


def _tabs(query: QueryDict, columns: Sequence[Column], topic: str) -> list[Row]:
    """Return the links that choose a topic; sorting by a column that is not in a topic ends with it."""
    topics = [name for name in TOPICS if any(column.topic == name for column in columns)]
    return [
        {"title": name or "All", "href": link(query, topic=address, page=None, sort=None), "current": name == topic}
        for name, address in (*((name, name.lower()) for name in topics), ("", EVERY_TOPIC))
    ]


# The table and what narrows it.


def _passes(row: Row, chosen: Mapping[str, str], search: str) -> bool:
    choices = _choices(row)
    return search.lower() in row["hub_id"].lower() and all(value in choices[name] for name, value in chosen.items())


def _choices(row: Row) -> dict[str, Collection[str]]:
    """Return the choices of each filter that a row passes."""
    return {"kind": (row["kind"],), "size": (size_class(row["parameters"]),), "provenance": row["provenances"]}


def _facets(rows: Sequence[Row], chosen: Mapping[str, str]) -> list[Row]:
    """Return the filters with the choices that any of the rows passes, and those that are chosen.

    A filter with fewer than two of them is left out.
    """
    of_rows = [_choices(row) for row in rows]
    facets = []
    for name, (title, choices) in FACETS.items():
        value = chosen.get(name, "")
        passed = {value}.union(*(choices_of_row[name] for choices_of_row in of_rows))
        useful = {one: words for one, words in choices.items() if one in passed}
        if len(useful) > 1 or value:
            facets.append({"name": name, "title": title, "choices": useful, "chosen": value})
    return facets


def _table(request: HttpRequest, rows: Sequence[Row], columns: Sequence[Column], main: Column | None) -> dict[str, Any]:
    """Return the rows of the files and those of the page, and the columns of both.

    The table of a topic begins with the best models of its main benchmark; the variants of a model stand in its row,
    and the files have a row for each.
    """
    if main:
        columns = sorted(columns, key=lambda column: -len(column.figures))
        rows = _best_first([row for row in rows if row["figures"]], main)
    names, keys = column_names(columns, bool(main)), sort_keys(columns)
    if wants_file(request) or sorting(request.GET)[0] not in ("", *keys, *leading_columns(bool(main))):
        rows = [with_values(row, columns) for row in rows]  # of which the page alone needs none
    models = [{**first, "others": others} for first, others in folded(rows)] if main else rows
    page = page_of(ordered(models, request, names, keys=keys), request)
    # Columns are chosen from all rows, so that they are the same on every page.
    keys_here = {row["key"] for row in rows}
    here = [column for column in columns if not keys_here.isdisjoint(column.figures if main else column.models)]
    return {
        "names": names,
        "rows": ordered(rows, request, names, keys=keys),
        "page": page,
        "lines": lines(list(page), here, main),
        "offers_comparison": any(map(has_answers, rows)),
        "sources": set().union(*(row["provenances"] for row in rows)),
        "has_references": any(column.references for column in here),
        "has_others": any(row["apart"] for row in rows),
        "leading": leading_columns(bool(main)),
        "facts": {name: FACTS[name] for name in ON_FRONT_PAGE},
        "columns": heads(here),
        "topics": _topics(here),
        "default_sort": main.slug if main else "coverage",
        "caption": f"Models on {main.topic.lower()}" if main else "Models and benchmarks",
    }


def _topics(columns: Sequence[Column]) -> list[Row]:
    """Return the topics above the columns; a pair of cultures, which all columns of its topic are about, is named."""
    topics: dict[str, Row] = {}
    for column in columns:
        part = part_title(column.part) if _is_pair(column) else ""
        topic = topics.setdefault(column.topic, {"title": column.topic, "columns": 0, "part": part})
        topic["columns"] += 1
    return list(topics.values())


def _is_pair(column: Column) -> bool:
    return column.part.dimension == PAIR_IN_LANGUAGE


def _best_first(rows: Sequence[Row], main: Column) -> list[Row]:
    """Return the rows with the highest figures about a column's items first, and those without any last."""
    comparable = main.comparable

    def order(row: Row) -> tuple[bool, float]:
        figure = row["figures"].get(main.slug)
        return (row["key"] not in comparable, -figure.value if figure else 0.0)

    return sorted(rows, key=order)


# The answer in one line, and the curve.


def _answer(column: Column) -> dict[str, Any]:
    """Return what the best of the models measured here does and by how much, or what there is to say without one.

    Of few models none is named, nor where the figures are no shares, of which more is not always better.
    """
    figures = [figure for figure in column.comparable.values() if figure.is_measured]
    figures.sort(key=lambda figure: -figure.value)
    are_shares = all(0 <= figure.value <= 1 for figure in figures)
    answer = {
        "asked": _asked(column),
        "models": len(figures),
        "least": LEAST_MODELS,
        "without_model": reached_without(_without_model(column)) if are_shares else "",
    }
    if not are_shares or len(figures) < LEAST_MODELS:
        return answer
    best, second = figures[:2]
    ahead = 100 * (best.value - second.value)
    return {
        **answer,
        "best": best,
        "best_name": _name(best),
        "best_address": model_address(best.hub_id),
        "does": _in_words(column, best),
        "basis": _basis(column, best),
        "second_name": _name(second),
        "distance": f"is {ahead:.1f} points behind" if ahead >= 0.05 else "has the same score",
        "is_level": second.run in level_with(best, [second]),
    }


def _name(figure: Figure) -> str:
    """Return the name of a model without its owner, with what sets its weights apart from those of the hub."""
    name: str = figure.hub_id.rpartition("/")[2]
    return f"{name} ({figure.weights})" if figure.weights else name


def _in_words(column: Column, figure: Figure) -> str:
    """Return what a model does, beside what is reached without one."""
    probe, pages = probe_named(column.version.probe), pages_of(column.version)
    other = f"reaches {{share}} in {labels.within(pages.metric_label(column.metric))}"
    finds = probe.finds if column.metric == probe.main_metric else other
    ends = (nan, nan) if figure.low is None else (figure.low, figure.high)
    return finding(finds, figure.value, ends, figure.n, _without_model(column))


def _without_model(column: Column) -> dict[str, float]:
    commonest = labels.within(pages_of(column.version).metric_label(MAJORITY))
    ways = {"chance": "guessing", "commonest": f"always the {commonest}"}
    return {way: column.references[name] for name, way in ways.items() if name in column.references}


def _basis(column: Column, figure: Figure) -> str:
    """Return the averaging and the denominator of a figure. Two queries."""
    run = Run.objects.select_related("benchmark", "model").get(pk=figure.run)
    scores = list(Score.objects.filter(run=run))
    main = next(score for score in scores if score.pk == figure.pk)
    own = [score for score in scores if (score.dimension, score.group) == column.part]
    return basis(run, main, scores, own)


def _curve(column: Column, rows: Iterable[Row], query: QueryDict) -> dict[str, Any] | None:
    """Return the curve of the benchmark; None where the size of none of its models is known.

    A mark leads to the row of its model.
    """
    figures = column.comparable
    address = f"{link(query, topic=column.topic.lower(), search=None, page=None)}&search="
    scores = [
        SizedScore(
            row["hub_id"].rpartition("/")[2],
            *(figure.value, figure.low, figure.high, row["parameters"], figure.family, figure.is_measured),
            f"{address}{quote_plus(row['hub_id'])}#matrix",
        )
        for row in rows
        if row["parameters"] and (figure := figures.get(row["key"]))
    ]
    if not scores:
        return None
    metric = labels.within(pages_of(column.version).metric_label(column.metric))
    title = f"{_asked(column)}: {metric} by model size"
    return {"title": title, **curve(scores, column.references.get("chance"))}
