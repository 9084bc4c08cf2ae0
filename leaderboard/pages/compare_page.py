"""/compare/?m=…&m=… : a paired comparison of two to eight runs on the same items."""

from collections.abc import Iterable, Sequence
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
    find_runs,
    neighbours,
    read_answers,
    ready_pairs,
    shared_benchmarks,
    short_names,
)
from leaderboard.figures.item_rows import Row
from leaderboard.figures.runs import models_named
from leaderboard.figures.scores import OVERALL_SLICE
from leaderboard.models import Benchmark, Run, Score
from leaderboard.pages.comparison_words import (
    Side,
    compared_runs,
    comparison_charts,
    group_figures,
    is_certain,
    verdict,
)
from leaderboard.pages.rendering import page_reference, reference_file, what_is_cited
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import PairInLanguage, chosen_pair, pairs_of, switches
from leaderboard.probes.items import item_url
from leaderboard.probes.wording import (
    OUTCOMES,
    AnswerWords,
    Names,
    group_title,
    relation_names,
    row_key,
    sentences,
    several_answers,
)
from leaderboard.tables import INTERVAL, File, download, filled, ordered, page_of
from leaderboard.ui import labels
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.links import PageLink, link
from leaderboard.ui.table_files import wants_file
from probing.analysis.paired_tests import RESULT_NAMES, SIDE_BOUNDS
from probing.errors import ProbingError
from probing.probes import probe_named

OFFERS = "run-offers"  # the element with the names that the fields of the form suggest
FEWEST_CHOICES = 4  # fields of the form; each further run adds one, until all are there

DIFFERENCES = (
    *("dimension", "group", "name", "result", "run", "n", "first", "second", *SIDE_BOUNDS),
    *("difference", "low", "high", "gained", "lost", "p", "p_holm"),
)
RUNS = ("name", "run", *INTERVAL, "difference", "difference_low", "difference_high", "p", "p_holm", "result")


def compare_view(request: HttpRequest) -> HttpResponseBase:
    if request.headers.get("HX-Target") == OFFERS:
        return render(request, "parts/run_offers.html", {"models": models_named(request.GET.get("m", ""))})
    names = [text for text in [*request.GET.getlist("m"), *request.GET.getlist("model")] if text]
    slug = request.GET.get("benchmark", "")
    if not names:
        return _form(request, names, {"pairs": ready_pairs()})
    try:
        runs = find_runs(names, slug)
    except ProbingError as error:
        published = Benchmark.objects.filter(printed__model__hub_id__in=names).order_by("title").distinct()
        lists = dict.fromkeys((benchmark.title, benchmark.get_absolute_url()) for benchmark in published)
        return _form(request, names, {"error": error, "published": lists}, status=400 if len(names) > 1 else 200)
    if len(runs) == 1:
        return _form(request, names, {"pairs": neighbours(runs[0]) or ready_pairs()})
    offered = pairs_of(runs)
    pair = chosen_pair(request.GET, offered)
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
    pages, names = pages_of(runs[0].benchmark), relation_names(runs[0])
    metric = pages.metric_label(runs[0].benchmark.main_metric)
    sides, groups = compared_runs(runs, comparison.differences), group_figures(comparison.differences)
    tables, files = _tables(request, sides, groups, comparison, names)
    probe = pages.comparison_parts(runs, request.GET, pair)
    files |= probe.get("files", {})
    reference = comparison_reference(request, runs)
    if file := download(request, files) or reference_file(request, reference):
        return file
    figures = comparison_charts(sides, groups, comparison.differences, labels.within(metric), names)
    context = {
        **_chosen_runs(runs),
        **tables,
        "verdict": verdict(sides, comparison, probe_named(runs[0].benchmark.probe).ahead),
        "changes": _changes(sides, comparison),
        "metric": metric,
        "second": f"Its {labels.within(metric)}" if len(sides) > 2 else sides[1]["name"],
        "averaged": _averaged(runs[0].benchmark, comparison.differences),
        "n": comparison.differences[0]["n"],
        "right": pages.words.right,
        "pages": pages,
        "probe": probe,
        "switches": part_switches,
        "part": pair.title if pair else "",
        "contents": contents(figures, has_answers=bool(len(comparison.right))),
        "charts": {figure.name: figure for figure in figures},
        **what_is_cited(request, reference),
    }
    return render(request, "compare.html", context)


def _changes(sides: Sequence[Side], comparison: Comparison) -> list[str]:
    """Return what changed from the first to the second of two runs, in sentences."""
    if comparison.changes is None:
        return []
    first, second = (side["name"] for side in sides)
    return comparison.changes.in_words(first, second, comparison.differences[0])


def _averaged(benchmark: Benchmark, differences: Sequence[Row]) -> str:
    """Return how many relations the compared figures are means of; empty where they are means over questions."""
    relations = {row["group"] for row in differences if row["dimension"] == "relation"}
    return labels.number_of(len(relations), "relation") if benchmark.correctness.macro else ""


def contents(figures: Sequence[Chart], *, has_answers: bool) -> list[dict[str, str]]:
    """Return the page's contents list: what a reader may jump to, in the order of the page."""
    titles = {"groups": "Groups", "relations": "Relations"}
    entries = {
        **{f"section-{figure.name}": titles.get(figure.name, figure.title) for figure in figures},
        **({"disagreements": "Disagreements"} if has_answers else {}),
        "differences": "Differences",
    }
    return [{"id": anchor, "title": title} for anchor, title in entries.items()]


def _form(request: HttpRequest, names: Sequence[str], context: dict[str, Any], status: int = 200) -> HttpResponseBase:
    return render(request, "compare.html", {**context, "chosen": chosen(names)}, status=status)


def comparison_reference(request: HttpRequest, runs: Sequence[Run]) -> Reference:
    """Return how a comparison is cited, with the run of each model."""
    benchmark = runs[0].benchmark
    named = "; ".join(f"{run.model.title} (run {run.pk})" for run in runs)
    key = "-".join(["comparison", *(str(run.pk) for run in runs)])
    details = f"{named}; benchmark version {benchmark.version[:12]}"
    return page_reference(request, key, f"Comparison on {benchmark.title}", details)


def _chosen_runs(runs: Sequence[Run]) -> dict[str, Any]:
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


# The tables that every comparison has: what the template needs of them, and their rows with the values of the CSV.


def _tables(
    request: HttpRequest, sides: Sequence[Side], groups: Sequence[Row], comparison: Comparison, names: Names
) -> tuple[dict[str, Any], dict[str, File]]:
    """Return what the page shows of its tables, and the tables as files, with all rows unless a page is named."""
    runs = [_run_row(side, sides, request.GET) for side in sides]
    differences = ordered([_difference_row(row, sides, names) for row in comparison.differences], request, DIFFERENCES)
    page = page_of(differences, request)
    measured_here = all(side["stored"].provenance == Run.Provenance.MEASURED for side in sides)
    context: dict[str, Any] = {
        "sides": sides,
        "several": len(sides) > 2,
        "is_corrected": any(row["p_holm"] != row["p"] for row in runs),
        "runs": runs,
        "measured_here": measured_here,
        "scale": _scale(side["figure"] for side in sides),
        "differences": page,
        "has_gains": filled(list(page), ("gained",)),
        "differences_open": "sort" in request.GET or "page" in request.GET,
    }
    files: dict[str, File] = {
        "differences": (DIFFERENCES, list(page) if "page" in request.GET else differences),
        "runs": (RUNS if measured_here else (*RUNS[:-1], "provenance", RUNS[-1]), runs),
    }
    if len(sides) > 2:
        columns = _value_columns(sides)
        values = ordered([_value_row(row, sides, names) for row in groups], request, columns, "values")
        context["values"] = page_of(values, request, "values")
        files["values"] = (columns, list(context["values"]) if "values-page" in request.GET else values)
    if len(comparison.right):
        context |= _disagreements(request, sides, comparison, names)
        files["disagreements"] = (_disagreement_columns(sides), context["disagreements"])
    return context, files


def _scale(figures: Iterable[Score | None]) -> str:
    """Say from where to where the bars of these figures run; empty where none has a bar."""
    return "0 to 1" if any(score and score.value is not None and 0 <= score.value <= 1 for score in figures) else ""


def _run_row(side: Side, sides: Sequence[Side], query: QueryDict) -> Row:
    """Return a run with its figure and its difference from the first run; `first_href` makes it the first."""
    run, change = side["stored"], side["against_first"] or {}
    numbers = [str(other["stored"].pk) for other in sides if other is not side]
    return {
        **side,
        "change": change and Score(value=change["difference"], low=change["low"], high=change["high"]),
        "first_href": _with_runs(query, [str(run.pk), *numbers]) if change else "",
        "run": run.pk,
        **{name: getattr(side["figure"], name) for name in INTERVAL},
        "difference": change.get("difference"),
        "difference_low": change.get("low"),
        "difference_high": change.get("high"),
        "p": change.get("p"),
        "p_holm": change.get("p_holm"),
        "provenance": run.source,
        "result": side["key"],
    }


def _with_runs(query: QueryDict, numbers: Sequence[str]) -> str:
    """Return the address of the page with the same parameters for these runs, in this order."""
    changed = query.copy()
    changed.setlist("m", list(numbers))
    return link(changed, right=None, sort=None, page=None)


def _difference_row(row: Row, sides: Sequence[Side], names: Names) -> Row:
    side = next(side for side in sides if side["key"] == row["result"])
    return {
        **row,
        "dimension": labels.dimension(row["dimension"]),
        "title": group_title(row["dimension"], row["group"], names),
        "change": Score(value=row["difference"], low=row["low"], high=row["high"]),
        "certain": is_certain(row),
        "n": row["n"] or None,
        "name": side["name"],
        "run": side["stored"].pk,
    }


def _value_columns(sides: Sequence[Side]) -> list[str]:
    return ["dimension", "group", "n", *(_value_column(side, name) for side in sides for name in INTERVAL)]


def _value_column(side: Side, name: str) -> str:
    """Return the column of a run's figure, or that of an end of an interval."""
    return str(side["key"]) if name == "value" else f"{side['key']}_{name}"


def _value_row(row: Row, sides: Sequence[Side], names: Names) -> Row:
    """Return a group with the figure of every run."""
    of_sides = list(zip(sides, row["figures"], strict=True))
    return {
        "title": group_title(row["dimension"], row["group"], names),
        "figures": of_sides,
        "dimension": labels.dimension(row["dimension"]),
        "group": row["group"],
        "n": row["n"] or None,
        **{_value_column(side, name): getattr(figure, name) for side, figure in of_sides for name in INTERVAL},
    }


# The answers on which the runs disagree.


DISAGREEMENTS_PER_PAGE = 20
PATTERNS_OFFERED = 6  # the most frequent ones
NAMED_RUNS = 4  # with more runs, their number stands in place of their names


def _disagreements(request: HttpRequest, sides: Sequence[Side], comparison: Comparison, names: Names) -> dict[str, Any]:
    """Return the answers of a page, or those of a file where the query string asks for one."""
    words, pattern = (
        pages_of(sides[0]["stored"].benchmark).words,
        read_pattern(request.GET.get("right", ""), len(sides)),
    )
    answers = disagreements(comparison, pattern)
    page, shown = page_of(answers, request, "disagreements", DISAGREEMENTS_PER_PAGE), answers
    if not wants_file(request) or "disagreements-page" in request.GET:
        shown = list(page)
    elif request.GET.get("table") != "disagreements":  # it is another file, for which no answer is read
        shown = []
    rows = _disagreement_rows(sides, shown, names)
    return {
        "has_answers": True,
        "patterns": [pattern_links(sides, comparison, request.GET, words)],
        "pattern": _pattern_caption(sides, pattern, words) if pattern else "Answers on which the runs disagree",
        "disagreements": rows,
        "disagreements_page": page,
        "disagreements_filled": filled(rows, ("relation", "answer")),
        "few": len(sides) <= NAMED_RUNS,
    }


def pattern_links(
    sides: Sequence[Side], comparison: Comparison, query: QueryDict, words: AnswerWords
) -> list[PageLink]:
    """Return the links to all disagreements, and to those of each of the most frequent patterns, with their number."""
    chosen = read_pattern(query.get("right", ""), len(sides))
    counts = {pattern: count for pattern, count in comparison.counts().items() if len(set(pattern)) > 1}
    frequent = sorted(counts, key=lambda pattern: -counts[pattern])[:PATTERNS_OFFERED]
    titles = {pattern: f"{_pattern_caption(sides, pattern, words)} ({counts[pattern]:,})" for pattern in frequent}
    offered: list[tuple[Pattern | None, str]] = [(None, "All"), *titles.items()]
    return [PageLink(title, _with_pattern(query, pattern), pattern == chosen) for pattern, title in offered]


def _with_pattern(query: QueryDict, pattern: Pattern | None) -> str:
    digits = "".join(str(int(right)) for right in pattern) if pattern else None
    return link(query, right=digits, **{"disagreements-page": None})


def _disagreement_columns(sides: Sequence[Side]) -> list[str]:
    return ["subject", "relation", "template", "answer", *(side["key"] for side in sides), "right_names", "right"]


def _disagreement_rows(sides: Sequence[Side], rows: Sequence[Row], names: Names) -> list[Row]:
    """Return rows on which runs disagree with their questions and answers, which are read now."""
    first = sides[0]["stored"]
    pages = pages_of(first.benchmark)
    read_answers([side["stored"] for side in sides], rows, pages.model_answer)
    questions = sentences(first, rows, pages.question_form)
    several = several_answers(first, rows, pages.question_form)

    def shown(row: Row) -> Row:
        right = _chosen(sides, row["right"])
        listed = ", ".join(side["name"] for side in right) or "none"
        answers = [
            (side, "" if pages.words.both_true else OUTCOMES[is_right][1], answer or pages.words.of(is_right))
            for side, is_right, answer in zip(sides, row["right"], row["answers"], strict=True)
        ]
        return {
            **{name: row[name] for name in ("subject", "relation", "template")},
            "href": item_url(first, row),
            "language": row.get("language") or "",
            "question": questions.get(row_key(row), row["subject"]),
            "relation_title": group_title("relation", row["relation"], names),
            "every_answer": several.get((row["relation"], row["index"]), row["answer_label"]),
            "answers": answers,
            "answer": row["answer_label"],
            **{side["key"]: answer for side, _, answer in answers},
            "right_listed": listed,
            "right_names": listed if len(sides) <= NAMED_RUNS else f"{len(right)} of {len(sides)}",
            "right": ", ".join(side["key"] for side in right) or "none",
        }

    return [shown(row) for row in rows]


def _pattern_caption(sides: Sequence[Side], pattern: Pattern, words: AnswerWords) -> str:
    wrong = [not right for right in pattern]
    parts = [
        f"{word}: {', '.join(side['name'] for side in _chosen(sides, choice))}"
        for word, choice in ((words.right, pattern), (words.wrong, wrong))
        if any(choice)
    ]
    return labels.sentence("; ".join(parts))


def _chosen(sides: Sequence[Side], chosen: Sequence[bool]) -> list[Side]:
    return [side for side, is_chosen in zip(sides, chosen, strict=True) if is_chosen]
