"""/compare/?m=…&m=… : a paired comparison of two to eight runs on the same items."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render

from leaderboard.exports.references import Reference
from leaderboard.figures.comparisons import (
    Comparison,
    Pattern,
    compared,
    disagreements,
    figures_side_by_side,
    find_runs,
    read_answers,
    ready_pairs,
    shared_benchmarks,
    short_names,
)
from leaderboard.figures.country_shares import has_map
from leaderboard.figures.item_rows import Row
from leaderboard.figures.runs import models_named
from leaderboard.figures.scores import OVERALL_SLICE
from leaderboard.models import Run
from leaderboard.pages.bias_fold import compared_fold
from leaderboard.pages.comparison_folds import benchmarks_fold, changed_facts_fold
from leaderboard.pages.comparison_tables import (
    ComparedRun,
    compared_runs,
    comparison_charts,
    differences_table,
    group_cell,
    group_values,
    runs_table,
    side_by_side_table,
    values_chart,
    values_table,
    verdict,
)
from leaderboard.pages.exposure_folds import exposure_folds
from leaderboard.pages.rendering import page_reference, show
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import PairInLanguage, one_pair, pairs_of, switches
from leaderboard.probes.items import item_url
from leaderboard.probes.probe_pages import ProbePages
from leaderboard.probes.wording import (
    Names,
    RowKey,
    answer_cell,
    relation_names,
    row_key,
    sentences,
    several_answers,
)
from leaderboard.ui import cells, labels
from leaderboard.ui.cells import Cell
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.links import PageLink, link
from leaderboard.ui.sections import Anchor, Fold, Section, anchors, folds_of, open_sections
from leaderboard.ui.tables import Column, Table
from probing.analysis.paired_tests import RESULT_NAMES
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
    offered = pairs_of(runs)
    pair = one_pair(request.GET, offered)
    try:
        comparison = compared(*(run.pk for run in runs), part=pair.part if pair else OVERALL_SLICE)
    except ProbingError as error:
        return _form(request, names, {"error": error}, status=400)
    return _comparison_page(request, runs, comparison, switches(request.GET, offered, pair), pair)


def _comparison_page(
    request: HttpRequest,
    runs: Sequence[Run],
    comparison: Comparison,
    part_switches: Sequence[Sequence[PageLink]],
    pair: PairInLanguage | None,
) -> HttpResponseBase:
    """Show the paired comparison of runs, on the questions of a pair of cultures where the benchmark has such pairs."""
    pages = pages_of(runs[0].benchmark)
    metric = pages.metric_label(runs[0].benchmark.main_metric)
    sides = compared_runs(runs, comparison.differences)
    context = _chosen_runs(request, runs) | {
        "verdict": verdict(sides, comparison.differences),
        "metric": metric,
        "n": cells.items(comparison.differences[0]["n"]),
        "differences_open": "sort" in request.GET or "page" in request.GET,
        "has_answers": bool(len(comparison.right)),
        "mapped": runs if len(runs) == 2 and has_map(runs[1]) else [],
    }
    relations = relation_names(runs[0])
    tables, figures, scores = _groups(sides, comparison, metric, relations, request.GET)
    if len(comparison.right):
        pattern = read_pattern(request.GET.get("right", ""), len(runs))
        context["everything"] = link(request.GET, right=None) if pattern else ""
        shown = disagreements_table(sides, disagreements(comparison, pattern), pattern, relations, pages)
        tables += [agreement_table(sides, comparison, request.GET), shown]
    context |= {"switches": part_switches, "part": pair.title if pair else ""}
    of_probe = [*pages.comparison_sections(runs, *pages.chosen_group(pair))]
    if pair is None:
        of_probe += exposure_folds({side.name: side.run for side in sides})
    names = [side.name for side in sides]
    optional_folds = (benchmarks_fold(runs, names), compared_fold(runs, request.GET))
    sections, folds = open_sections(of_probe), [*folds_of(of_probe), *filter(None, optional_folds)]
    if len(runs) == 2 and context["has_answers"]:
        part = pair.part if pair else OVERALL_SLICE
        folds.append(changed_facts_fold(runs, names, request.GET, part))
    sections = [*scores, *sections]
    context["folds"] = [(fold, fold.is_open(request.GET)) for fold in folds]
    context["contents"] = contents(figures, sections, folds, has_answers=context["has_answers"])
    folded = [section for fold in folds for section in fold.sections]
    return show(
        request, "compare.html", context, tables, figures, sections, folded, comparison_reference(request, runs)
    )


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
    """Show the figures of runs of which some have no stored answers, or say why these runs cannot be compared."""
    try:
        rows = figures_side_by_side(names, slug, lambda benchmark: pages_of(benchmark).main_metric(benchmark))
    except ProbingError as reason:
        return _form(request, names, {"error": reason}, status=400)
    if all(row.run.artefact for row in rows):
        return _form(request, names, {"error": error}, status=400)
    runs = [row.run for row in rows[: len(names)]]
    pages, benchmark = pages_of(runs[0].benchmark), runs[0].benchmark
    table = side_by_side_table(rows, pages.metric_label(pages.main_metric(benchmark)))
    differ = len({row.choice for row in rows[: len(names)]}) > 1
    context = _chosen_runs(request, runs) | {"side_by_side": True, "differ": differ}
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
        "title": f"{', '.join(short_names(runs))} on {current.title}",
        "chosen": chosen([str(run.pk) for run in runs]),
        "benchmark": current,
        "benchmark_switches": [choice] if others else [],
    }


def _groups(
    sides: Sequence[ComparedRun], comparison: Comparison, metric: str, names: Names, query: QueryDict
) -> tuple[list[Table[Any]], list[Chart], list[Section]]:
    """Return tables and charts of what every probe compares, and for more than two runs a section of scores by group.

    The table of differences is the page's main one; of two runs it has both scores.
    """
    values = group_values(comparison.differences)
    tables: list[Table[Any]] = [
        differences_table(sides, comparison.differences, metric, names),
        runs_table(sides, metric, query),
    ]
    in_words = labels.within(metric)
    figures = comparison_charts(sides, values, comparison.differences, in_words, names)
    if len(sides) == 2:
        return tables, figures, []
    chart = values_chart(sides, values, in_words, names)
    return tables, figures, [Section("values", chart.title, values_table(values, sides, metric, names), chart)]


def chosen(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the names of the form's choices, each with the run or model that is chosen there."""
    number = min(max(FEWEST_CHOICES, len(names) + 1), len(RESULT_NAMES))
    return [
        (choice, names[position] if position < len(names) else "")
        for position, choice in enumerate(RESULT_NAMES[:number])
    ]


def read_pattern(text: str, runs: int) -> Pattern | None:
    """Read a pattern: `10` means that the first is right and the second wrong. Return None where it is malformed."""
    return tuple(digit == "1" for digit in text) if len(text) == runs and set(text) <= {"0", "1"} else None


DISAGREEMENTS_PER_PAGE = 20
CROSSED_RUNS = 4  # with more runs, a table of all combinations of right and wrong answers would be too large


def agreement_table(runs: Sequence[ComparedRun], comparison: Comparison, query: QueryDict) -> Table[Pattern]:
    """Return how often each combination of right and wrong answers occurs, as bars; each number links to its answers.

    For up to four runs all combinations are listed. For more, only those that occur, the most frequent first.
    """
    counts = comparison.counts()
    if len(runs) > CROSSED_RUNS:
        patterns, order = sorted(counts, key=lambda pattern: -counts[pattern]), ", the most frequent first"
    else:
        patterns, order = list(product((True, False), repeat=len(runs))), ""
    return Table(
        name="agreement",
        caption=f"Right and wrong answers, counted over questions and wordings{order}",
        columns=[
            *(_pattern_column(position, run) for position, run in enumerate(runs)),
            Column("answers", "Answers", lambda row: _count_cell(counts, row, query), align="score"),
        ],
        rows=patterns,
        sortable=False,
        page_size=DISAGREEMENTS_PER_PAGE,
    )


def _count_cell(counts: Mapping[Pattern, int], pattern: Pattern, query: QueryDict) -> Cell:
    """Return the number of answers of a pattern with a bar for their share."""
    digits = "".join(str(int(right)) for right in pattern)
    address = link(query, right=digits, **{"disagreements-page": None})
    number = counts.get(pattern, 0)
    share = cells.share(number / sum(counts.values()))
    note = f"{100 * number / sum(counts.values()):.0f} % of all answers"
    return replace(share, value=number, text=f"{number:,}", href=f"{address}#table-disagreements", note=note)


def _pattern_column(position: int, run: ComparedRun) -> Column[Pattern]:
    return Column(
        run.key, run.name, lambda row: Cell(word := _right_or_wrong(row[position]), word, kind=_mark(row[position]))
    )


def _right_or_wrong(right: bool) -> str:
    return "right" if right else "wrong"


def _mark(right: bool) -> str:
    """Return the kind of cell that marks an answer as right or wrong."""
    return "yes" if right else "no"


def disagreements_table(
    runs: Sequence[ComparedRun], rows: Sequence[Row], pattern: Pattern | None, names: Names, pages: ProbePages
) -> Table[Row]:
    """Return the answers on which runs disagree; those of a page are read when it is shown."""
    questions: dict[RowKey, str] = {}
    answers: dict[tuple[str, int], str] = {}

    def read(shown: Sequence[Row]) -> None:
        read_answers([side.run for side in runs], shown, pages.model_answer)
        questions.update(sentences(runs[0].run, shown, pages.question_form))
        answers.update(several_answers(runs[0].run, shown, pages.question_form))

    def question(row: Row) -> Cell:
        subject = cells.text(row["subject"], item_url(runs[0].run, row), lang=row.get("language", ""))
        return replace(subject, text=questions.get(row_key(row), subject.text))

    def right_names(row: Row) -> Cell:
        right = _chosen(runs, row["right"])
        listed = ", ".join(run.name for run in right) or "none"
        return cells.text(listed if len(runs) <= CROSSED_RUNS else f"{len(right)} of {len(runs)}", note=listed)

    def right_keys(row: Row) -> Cell:
        return cells.text(", ".join(run.key for run in _chosen(runs, row["right"])) or "none")

    return Table(
        name="disagreements",
        caption=_pattern_caption(runs, pattern) if pattern else "Answers on which the runs disagree",
        columns=[
            Column("subject", "Question", question, align="head"),
            Column("relation", "Relation", lambda row: group_cell("relation", row["relation"], names), folded=True),
            Column("template", "Wording", _wording_cell, align="number", shown=False),
            Column("answer", "Answer", lambda row: answer_cell(row, answers)),
            *(_answer_column(position, run) for position, run in enumerate(runs)),
            Column("right_names", "Right", right_names, folded=len(runs) <= CROSSED_RUNS),
            Column("right", "", right_keys, shown=False),
        ],
        rows=rows,
        sortable=False,
        page_size=DISAGREEMENTS_PER_PAGE,
        empty="There are no such answers.",
        prepare=read,
    )


def _wording_cell(row: Row) -> Cell:
    """Show the number of a wording from 1; the CSV has the template's number, which counts from 0."""
    return Cell(row["template"], str(row["template"] + 1), kind="number")


def _answer_column(position: int, run: ComparedRun) -> Column[Row]:
    def cell(row: Row) -> Cell:
        right = row["right"][position]
        answer = row["answers"][position] or _right_or_wrong(right)
        return Cell(answer, answer, kind=_mark(right), lang=row.get("language", ""))

    return Column(run.key, run.name, cell)


def _pattern_caption(runs: Sequence[ComparedRun], pattern: Pattern) -> str:
    wrong = [not right for right in pattern]
    parts = [
        f"{word}: {', '.join(run.name for run in _chosen(runs, choice))}"
        for word, choice in (("right", pattern), ("wrong", wrong))
        if any(choice)
    ]
    return labels.sentence("; ".join(parts))


def _chosen(runs: Sequence[ComparedRun], chosen: Sequence[bool]) -> list[ComparedRun]:
    return [run for run, is_chosen in zip(runs, chosen, strict=True) if is_chosen]
