"""/compare/?m=…&m=… : a paired comparison of two to eight runs on the same items."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.utils.text import slugify

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
from leaderboard.figures.item_rows import Row
from leaderboard.figures.runs import models_named
from leaderboard.figures.scores import OVERALL_SLICE
from leaderboard.figures.training import Percent, StepScore, Trajectories, on_several_benchmarks
from leaderboard.models import Benchmark, Run
from leaderboard.pages.bias_fold import compared_fold
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
from leaderboard.pages.rendering import page_reference, show
from leaderboard.pages.training_tables import PointRow, benchmarks_table
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import PairInLanguage, one_pair, pairs_of, switches
from leaderboard.probes.items import item_url
from leaderboard.probes.probe_pages import ProbePages
from leaderboard.probes.wording import (
    OUTCOMES,
    AnswerWords,
    Names,
    RowKey,
    answer_cell,
    relation_names,
    row_key,
    sentences,
    several_answers,
)
from leaderboard.ui import cells, charts, labels
from leaderboard.ui.cells import Cell
from leaderboard.ui.charts.basics import Chart, Point, range_in_view
from leaderboard.ui.links import PageLink, link
from leaderboard.ui.sections import Anchor, Fold, Section, anchors, folds_of, open_sections, section
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
        "verdict": verdict(sides, comparison.differences, pages.words.more),
        "metric": metric,
        "averaged": _averaged(runs[0].benchmark, comparison.differences),
        "n": cells.items(comparison.differences[0]["n"]),
        "differences_open": "sort" in request.GET or "page" in request.GET,
        "has_answers": bool(len(comparison.right)),
        "right": pages.words.right,
    }
    relations = relation_names(runs[0])
    tables, figures, scores = _groups(sides, comparison, metric, relations, request.GET)
    if len(comparison.right):
        pattern = read_pattern(request.GET.get("right", ""), len(runs))
        context["patterns"] = [pattern_links(sides, comparison, request.GET, pages.words)]
        shown = disagreements_table(sides, disagreements(comparison, pattern), pattern, relations, pages)
        tables.append(shown)
    context |= {"switches": part_switches, "part": pair.title if pair else ""}
    of_probe = pages.comparison_sections(runs, *pages.chosen_group(pair))
    names = [side.name for side in sides]
    optional_folds = (benchmarks_fold(runs, names), compared_fold(runs, request.GET))
    sections, folds = open_sections(of_probe), [*folds_of(of_probe), *filter(None, optional_folds)]
    sections = [*scores, *sections]
    context["folds"] = [(fold, fold.is_open(request.GET)) for fold in folds]
    context["contents"] = contents(figures, sections, folds, has_answers=context["has_answers"])
    folded = [section for fold in folds for section in fold.sections]
    return show(
        request, "compare.html", context, tables, figures, sections, folded, comparison_reference(request, runs)
    )


def _averaged(benchmark: Benchmark, differences: Sequence[Row]) -> str:
    """Return how many relations the compared figures are means of; empty where they are means over questions."""
    relations = {row["group"] for row in differences if row["dimension"] == "relation"}
    return labels.number_of(len(relations), "relation") if benchmark.correctness.macro else ""


def contents(
    figures: Sequence[Chart], sections: Sequence[Section], folds: Sequence[Fold], *, has_answers: bool
) -> list[Anchor]:
    """Return the page's contents list: what a reader may jump to, in the order of the page."""
    titles = {"groups": "Groups", "relations": "Relations"}
    names = {figure.name for figure in figures}
    return [
        *(Anchor(f"section-{name}", title) for name, title in titles.items() if name in names),
        *anchors(sections),
        *([Anchor("disagreements", "Disagreements")] if has_answers else []),
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


# The answers on which the runs disagree.


DISAGREEMENTS_PER_PAGE = 20
PATTERNS_OFFERED = 6  # the most frequent ones
NAMED_RUNS = 4  # with more runs, their number stands in place of their names


def pattern_links(
    runs: Sequence[ComparedRun], comparison: Comparison, query: QueryDict, words: AnswerWords
) -> list[PageLink]:
    """Return the links to all disagreements, and to those of each of the most frequent patterns, with their number."""
    chosen = read_pattern(query.get("right", ""), len(runs))
    counts = {pattern: count for pattern, count in comparison.counts().items() if len(set(pattern)) > 1}
    frequent = sorted(counts, key=lambda pattern: -counts[pattern])[:PATTERNS_OFFERED]
    titles = {pattern: f"{_pattern_caption(runs, pattern, words)} ({counts[pattern]:,})" for pattern in frequent}
    offered: list[tuple[Pattern | None, str]] = [(None, "All"), *titles.items()]
    return [PageLink(title, _with_pattern(query, pattern), pattern == chosen) for pattern, title in offered]


def _with_pattern(query: QueryDict, pattern: Pattern | None) -> str:
    digits = "".join(str(int(right)) for right in pattern) if pattern else None
    return link(query, right=digits, **{"disagreements-page": None})


def _marked(words: AnswerWords, right: bool, answer: str = "", lang: str = "") -> Cell:
    """Show an answer, or whether it is right where there is no text of it, in the colour that says so."""
    text = answer or words.of(right)
    return Cell(text, text, kind="" if words.both_true else OUTCOMES[right][1], lang=lang)


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
        return cells.text(listed if len(runs) <= NAMED_RUNS else f"{len(right)} of {len(runs)}", note=listed)

    def right_keys(row: Row) -> Cell:
        return cells.text(", ".join(run.key for run in _chosen(runs, row["right"])) or "none")

    return Table(
        name="disagreements",
        caption=_pattern_caption(runs, pattern, pages.words) if pattern else "Answers on which the runs disagree",
        columns=[
            Column("subject", "Question", question, align="head"),
            Column("relation", "Relation", lambda row: group_cell("relation", row["relation"], names), folded=True),
            Column("template", "Wording", _wording_cell, align="number", shown=False),
            Column("answer", "Answer", lambda row: answer_cell(row, answers)),
            *(_answer_column(position, run, pages.words) for position, run in enumerate(runs)),
            Column("right_names", labels.sentence(pages.words.right), right_names, folded=len(runs) <= NAMED_RUNS),
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


def _answer_column(position: int, run: ComparedRun, words: AnswerWords) -> Column[Row]:
    def cell(row: Row) -> Cell:
        return _marked(words, row["right"][position], row["answers"][position], row.get("language", ""))

    return Column(run.key, run.name, cell)


def _pattern_caption(runs: Sequence[ComparedRun], pattern: Pattern, words: AnswerWords) -> str:
    wrong = [not right for right in pattern]
    parts = [
        f"{word}: {', '.join(run.name for run in _chosen(runs, choice))}"
        for word, choice in ((words.right, pattern), (words.wrong, wrong))
        if any(choice)
    ]
    return labels.sentence("; ".join(parts))


def _chosen(runs: Sequence[ComparedRun], chosen: Sequence[bool]) -> list[ComparedRun]:
    return [run for run, is_chosen in zip(runs, chosen, strict=True) if is_chosen]


# The fold of a comparison with its models on other benchmarks.


BENCHMARKS_TITLE = "On several benchmarks"
BENCHMARKS_LEAD = "All benchmarks on which exactly these models were measured alike."
# The scores of the models in their order, by what the benchmark is called.
BenchmarkScores = Mapping[str, Sequence[StepScore]]


def benchmarks_fold(runs: Sequence[Run], names: Sequence[str]) -> Fold | None:
    """Return the scores of compared runs and of their models on other benchmarks; None without a second benchmark.

    `names`: those of the runs. Two queries.
    """
    series = on_several_benchmarks(runs)
    stored = Trajectories(series)
    scores: dict[str, Sequence[StepScore]] = {}
    for part in series:
        if len(points := stored.overall(part)) == len(runs):
            title = part.title if scores else part.benchmark.title  # names tell the compared runs themselves apart
            scores[f"{title}, run {part.runs[0].pk}" if title in scores else title] = points
    if len(scores) < 2:
        return None
    called = {point.run.pk: name for points in scores.values() for point, name in zip(points, names, strict=True)}
    head: Column[PointRow] = Column("model", "Model", lambda row: cells.text(called[row.point.run.pk]), align="head")
    rows = [PointRow(title, point) for title, points in scores.items() for point in points]
    summary = f"{len(names)} models on {len(scores)} benchmarks; the table has the same figures."
    figure = charts.beside(_points_beside(scores, names, _as_percent), dict.fromkeys(scores, ""), "score")
    first = section(benchmarks_table(rows, ["percent"], head), (summary, figure), title="Scores")
    relative = [
        _relative_section(scores, names, "In percent of the first model", lambda point: point.percent),
        _relative_section(
            scores, names, "Above chance, in percent of the first model", lambda point: point.above_chance
        ),
    ]
    return Fold("benchmarks", BENCHMARKS_TITLE, BENCHMARKS_LEAD, [first, *relative])


def _as_percent(point: StepScore) -> Percent:
    return Percent(point.value, point.score.low, point.score.high)


def _points_beside(scores: BenchmarkScores, names: Sequence[str], value: Callable[[StepScore], Percent]) -> list[Point]:
    """Return the points of each model, one for each benchmark on which it has such a value."""
    return [
        Point(title, known.value, known.low, known.high, group=name, href=points[place].run.get_absolute_url())
        for place, name in enumerate(names)
        for title, points in scores.items()
        if (known := value(points[place])).value is not None
    ]


def _relative_section(
    scores: BenchmarkScores, names: Sequence[str], title: str, value: Callable[[StepScore], Percent]
) -> Section:
    """Return a chart of percentages of the first model, whose figures the table of the scores has, or its CSV."""
    name = slugify(title)
    points = _points_beside(scores, names, value)
    figure = charts.beside(points, dict.fromkeys(scores, ""), f"% of {names[0]}")
    figure.update_layout(xaxis={"range": range_in_view(points, 100.0), "tickformat": ".0f"})
    summary = f"{names[0]} has 100 % on every benchmark that is shown."
    return Section(name, title, chart=Chart(name, title, summary, figure))
