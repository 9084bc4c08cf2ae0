"""/compare/?m=…&m=… : a paired comparison of two to eight runs on the same items."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render

from leaderboard.display import cells, labels
from leaderboard.display.charts import Chart
from leaderboard.display.links import PageLink, link
from leaderboard.display.sections import Anchor, Fold, Section, anchors
from leaderboard.display.tables import Table
from leaderboard.exports.references import Reference
from leaderboard.lists.compared_runs import (
    Comparison,
    Pattern,
    compared,
    disagreements,
    find_runs,
    ready_pairs,
    shared_benchmarks,
)
from leaderboard.lists.runs import models_named, runs_with_figures
from leaderboard.lists.scores import overall_scores
from leaderboard.models import Run
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.comparison_charts import comparison_charts
from leaderboard.probe_pages.comparison_tables import (
    ComparedRun,
    compared_runs,
    differences_table,
    group_values,
    runs_table,
    values_table,
)
from leaderboard.probe_pages.comparison_verdicts import side_by_side_table, verdict
from leaderboard.probe_pages.culture.places import one_place, places_of, switches
from leaderboard.probe_pages.details.bias import compared_fold
from leaderboard.probe_pages.disagreement_filters import FILTERED_BY, chosen_rows, group_filters
from leaderboard.probe_pages.disagreement_tables import agreement_table, disagreements_table
from leaderboard.probe_pages.questions_in_words import Names, relation_names
from leaderboard.stored.item_rows import Row
from leaderboard.views.page import page_reference, show
from probing.analysis.comparison import RESULT_NAMES
from probing.errors import ProbingError

OFFERS = "run-offers"  # the element with the names that the fields of the form suggest
FEWEST_CHOICES = 4  # fields of the form; each further run adds one, until all are there


def compare_view(request: HttpRequest) -> HttpResponseBase:
    if request.headers.get("HX-Target") == OFFERS:
        return render(request, "parts/run_offers.html", {"models": models_named(request.GET.get("m", ""))})
    names = [text for text in [*request.GET.getlist("m"), *request.GET.getlist("model")] if text]
    slug = request.GET.get("benchmark", "")
    if len(names) < 2:
        return _form(request, names, {"pairs": ready_pairs()})
    try:
        runs = find_runs(names, slug)
    except ProbingError as error:
        return _side_by_side(request, names, slug, error)
    try:
        comparison = compared(*(run.pk for run in runs))
    except ProbingError as error:
        return _form(request, names, {"error": error}, status=400)
    return _comparison_page(request, runs, comparison)


def _comparison_page(request: HttpRequest, runs: Sequence[Run], comparison: Comparison) -> HttpResponseBase:
    """Show the paired comparison of runs."""
    pages = pages_of(runs[0].benchmark)
    metric = pages.metric_label(runs[0].benchmark.main_metric)
    sides = compared_runs(runs, comparison.differences)
    context = _chosen_runs(request, runs) | {
        "verdict": verdict(sides, comparison.differences),
        "metric": metric,
        "n": cells.items(comparison.differences[0]["n"]),
        "differences_open": "sort" in request.GET or "page" in request.GET,
        "has_answers": bool(len(comparison.right)),
    }
    relations = relation_names(runs[0])
    tables, figures, scores = _groups(sides, comparison, metric, relations, request.GET)
    if len(comparison.right):
        pattern = read_pattern(request.GET.get("right", ""), len(runs))
        answers = disagreements(runs[0], comparison, pattern)
        context |= _answer_choices(request.GET, answers, relations)
        shown = disagreements_table(sides, chosen_rows(answers, request.GET), pattern, relations, pages)
        tables += [agreement_table(sides, comparison, request.GET), shown]
    offered = places_of(pages, runs)
    place = one_place(request.GET, offered)
    context["switches"] = switches(request.GET, offered, place)
    sections = pages.comparison_sections(runs, *pages.chosen_group(place))
    bias = compared_fold(runs, request.GET)
    folds = [bias] if bias else []
    if len(runs) == 2:  # the differences by group are on top of the page
        folds.append(Fold("scores", "Scores by group", "The figures behind the differences.", [scores]))
    else:
        sections = [scores, *sections]
    context["folds"] = [(fold, fold.is_open(request.GET)) for fold in folds]
    context["contents"] = contents(figures, sections, folds, has_answers=context["has_answers"])
    folded = [section for fold in folds for section in fold.sections]
    return show(
        request, "compare.html", context, tables, figures, sections, folded, comparison_reference(request, runs)
    )


def _answer_choices(query: QueryDict, answers: Sequence[Row], names: Names) -> dict[str, Any]:
    """Return the filters of the answers on which runs disagree, what their form keeps, and a link that drops them."""
    narrowed = any(query.get(name) for name in ("right", *FILTERED_BY))
    kept = [(name, text) for name in ("m", "model", "benchmark", "right") for text in query.getlist(name) if text]
    return {
        "group_filters": group_filters(answers, query, names),
        "kept": kept,
        "everything": link(query, right=None, **dict.fromkeys(FILTERED_BY)) if narrowed else "",
    }


def contents(
    figures: Sequence[Chart], sections: Sequence[Section], folds: Sequence[Fold], *, has_answers: bool
) -> list[Anchor]:
    """Return the page's contents list: what a reader may jump to, in the order of the page."""
    titles = {"groups": "Groups", "relations": "Relations"}
    names = {figure.name for figure in figures}
    return [
        *(Anchor(f"section-{name}", title) for name, title in titles.items() if name in names),
        *anchors(sections),
        *([Anchor("agreement", "Agreement"), Anchor("disagreements", "Disagreements")] if has_answers else []),
        *([Anchor("details", "Behind the figures")] if folds else []),
        Anchor("differences", "Differences"),
    ]


def _form(request: HttpRequest, names: Sequence[str], context: dict[str, Any], status: int = 200) -> HttpResponseBase:
    return render(request, "compare.html", {**context, "chosen": chosen(names)}, status=status)


def _side_by_side(request: HttpRequest, names: Sequence[str], slug: str, error: ProbingError) -> HttpResponseBase:
    """Show the scores of runs of which some have no stored answers, or say why these runs cannot be compared."""
    try:
        runs = find_runs(names, slug, runs_with_figures())
    except ProbingError as reason:
        return _form(request, names, {"error": reason}, status=400)
    if all(run.artefact for run in runs):
        return _form(request, names, {"error": error}, status=400)
    pages, benchmark = pages_of(runs[0].benchmark), runs[0].benchmark
    metric = pages.main_metric(benchmark)
    table = side_by_side_table(runs, overall_scores(runs, lambda _: metric), pages.metric_label(metric))
    context = _chosen_runs(request, runs) | {"side_by_side": True}
    return show(request, "compare.html", context, [table], reference=comparison_reference(request, runs))


def comparison_reference(request: HttpRequest, runs: Sequence[Run]) -> Reference:
    """Return how a comparison is cited, with the run of each model."""
    benchmark = runs[0].benchmark
    named = "; ".join(f"{run.model.title} (run {run.pk})" for run in runs)
    key = "-".join(["comparison", *(str(run.pk) for run in runs)])
    details = f"{named}; benchmark version {benchmark.version[:12]}"
    return page_reference(request, key, f"Comparison on {benchmark.title}", details)


def _chosen_runs(request: HttpRequest, runs: Sequence[Run]) -> dict[str, Any]:
    """Return the fields of the form, and links to all benchmarks on which the same models have runs."""
    models = urlencode([("model", run.model.hub_id) for run in runs])
    current = runs[0].benchmark
    others = [PageLink(other.title, f"?{models}&benchmark={other.name}", False) for other in shared_benchmarks(runs)]
    choice = sorted([PageLink(current.title, "?" + urlencode([("m", run.pk) for run in runs]), True), *others])
    return {
        "chosen": chosen([str(run.pk) for run in runs]),
        "benchmark": current,
        "benchmark_switches": [choice] if others else [],
    }


def _groups(
    sides: Sequence[ComparedRun], comparison: Comparison, metric: str, names: Names, query: QueryDict
) -> tuple[list[Table[Any]], list[Chart], Section]:
    """Return tables and charts of what every probe compares, and the section with the scores by group.

    The table of differences is the page's main one.
    """
    values = group_values(comparison.differences)
    tables: list[Table[Any]] = [
        differences_table(sides, comparison.differences, metric, names),
        runs_table(sides, metric, query),
    ]
    chart, *figures = comparison_charts(sides, values, comparison.differences, labels.within(metric), names)
    scores = Section("values", chart.title, values_table(values, sides, metric, names), chart)
    return tables, figures, scores


def chosen(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the names of the form's choices, each with the run or model that is chosen there."""
    number = min(max(FEWEST_CHOICES, len(names) + 1), len(RESULT_NAMES))
    return [(choice, names[place] if place < len(names) else "") for place, choice in enumerate(RESULT_NAMES[:number])]


def read_pattern(text: str, runs: int) -> Pattern | None:
    """Read a pattern: `10` means that the first is right and the second wrong. Return None where it is malformed."""
    return tuple(digit == "1" for digit in text) if len(text) == runs and set(text) <= {"0", "1"} else None
