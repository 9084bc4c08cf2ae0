"""/compare/?m=…&m=… : two runs on the same items, paired."""

from functools import lru_cache
from typing import Any

import pandas as pd
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render

from leaderboard import cells, charts, items, queries, sections, words
from leaderboard.charts import Chart, Point
from leaderboard.forms import STORED
from leaderboard.models import Run
from leaderboard.tables import Column, Table
from leaderboard.views.page import show
from probing.analysis.comparison import compare
from probing.errors import BadInput, ProbingError

Row = dict[str, Any]
KEY = ["relation", "template", "index"]


def compare_view(request: HttpRequest) -> HttpResponseBase:
    asked = [text for text in request.GET.getlist("m") if text]
    choices = list(queries.measured_runs()[:200])
    if len(asked) < 2:
        return render(request, "compare.html", {"choices": choices, "asked": asked})
    try:
        first, second = find_runs(asked, request.GET.get("benchmark", ""))
        rows, agreement = compared(first.pk, second.pk)
    except ProbingError as error:
        return render(request, "compare.html", {"choices": choices, "asked": asked, "error": error}, status=400)
    context = {
        "choices": choices,
        "asked": asked,
        "first": first,
        "second": second,
        "overall": rows[0],
        "difference": cells.signed(rows[0]["difference"]),
        "interval": [cells.signed(rows[0][end]) for end in ("low", "high")],
        "p": cells.p_value(rows[0]["p"]),
    }
    shown = context["sections"] = sections.of_comparison(first, second)
    tables = [table(rows), agreement_table(agreement), *(section.table for section in shown if section.table)]
    figures = [*drawn(first, second, rows), *(section.chart for section in shown if section.chart)]
    return show(request, "compare.html", context, tables, figures)


def find_runs(asked: list[str], benchmark: str) -> tuple[Run, Run]:
    """The two runs meant by run numbers or model ids, on a benchmark that both have."""
    if len(asked) > 2:
        raise BadInput("Only two runs can be compared.", "Leave out all but two.")
    first, second = (_candidates(text, benchmark) for text in asked)
    for one in first:
        for other in second:
            if one.pk != other.pk and one.benchmark_id == other.benchmark_id:
                return one, other
    raise BadInput("These two have no benchmark in common.", "Choose two different runs on the same benchmark.")


def _candidates(asked: str, benchmark: str) -> list[Run]:
    runs = queries.measured_runs().exclude(artefact="")
    found = runs.filter(pk=asked) if asked.isdecimal() else runs.filter(model__hub_id=asked)
    kept = list(found.filter(benchmark__slug=benchmark) if benchmark else found)
    if not kept:
        raise BadInput(f"There is no finished run {asked!r}.", "Choose from the list.")
    return kept


@lru_cache(maxsize=64)
def compared(first: int, second: int) -> tuple[list[Row], list[list[int]]]:
    """The paired differences, and how often both, one or none is right. A finished run never changes."""
    runs = Run.objects.in_bulk([first, second])
    one, other = _answers(runs[first]), _answers(runs[second])
    dimensions = [name for name in one.columns if name not in {*KEY, "correct"}]
    pairs = one.merge(other[[*KEY, "correct"]], on=KEY, suffixes=("", "_other"))
    counts = [[_both(pairs, a, b) for b in (True, False)] for a in (True, False)]
    return compare(one, other, dimensions).to_dict("records"), counts


def _both(pairs: pd.DataFrame, first: bool, second: bool) -> int:
    return int(((pairs["correct"] == first) & (pairs["correct_other"] == second)).sum())


def _answers(run: Run) -> pd.DataFrame:
    """What a comparison needs of a run: keys, right or wrong, and the tags."""
    stored = items.names(run)
    if "correct" not in stored:
        raise BadInput("These runs have no right answers to compare.", "Compare their scores on the leaderboard.")
    tags = [name for name in stored if name not in STORED]
    found = items.find(run, items.ItemFilter())
    return pd.DataFrame(items.rows(run, found, [*KEY, "correct", *tags]))


def table(rows: list[Row]) -> Table[Row]:
    return Table(
        name="differences",
        caption="Second minus first",
        columns=[
            Column("dimension", "Dimension", lambda row: cells.text(words.dimension(row["dimension"]))),
            Column("group", "Group", lambda row: cells.text(row["group"]), align="head"),
            Column("n", "Items", lambda row: cells.items(row["n"]), align="number"),
            Column("first", "First", lambda row: cells.number(row["first"]), align="number"),
            Column("second", "Second", lambda row: cells.number(row["second"]), align="number"),
            Column("difference", "Difference", lambda row: cells.signed(row["difference"]), align="number"),
            Column("low", "95 % low", lambda row: cells.signed(row["low"], "bound"), align="number bound"),
            Column("high", "95 % high", lambda row: cells.signed(row["high"], "bound"), align="number bound"),
            Column("gained", "Gained", lambda row: cells.number(row["gained"]), align="number"),
            Column("lost", "Lost", lambda row: cells.number(row["lost"]), align="number"),
            Column("p", "McNemar p", lambda row: cells.p_value(row["p"]), align="number"),
        ],
        rows=rows,
        main=True,
        band=lambda row: "certain" if row["low"] > 0 or row["high"] < 0 else "",
    )


def agreement_table(counts: list[list[int]]) -> Table[tuple[str, list[int]]]:
    return Table(
        name="agreement",
        caption="Answers of both, counted over items and templates",
        columns=[
            Column("first", "First", lambda row: cells.text(row[0]), align="head"),
            Column("second_right", "Second right", lambda row: cells.number(row[1][0]), align="number"),
            Column("second_wrong", "Second wrong", lambda row: cells.number(row[1][1]), align="number"),
        ],
        rows=list(zip(("right", "wrong"), counts, strict=True)),
        sortable=False,
    )


def _difference(row: Row) -> tuple[float, float, float]:
    return row["difference"], row["low"], row["high"]


def drawn(first: Run, second: Run, rows: list[Row]) -> list[Chart]:
    groups = [row for row in rows if row["dimension"] not in ("relation", "overall")]
    relations = [row for row in rows if row["dimension"] == "relation"]
    forest = [Point("overall", *_difference(rows[0])), *(Point(row["group"], *_difference(row)) for row in groups)]
    pairs = [Point(row["group"], row["second"], x=row["first"]) for row in relations]
    better = sum(row["second"] > row["first"] for row in relations)
    return [
        Chart(
            "forest",
            "Difference by group",
            f"Overall the second is {rows[0]['difference']:+.3f} against the first.",
            charts.differences(forest, "accuracy of the second minus the first"),
        ),
        Chart(
            "relations",
            "Relation by relation",
            f"The second is better on {better} of {len(relations)} relations.",
            charts.square(pairs, first.model.hub_id, second.model.hub_id),
        ),
    ]
