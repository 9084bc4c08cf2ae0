"""/compare/?m=…&m=… : a paired comparison of two to four runs on the same items."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import isnan
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.urls import reverse

from leaderboard.display import cells, charts, labels
from leaderboard.display.cells import Cell
from leaderboard.display.charts import Chart, Point
from leaderboard.display.tables import Column, Table, link
from leaderboard.lists.compared_runs import NAMES, Pattern, compared, disagreements, find_runs
from leaderboard.lists.runs import measured_runs
from leaderboard.models import Run
from leaderboard.probe_pages import pages_of
from leaderboard.stored.item_rows import Row
from leaderboard.views.page import show
from probing.errors import ProbingError

SIGNIFICANT = 0.05
DISAGREEMENTS_PER_PAGE = 20
RUNS_OFFERED = 200


class Side(NamedTuple):
    """A run at the head of the page; `against_first` is missing for the first run itself."""

    name: str
    run: Run
    score: float
    against_first: Mapping[str, Cell] | None = None


def compare_view(request: HttpRequest) -> HttpResponseBase:
    names = [text for text in request.GET.getlist("m") if text]
    context: dict[str, Any] = {"choices": list(measured_runs()[:RUNS_OFFERED])}
    if len(names) < 2:
        return render(request, "compare.html", {**context, "chosen": chosen(names)})
    try:
        runs = find_runs(names, request.GET.get("benchmark", ""))
        comparison = compared(*(run.pk for run in runs))
    except ProbingError as error:
        return render(request, "compare.html", {**context, "chosen": chosen(names), "error": error}, status=400)
    benchmark = runs[0].benchmark
    pages = pages_of(benchmark)
    metric = pages.metric_label(benchmark.main_metric)
    pattern = read_pattern(request.GET.get("right", ""), len(runs))
    context |= {
        "chosen": chosen([str(run.pk) for run in runs]),
        "benchmark": benchmark,
        "metric": metric,
        "sides": sides(runs, comparison.differences),
        "n": cells.items(comparison.differences[0]["n"]),
        "everything": link(request.GET, right=None) if pattern else "",
    }
    answers = disagreements(runs, comparison, pattern, pages.model_answer)
    tables: list[Table[Any]] = [
        differences_table(runs, comparison.differences, metric),
        agreement_table(len(runs), comparison.counts(), request.GET),
        disagreements_table(runs, answers, pattern),
    ]
    figures = comparison_charts(runs, comparison.differences, labels.within(metric))
    return show(request, "compare.html", context, tables, figures, pages.comparison_sections(runs))


def chosen(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the names of the form's choices, each with the run or model that is chosen there."""
    return [(choice, names[place] if place < len(names) else "") for place, choice in enumerate(NAMES)]


def read_pattern(text: str, runs: int) -> Pattern | None:
    """Read a pattern: `10` means that the first is right and the second wrong. Return None where it is malformed."""
    return tuple(digit == "1" for digit in text) if len(text) == runs and set(text) <= {"0", "1"} else None


def pattern_text(pattern: Pattern) -> str:
    return "".join(str(int(right)) for right in pattern)


def sides(runs: Sequence[Run], differences: Sequence[Row]) -> list[Side]:
    overall = [row for row in differences if row["dimension"] == "overall"]
    first = Side(NAMES[0], runs[0], overall[0]["first"])
    return [
        first,
        *(Side(row["result"], run, row["second"], _figures(row)) for run, row in zip(runs[1:], overall, strict=True)),
    ]


def _figures(row: Row) -> dict[str, Cell]:
    signed = {name: cells.signed(row[name]) for name in ("difference", "low", "high")}
    return {**signed, "p": cells.p_value(row["p"])}


def is_certain(row: Row) -> bool:
    return bool(row["p_holm"] < SIGNIFICANT)


def differences_table(runs: Sequence[Run], rows: Sequence[Row], metric: str) -> Table[Row]:
    more_than_two = len(runs) > 2
    names: list[Column[Row]] = [Column("result", "Run", lambda row: cells.text(row["result"]))] if more_than_two else []
    return Table(
        name="differences",
        caption="Difference from the first run" if more_than_two else "Second run minus first run",
        columns=[
            Column("dimension", "Dimension", lambda row: cells.text(labels.dimension(row["dimension"]))),
            Column("group", "Group", lambda row: cells.text(row["group"]), align="head"),
            *names,
            Column("n", "Items", lambda row: cells.items(row["n"]), align="number"),
            Column("first", "First", lambda row: cells.number(row["first"]), align="number"),
            Column(
                "second",
                f"Its {labels.within(metric)}" if more_than_two else "Second",
                lambda row: cells.number(row["second"]),
                align="number",
            ),
            Column("difference", "Difference", lambda row: cells.signed(row["difference"]), align="number"),
            Column("low", "95 % low", lambda row: cells.signed(row["low"], "bound"), align="number bound"),
            Column("high", "95 % high", lambda row: cells.signed(row["high"], "bound"), align="number bound"),
            Column("gained", "Gained", lambda row: cells.number(row["gained"]), align="number"),
            Column("lost", "Lost", lambda row: cells.number(row["lost"]), align="number"),
            Column("p", "p", lambda row: cells.p_value(row["p"]), align="number"),
            Column(
                "p_holm",
                "p, Holm",
                lambda row: cells.p_value(row["p_holm"]),
                "The p-value, corrected by Holm's method for all tests of the dimension.",
                align="number",
            ),
        ],
        rows=rows,
        main=True,
        band=lambda row: "certain" if is_certain(row) else "",
    )


def agreement_table(runs: int, counts: Mapping[Pattern, int], query: QueryDict) -> Table[Pattern]:
    """Return the last run's right and wrong answers beside those of the others; each number links to its answers."""

    def number(pattern: Pattern) -> Cell:
        address = link(query, right=pattern_text(pattern), **{"disagreements-page": None})
        return replace(cells.number(counts.get(pattern, 0)), href=f"{address}#table-disagreements")

    last = NAMES[runs - 1]
    return Table(
        name="agreement",
        caption="Right and wrong answers, counted over items and templates",
        columns=[
            *(_right_or_wrong(place) for place in range(runs - 1)),
            Column(f"{last}_right", f"{last.capitalize()} right", lambda row: number((*row, True)), align="number"),
            Column(f"{last}_wrong", f"{last.capitalize()} wrong", lambda row: number((*row, False)), align="number"),
        ],
        rows=list(product((True, False), repeat=runs - 1)),
        sortable=False,
    )


def _right_or_wrong(place: int) -> Column[Pattern]:
    def cell(row: Pattern) -> Cell:
        return cells.text("right" if row[place] else "wrong")

    return Column(NAMES[place], NAMES[place].capitalize(), cell)


def disagreements_table(runs: Sequence[Run], rows: Sequence[Row], pattern: Pattern | None) -> Table[Row]:
    def subject(row: Row) -> Cell:
        href = reverse("item", args=[runs[0].pk, row["relation"], row["template"], row["index"]])
        return cells.text(row["subject"], href=href, lang=row.get("language", ""))

    return Table(
        name="disagreements",
        caption=_pattern_caption(pattern) if pattern else "Answers on which the runs disagree",
        columns=[
            Column("subject", "Subject", subject, align="head"),
            Column("relation", "Relation", lambda row: cells.text(row["relation"])),
            Column("template", "Template", lambda row: cells.number(row["template"]), align="number"),
            Column("answer", "Answer", lambda row: cells.text(row["answer_label"], lang=row.get("language", ""))),
            *(_answer_column(place) for place in range(len(runs))),
            Column("right", "Right", lambda row: cells.text(_names(row["right"]) or "none")),
        ],
        rows=rows,
        sortable=False,
        page_size=DISAGREEMENTS_PER_PAGE,
        cards=True,
        empty="There are no such answers.",
    )


def _answer_column(place: int) -> Column[Row]:
    def cell(row: Row) -> Cell:
        right = row["right"][place]
        answer = row["answers"][place] or ("right" if right else "wrong")
        return Cell(answer, answer, kind="yes" if right else "no", lang=row.get("language", ""))

    return Column(NAMES[place], NAMES[place].capitalize(), cell)


def _pattern_caption(pattern: Pattern) -> str:
    right, wrong = _names(pattern), _names([not right for right in pattern])
    return "; ".join(filter(None, [right and f"right: {right}", wrong and f"wrong: {wrong}"])).capitalize()


def _names(right: Sequence[bool]) -> str:
    return ", ".join(name for name, is_right in zip(NAMES, right, strict=False) if is_right)


def comparison_charts(runs: Sequence[Run], rows: Sequence[Row], metric: str) -> list[Chart]:
    relations = [row for row in rows if row["dimension"] == "relation"]
    groups = [row for row in rows if row["dimension"] != "relation"]
    if {row["dimension"] for row in groups} == {"overall"}:  # no tag to divide items by
        groups = list(rows)
    forest = _forest(groups) if len(runs) == 2 else _beside(runs, groups, metric)
    return [forest, _scatter(runs, relations, metric)]


def _group_names(rows: Sequence[Row]) -> list[str]:
    """Return the names of the groups, with the dimension where two dimensions have a group of that name."""
    times = Counter(group for _, group in {(row["dimension"], row["group"]) for row in rows})
    return [row["group"] if times[row["group"]] == 1 else f"{row['group']} ({row['dimension']})" for row in rows]


def _forest(rows: Sequence[Row]) -> Chart:
    group_names = _group_names(rows)
    heads = {label: labels.dimension(row["dimension"]) for label, row in zip(group_names, rows, strict=True)}
    points = [
        Point(label, row["difference"], row["low"], row["high"], group="certain" if is_certain(row) else "")
        for label, row in zip(group_names, rows, strict=True)
    ]
    certain = sum(map(is_certain, rows))
    summary = (
        f"Overall, the second run differs from the first by {rows[0]['difference']:+.3f}. Filled dots are significant "
        f"after Holm's correction: {certain} of {len(rows)}."
    )
    figure = charts.forest(points, heads, "second minus first")
    return Chart("groups", "Difference by group", summary, figure)


def _beside(runs: Sequence[Run], rows: Sequence[Row], metric: str) -> Chart:
    group_names = _group_names(rows)
    heads = {label: labels.dimension(row["dimension"]) for label, row in zip(group_names, rows, strict=True)}
    pairs = list(zip(group_names, rows, strict=True))
    points = [_side_point(label, row, "first", NAMES[0]) for label, row in pairs if row["result"] == NAMES[1]]
    points += [_side_point(label, row, "second", row["result"]) for label, row in pairs]
    best = max(sides(runs, rows), key=lambda side: side.score)
    summary = f"Overall, the {best.name} run, {best.run.name}, is the best with {best.score:.3f}."
    title = f"{metric[:1].upper()}{metric[1:]} by group"
    return Chart("groups", title, summary, charts.beside(points, heads, metric))


def _side_point(label: str, row: Row, side: str, name: str) -> Point:
    """Return the point of one side of a comparison, with its interval if it has one."""
    low, high = (None if isnan(row[f"{side}_{end}"]) else row[f"{side}_{end}"] for end in ("low", "high"))
    return Point(label, row[side], low, high, group=name)


def _scatter(runs: Sequence[Run], rows: Sequence[Row], metric: str) -> Chart:
    points = [Point(row["group"], row["second"], x=row["first"], group=row["result"]) for row in rows]
    others = NAMES[1] if len(runs) == 2 else "others"
    figure = charts.square(points, f"{metric} of the first", f"{metric} of the {others}")
    return Chart("relations", "Relation by relation", " ".join(_better(rows)), figure)


def _better(rows: Sequence[Row]) -> list[str]:
    better: dict[str, list[bool]] = {}
    for row in rows:
        better.setdefault(row["result"], []).append(row["second"] > row["first"])
    return [f"The {name} run is better than the first on {sum(b)} of {len(b)} relations." for name, b in better.items()]
