"""/benchmarks/<slug>/: what is asked and who is best, with every finished run."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404
from django.utils import timezone

from leaderboard.exports.references import benchmark_reference
from leaderboard.figures.ranks import shown_difference
from leaderboard.figures.runs import ANY_VERSION
from leaderboard.figures.scores import Slice
from leaderboard.figures.standings import Leaderboard, LeaderboardFilter, facet_choices, leaderboard
from leaderboard.models import Benchmark, Run
from leaderboard.models.benchmark import named
from leaderboard.pages.benchmark_sections import (
    overlap_fold,
    published_parts,
    published_sections,
    replicates_fold,
)
from leaderboard.pages.explorer import models_explorer
from leaderboard.pages.relation_page import relation_rows, relations_table, strip_scores
from leaderboard.pages.rendering import page_address, show
from leaderboard.pages.standings_table import (
    AXIS,
    axis_links,
    chosen_axis,
    offered_axes,
    offered_slices,
    pair_of,
    read_filter,
    standings_charts,
    standings_table,
)
from leaderboard.probes import pages_of
from leaderboard.probes.benchmark_words import (
    baselines_in_words,
    counts,
    description,
    sentence_about,
)
from leaderboard.probes.culture.pairs import PARAMETER, offered_pairs, switches
from leaderboard.probes.wording import FREE_TEXT, example_question, group_title, read_relations, relation_name
from leaderboard.ui import labels
from leaderboard.ui.links import PageLink
from leaderboard.ui.sections import Anchor, Fold, Section, anchors, folds_of, open_sections
from leaderboard.ui.table_files import table_response, wants_file
from leaderboard.ui.tables import Table, citation
from probing.benchmark import Relation
from probing.catalog import CATALOG


def benchmark_view(request: HttpRequest, name: str) -> HttpResponseBase:
    benchmark = get_object_or_404(Benchmark, named(name), current=True)
    pages = pages_of(benchmark)
    offered, relations = offered_slices(benchmark), read_relations(benchmark)
    filters, pair = read_filter(request.GET, benchmark, offered), pair_of(request.GET, benchmark, offered)
    board = leaderboard(filters)
    standings = standings_table(filters, board, pair)
    if wants_file(request) and request.GET.get("table", standings.name) == standings.name:
        return table_response(standings, request)
    versions = _versions(benchmark)
    context = {
        **_about(benchmark, versions),
        **_choices(request.GET, filters, board, offered, relations),
        "counts": counts(benchmark, relations),
        "pages": pages,
        "words": pages.words,
        "example": example_question(relations, pages.offers_options, in_writing=pages.question_form is FREE_TEXT),
        "is_pooled": pair is None and bool(offered_pairs(offered)),
        "pair_switches": switches(request.GET, offered_pairs(offered), pair, everything="All, in groups"),
        "has_ranks": any(row.rank for row in board.standings),
        "sources": _sources(board),
        "baselines": baselines_in_words((row.run for row in board.standings), pages.baseline_note),
    }
    strips = strip_scores(filters, board, relations)
    everything = [*replicates_fold(board.everything), *published_sections(benchmark, pair)]
    sections, folds = open_sections(everything), [*folds_of(everything), *overlap_fold(benchmark, versions)]
    context["folds"] = [(fold, fold.is_open(request.GET)) for fold in folds]
    rows = relation_rows(benchmark, relations, pair, strips)
    tables: list[Table[Any]] = [standings, relations_table(benchmark, rows, pair)]
    axes = offered_axes(board, pair)
    context["axes"] = list(filter(None, [axis_links(request.GET, axes)]))
    charts = standings_charts(filters, board, pair, chosen_axis(request.GET, axes))
    context["contents"] = _contents(sections, folds, has_relations=bool(rows))
    today = timezone.now().date()
    models = sum(not row.is_baseline for row in board.standings)
    reference = benchmark_reference(benchmark, models, page_address(request), today)
    folded = [section for fold in folds for section in fold.sections]
    context["probe"] = pages.benchmark_parts(benchmark, request.GET, pair)
    context["published_probe"] = published_parts(benchmark, request.GET, pair)
    context["explorer"] = models_explorer(request, [row.run for row in board.standings], offered_pairs(offered), pair)
    files = {**context["probe"].get("files", {}), **context["published_probe"].get("files", {})}
    files |= {"breakdown": context["explorer"]["file"]} if context["explorer"] else {}
    return show(request, "benchmark.html", context, tables, charts, sections, folded, reference, files)


def _contents(sections: Sequence[Section], folds: Sequence[Fold], *, has_relations: bool) -> list[Anchor]:
    """Return the page's contents list: what a reader may jump to, in the order of the page."""
    relations = [Anchor("relations", "Relations")] if has_relations else []
    behind = [Anchor("details", "Behind the figures")] if folds else []
    return [Anchor("models", "Models"), *anchors(sections), *relations, *behind, Anchor("about", "About")]


def _versions(benchmark: Benchmark) -> list[Benchmark]:
    """Return the versions of a benchmark and of those that share facts with it, the newest first. One query."""
    slugs = [benchmark.slug, *(benchmark.shared_facts or ())]
    return list(Benchmark.objects.filter(slug__in=slugs).order_by("-created"))


def _about(benchmark: Benchmark, versions: Sequence[Benchmark]) -> dict[str, Any]:
    """Return what the page says of the benchmark itself."""
    entry = CATALOG.get(benchmark.slug)
    versions = [row for row in versions if row.slug == benchmark.slug]
    return {
        "benchmark": benchmark,
        "description": description(benchmark),
        "lead": sentence_about(benchmark),
        "citation": benchmark.citation or (entry.citation if entry else ""),
        "versions": [row for row in versions if row.probe == benchmark.probe and row.version != ANY_VERSION],
        "probes": _probe_links(benchmark, versions),
        "smallest": shown_difference(benchmark),
    }


def _probe_links(benchmark: Benchmark, versions: Sequence[Benchmark]) -> list[PageLink]:
    """Return links to the boards of all probes by which the benchmark is asked; none where there is one probe."""
    boards = sorted((row for row in versions if row.current), key=lambda row: (not row.main, row.probe))
    links = [PageLink(row.probe_in_words, row.get_absolute_url(), row.pk == benchmark.pk) for row in boards]
    return links if len(links) > 1 else []


def _choices(
    query: QueryDict,
    filters: LeaderboardFilter,
    board: Leaderboard,
    offered: list[Slice],
    relations: Sequence[Relation],
) -> dict[str, Any]:
    """Return what the form above the standings offers, and what was chosen there."""
    return {
        "filters": filters,
        "facets": facet_choices(filters, board),
        "slices": _column_choices(offered, filters, relations),
        "narrowed": bool(filters.search or filters.narrows),
        "kept": [(name, query[name]) for name in ("sort", PARAMETER, AXIS) if name in query],
        "without_figure": list({run.model.hub_id: run for run in board.without_figure}.values()),
    }


def _column_choices(
    offered: list[Slice], filters: LeaderboardFilter, relations: Sequence[Relation]
) -> list[tuple[str, list[tuple[Slice, str, bool]]]]:
    """Return the column chooser: by dimension, each group with its name and with whether it is a column."""
    names = {relation.label: relation_name(relation) for relation in relations}
    groups: dict[str, list[tuple[Slice, str, bool]]] = {}
    for part in offered:
        name = group_title(part.dimension, part.group, names)
        groups.setdefault(labels.dimension(part.dimension), []).append((part, name, part in filters.slices))
    return list(groups.items())


def _sources(board: Leaderboard) -> list[tuple[str, str]]:
    """Return the publications of the rows with their addresses, each once."""
    published: list[Run] = [row.run for row in board.standings if row.run.reference_url]
    return list(dict.fromkeys((citation(run), run.reference_url) for run in published))
