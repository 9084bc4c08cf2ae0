"""/benchmarks/<slug>/: what is asked and who is best, with every finished run."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from leaderboard.exports.references import benchmark_reference
from leaderboard.figures.outcomes import ALL_RIGHT, NONE_RIGHT
from leaderboard.figures.ranks import shown_difference
from leaderboard.figures.runs import ANY_VERSION, printed_on
from leaderboard.figures.scores import Slice
from leaderboard.figures.standings import LeaderboardFilter, published_version
from leaderboard.models import Benchmark
from leaderboard.models.benchmark import named
from leaderboard.pages.benchmark_relations import relations_table
from leaderboard.pages.benchmark_sections import (
    differences,
    overlap_table,
    published_parts,
    published_table,
    replicates_table,
)
from leaderboard.pages.explorer import models_explorer
from leaderboard.pages.rendering import page_address, reference_file, what_is_cited
from leaderboard.pages.standings_chart import AXIS, axis_links, chosen_axis, offered_axes, standings_charts
from leaderboard.pages.standings_table import column_choices, models_table, offered_slices, read_filter
from leaderboard.probes import pages_of
from leaderboard.probes.benchmark_words import counts, description, sentence_about
from leaderboard.probes.culture.pairs import PARAMETER, PairInLanguage, chosen_pair, offered_pairs, switches
from leaderboard.probes.wording import FREE_TEXT, example_questions, read_relations
from leaderboard.tables import Files, download
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
    versions, version = _versions(benchmark), published_version(benchmark)
    tables = {
        "relations": relations_table(request, benchmark, relations, pair, models["standings"]),
        "published": published_table(request, version, filters.part, pair),
        "overlap": overlap_table(benchmark, versions),
        "replicates": replicates_table(request, models["everything"]),
    }
    files = {**files, **{name: (table["columns"], table["file"]) for name, table in tables.items() if table}}
    of_probe = {
        "probe": pages.benchmark_parts(benchmark, query, pair),
        "published_probe": published_parts(version, query, pair),
    }
    ranked = [row["run"] for row in models["standings"] if not row["run"].is_published]
    explorer = models_explorer(request, ranked, offered_pairs(offered), pair)
    files |= {"breakdown": explorer["file"]} if explorer else {}
    for shown in of_probe.values():
        files = {**files, **shown.get("files", {})}
    reference = benchmark_reference(benchmark, len(models["standings"]), page_address(request), timezone.now().date())
    if file := download(request, files) or reference_file(request, reference):
        return file
    axes = offered_axes(models["standings"], pair)
    context = {
        "leaderboard": models,
        **tables,
        **of_probe,
        "explorer": explorer,
        **_about(benchmark, versions, relations),
        **_choices(query, filters, pair, offered),
        "slices": column_choices(offered, filters.slices, relations),
        "axes": list(filter(None, [axis_links(query, axes)])),
    }
    charts = standings_charts(filters, models, pair, chosen_axis(query, axes))
    context |= {
        "contents": _contents(context),
        "charts": {chart.name: chart for chart in charts},
        **what_is_cited(request, reference),
    }
    return render(request, "benchmark.html", context)


def _choices(
    query: QueryDict, filters: LeaderboardFilter, pair: PairInLanguage | None, offered: list[Slice]
) -> dict[str, Any]:
    """Return what was chosen on the page, and the links that choose a part of the items."""
    return {
        "filters": filters,
        "kept": [(name, query[name]) for name in ("sort", PARAMETER, AXIS) if name in query],
        "pair_switches": switches(query, offered_pairs(offered), pair),
    }


def _versions(benchmark: Benchmark) -> list[Benchmark]:
    """Return the versions of a benchmark and of those that share facts with it, the newest first. One query."""
    slugs = [benchmark.slug, *(benchmark.shared_facts or ())]
    return list(Benchmark.objects.filter(slug__in=slugs).order_by("-created"))


def _about(benchmark: Benchmark, versions: Sequence[Benchmark], relations: Sequence[Relation]) -> dict[str, Any]:
    """Return what the page says of the benchmark itself."""
    entry, pages = CATALOG.get(benchmark.slug), pages_of(benchmark)
    own = [row for row in versions if row.slug == benchmark.slug]
    in_writing = pages.question_form is FREE_TEXT
    return {
        "benchmark": benchmark,
        "pages": pages,
        "about_published": differences(printed_on(benchmark)[0]) if benchmark.version == ANY_VERSION else "",
        "description": description(benchmark),
        "lead": sentence_about(benchmark),
        "counts": counts(benchmark, list(relations)),
        "words": pages.words,
        "examples": example_questions(relations, pages.offers_options, in_writing=in_writing, most=EXAMPLES),
        "difficulty": _difficulty(benchmark),
        "citation": benchmark.citation or (entry.citation if entry else ""),
        "versions": [row for row in own if row.probe == benchmark.probe and row.version != ANY_VERSION],
        "probes": _probe_links(benchmark, own),
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
        (True, "about", "About"),
    )
    return [{"id": anchor, "title": title} for is_there, anchor, title in entries if is_there]
