"""/benchmarks/ and /benchmarks/<slug>/: what is asked and who is best, with every finished run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, render
from django.utils.text import slugify

from leaderboard.figures.outcomes import ALL_RIGHT, NONE_RIGHT
from leaderboard.figures.ranks import shown_difference
from leaderboard.figures.runs import ANY_VERSION, benchmarks
from leaderboard.figures.scores import Slice
from leaderboard.figures.standings import LeaderboardFilter, Row, narrowed, published_version
from leaderboard.models import Benchmark, Entry
from leaderboard.models.benchmark import named
from leaderboard.pages.benchmark_sections import published_parts, published_table, relations_table
from leaderboard.pages.explorer import models_explorer
from leaderboard.pages.rendering import page_reference, reference_file, what_is_cited
from leaderboard.pages.standings_table import column_choices, models_table, offered_slices, read_filter
from leaderboard.probes import pages_of
from leaderboard.probes.benchmark_words import TOPICS, counts, description, sentence_about, topic_of, topic_order
from leaderboard.probes.culture.pairs import (
    PARAMETER,
    PairInLanguage,
    chosen_pair,
    offered_pairs,
    sides_and_gap,
    switches,
)
from leaderboard.probes.culture.sides import legend
from leaderboard.probes.wording import FREE_TEXT, example_questions, read_relations
from leaderboard.tables import Files, download, ordered
from leaderboard.ui import charts, labels
from leaderboard.ui.charts.basics import Chart, Point
from leaderboard.ui.charts.curve import SizedScore, curve
from leaderboard.ui.links import PageLink
from probing.benchmark import Relation
from probing.catalog import CATALOG

EXAMPLES = 3
CLASSES = ("no", *(f"up to {10 * tenth} % of the" for tenth in range(1, 11)), "every")  # of `Benchmark.difficulty`


def benchmark_view(request: HttpRequest, name: str) -> HttpResponseBase:
    benchmark = get_object_or_404(Benchmark, named(name), current=True)
    query, pages = request.GET, pages_of(benchmark)
    offered, relations = offered_slices(benchmark), read_relations(benchmark)
    pair = chosen_pair(query, offered_pairs(offered))
    filters = read_filter(query, benchmark, offered, pair)
    models = models_table(request, filters, pair, offered)
    files: Files = {"leaderboard": (models["columns"], models["file"])}
    if query.get("table", "leaderboard") in files and (file := download(request, files)):
        return file
    tables = {
        "relations": relations_table(request, benchmark, relations, pair, models["standings"]),
        "published": published_table(request, benchmark, filters.part, pair, filters.slices),
    }
    files = {**files, **{name: (table["columns"], table["file"]) for name, table in tables.items() if table}}
    of_probe = {
        "probe": pages.benchmark_parts(benchmark, query, pair),
        "published_probe": published_parts(published_version(benchmark), query, pair),
    }
    runs = [row["run"] for row in models["standings"]]
    explorer = models_explorer(request, runs, offered_pairs(offered), pair)
    files |= {"breakdown": explorer["file"]} if explorer else {}
    for shown in of_probe.values():
        files = {**files, **shown.get("files", {})}
    key = f"benchmark-{slugify(benchmark.name.replace(':', ' '))}"
    rows = labels.number_of(len(runs), "run") if runs else "published figures"
    details = f"{rows}; benchmark version {benchmark.version[:12]}"
    reference = page_reference(request, key, f"Standings on {benchmark.title}", details)
    if file := download(request, files) or reference_file(request, reference):
        return file
    context = {
        "leaderboard": models,
        **tables,
        **of_probe,
        "explorer": explorer,
        **_about(benchmark, relations),
        **_choices(query, filters, pair, offered),
        "slices": column_choices(offered, filters.slices, relations),
        **_picture(models, tables["published"].get("file", ()), filters, pair),
    }
    drawn = [chart for chart in (context.get("gaps"), explorer.get("chart")) if chart]
    context |= {
        "contents": _contents(context),
        "charts": {chart.name: chart for chart in drawn},
        **what_is_cited(request, reference),
    }
    return render(request, "benchmark.html", context)


def _choices(
    query: QueryDict, filters: LeaderboardFilter, pair: PairInLanguage | None, offered: list[Slice]
) -> dict[str, Any]:
    """Return what was chosen on the page, and the links that choose a part of the items."""
    return {
        "filters": filters,
        "kept": [(name, query[name]) for name in ("sort", PARAMETER) if name in query],
        "pair_switches": switches(query, offered_pairs(offered), pair),
    }


def _about(benchmark: Benchmark, relations: Sequence[Relation]) -> dict[str, Any]:
    """Return what the page says of the benchmark itself. One query."""
    entry, pages = CATALOG.get(benchmark.slug), pages_of(benchmark)
    versions = list(Benchmark.objects.filter(slug=benchmark.slug).order_by("-created"))
    in_writing = pages.question_form is FREE_TEXT
    return {
        "benchmark": benchmark,
        "pages": pages,
        "description": description(benchmark),
        "lead": sentence_about(benchmark),
        "counts": counts(benchmark, list(relations)),
        "words": pages.words,
        "examples": example_questions(relations, pages.offers_options, in_writing=in_writing, most=EXAMPLES),
        "difficulty": _difficulty(benchmark),
        "citation": benchmark.citation or (entry.citation if entry else ""),
        "versions": [row for row in versions if row.probe == benchmark.probe and row.version != ANY_VERSION],
        "probes": _probe_links(benchmark, versions),
        "smallest": shown_difference(benchmark),
    }


def _difficulty(benchmark: Benchmark) -> dict[str, Any]:
    """Return the classes of questions by their share of right answers, with the heights of their bars in percent.

    Nothing before a model was measured, or where answers are not right or wrong.
    """
    numbers: list[int] = benchmark.difficulty
    if not numbers or pages_of(benchmark).words.both_true:
        return {}
    most = max(numbers)
    bars = [(words, number, 100 * number / most) for words, number in zip(CLASSES, numbers, strict=True)]
    return {"total": sum(numbers), "none": numbers[NONE_RIGHT], "every": numbers[ALL_RIGHT], "bars": bars}


def _probe_links(benchmark: Benchmark, versions: Sequence[Benchmark]) -> list[PageLink]:
    """Return links to the boards of all probes by which the benchmark is asked; none where there is one probe."""
    boards = sorted((row for row in versions if row.current), key=lambda row: (not row.main, row.probe))
    links = [PageLink(row.probe_in_words, row.get_absolute_url(), row.pk == benchmark.pk) for row in boards]
    return links if len(links) > 1 else []


def _contents(context: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the page's contents list: what a reader may jump to, in the order of the page."""
    entries = (
        (True, "models", "Models"),
        (context["difficulty"], "difficult", "Difficulty of questions"),
        (context["examples"], "asked", "What is asked"),
        (context["relations"]["file"], "relations", "Relations"),
        (context["published"], "section-published", "Published figures"),
        (True, "about", "About"),
    )
    return [{"id": anchor, "title": title} for is_there, anchor, title in entries if is_there]


# The picture above the standings: scores against sizes, or both figures of each model for the cultures of a pair.


MOST_MODELS = 25  # rows of the chart of a pair


def _charted(models: Mapping[str, Any], published: Sequence[Row], filters: LeaderboardFilter) -> list[Row]:
    """Return the rows of standings and of figures published about the same version that have places in the picture.

    These are rows of one group, and no runs that were asked only some of the items, as figures of different settings
    share no axis.
    """
    rows = [row for row in models["standings"] if not row["some_items"]]
    same = [row for row in published if row["run"].benchmark_id == filters.benchmark.pk]
    rows += narrowed(same, filters, models["figures"])
    first = min((row["group"] for row in rows), default="")
    return [row for row in rows if row["group"] == first]


def _picture(
    models: Mapping[str, Any], published: Sequence[Row], filters: LeaderboardFilter, pair: PairInLanguage | None
) -> dict[str, Any]:
    """Return the chart of a pair of cultures (`gaps`), or else the curve of scores against sizes.

    `models`: the standings (`models_table`). `published`: the rows of published figures. `pair`: what they are about.
    """
    rows, title = _charted(models, published, filters), models["title"]
    gaps = _gaps_chart(title, rows, pair, filters.metric) if pair and len(pair.sides) > 1 else None
    return {"gaps": gaps} if gaps else {"curve": _curve(title, rows, models["chance"])}


def _curve(title: str, rows: Sequence[Row], chance: float | None) -> dict[str, Any] | None:
    """Return the curve of scores against sizes; None where the size of none of the models is known."""
    scores = [
        SizedScore(
            run.model.hub_id.rpartition("/")[2],
            *(score.value, score.low, score.high, run.model.parameters, run.model.family, not run.is_published),
            run.get_absolute_url(),
        )
        for run, score in [(row["run"], row["main"]) for row in rows]
        if score and score.value is not None and run.model.parameters
    ]
    return {"title": f"{title} by model size", **curve(scores, chance)} if scores else None


def _gaps_chart(title: str, rows: Sequence[Row], pair: PairInLanguage, metric: str) -> Chart | None:
    """Return the chart with a row for each model, the widest gap in favour of the first culture on top."""
    figures = [(row["run"], sides_and_gap(row["figures"], metric, pair)) for row in rows]
    with_gap = [(run, sides["gap"].value, sides) for run, sides in figures if sides and sides["gap"]]
    if not with_gap:
        return None
    shown = sorted(with_gap, key=lambda entry: -abs(entry[1]))[:MOST_MODELS]
    shown.sort(key=lambda entry: -entry[1])
    names = _names([run for run, _, _ in shown])
    points = [
        Point(names[run.pk], of.value or 0.0, of.low, of.high, group=culture, href=run.get_absolute_url())
        for run, _, sides in shown
        for culture, of in zip(pair.cultures, (sides["first"], sides["second"]), strict=True)
    ]
    published = [names[run.pk] for run, _, _ in shown if run.is_published]
    summary = _gaps_in_words([gap for _, gap, _ in with_gap], pair)
    summary += f" The {len(shown)} widest gaps are drawn." if len(shown) < len(with_gap) else ""
    summary += legend(run for run, _, _ in shown)
    figure = charts.beside(points, {point.label: "" for point in points}, title, published=published)
    return Chart("gaps", " and ".join(pair.cultures), summary, figure)


def _gaps_in_words(gaps: Sequence[float], pair: PairInLanguage) -> str:
    better, level = sum(gap > 0 for gap in gaps), sum(not gap for gap in gaps)
    number = f"{better} of {len(gaps)} models know" if len(gaps) > 1 else f"{better} of 1 model knows"
    ours, theirs = map(labels.culture, pair.cultures)
    also = f", and {labels.number_of(level, 'model')} as much of both" if level else ""
    return f"{pair.title}: {number} more of the facts about {ours} than of those about {theirs}{also}."


def _names(runs: Sequence[Entry]) -> dict[int, str]:
    """Map each run to its model's name, and to what tells several runs of one model apart."""
    names = {run.pk: run.model.hub_id.removeprefix("published/") for run in runs}
    times = Counter(names.values())
    for run in runs:
        if run.is_published and times[names[run.pk]] > 1:
            names[run.pk] += ", published"
    return labels.distinct(names)


# /benchmarks/ : every benchmark with one sentence on what it asks, in groups of what they measure.


BENCHMARKS = ("benchmark", "asks", "version", "relations", "items", "probe", "measured", "published")


def benchmarks_view(request: HttpRequest) -> HttpResponse:
    rows = [_benchmark_row(benchmark) for benchmark in sorted(benchmarks(), key=topic_order)]
    rows = ordered(rows, request, BENCHMARKS, within="topic")
    if file := download(request, {"benchmarks": (BENCHMARKS, rows)}):
        return file
    canonical = request.build_absolute_uri(request.path)
    return render(request, "benchmarks.html", {"benchmarks": rows, "canonical": canonical})


def _benchmark_row(benchmark: Any) -> dict[str, Any]:
    topic = topic_of(benchmark)
    return {
        "topic": topic,
        "topic_heading": f"{topic}: {TOPICS[topic][0].lower()}{TOPICS[topic][1:]}",
        "href": benchmark.get_absolute_url(),
        "benchmark": benchmark.title,
        "asks": description(benchmark),
        "version": benchmark.version[:12],
        "relations": benchmark.relations or None,
        "items": benchmark.items or None,
        "probe": benchmark.probe.replace("_", " "),
        "measured": benchmark.measured,
        "published": benchmark.published,
    }
