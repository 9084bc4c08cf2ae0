"""The folds of a comparison: compared models on other benchmarks, and what a change of facts did between two runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isnan, nan

from django.http import QueryDict
from django.utils.text import slugify

from leaderboard.figures.comparisons import changed_facts
from leaderboard.figures.item_rows import Row
from leaderboard.figures.scores import Slice
from leaderboard.figures.training import Percent, StepScore, Trajectories, on_several_benchmarks
from leaderboard.models import Run
from leaderboard.pages.comparison_tables import difference_cell
from leaderboard.pages.training_tables import PointRow, benchmarks_table
from leaderboard.ui import cells, charts, labels
from leaderboard.ui.cells import Cell
from leaderboard.ui.charts.basics import Chart, Point, range_in_view
from leaderboard.ui.sections import Fold, Section, TextForm, section
from leaderboard.ui.tables import Column, Table
from probing.analysis.accuracy import CHANCE
from probing.analysis.changed_facts import NEW_ANSWER, SHARE_BOUNDS, UNCHANGED, parse_facts
from probing.analysis.paired_tests import SIDE_BOUNDS
from probing.errors import ProbingError

NAME = "facts"  # of the fold, of the parameter with the facts, and of their table
CHANGED_TITLE = "Changed facts"
CHANGED_LEAD = (
    "What editing, unlearning or training some facts did to these facts, to their neighbours, and to everything else."
)
WORDS = {
    "label": "The facts that were changed from the first run to the second, as CSV or JSON Lines",
    "hint": (
        "Each has a relation and its subject or index, and may have the wording of the change as template and its new "
        "answer."
    ),
    "example": "relation,subject,answer\nP36,Norway,Cairo",
    "button": "Compare these facts",
    "methods": "comparing/#before-and-after-a-change-of-facts",
}
UNCHANGED_HELP = "The share of answers that are the same in both runs, right or wrong."
HOLM = "The p-value, corrected by Holm's method for all groups."
NEW_HELP = "The share of answers on the facts that are the new answer of the list."


def changed_facts_fold(runs: Sequence[Run], names: Sequence[str], query: QueryDict, part: Slice) -> Fold:
    """Return the fold with a form for the facts, and with their table where the query string has facts.

    `names`: those of the run before and the run after the change.
    """
    form = TextForm.of(query, NAME, **WORDS)
    fold = Fold(NAME, CHANGED_TITLE, CHANGED_LEAD, form=form)
    if not form.text:
        return fold
    try:
        rows = changed_facts(runs, parse_facts(form.text, "The list"), part)
    except ProbingError as error:
        return replace(fold, form=replace(form, error=error))
    return replace(fold, sections=[section(_table(rows, names))])


def _table(rows: Sequence[Row], names: Sequence[str]) -> Table[Row]:
    def share(name: str) -> Callable[[Row], Cell]:
        def cell(row: Row) -> Cell:
            ends = (_stated(row, f"{name}_{end}") for end in ("low", "high"))
            return replace(cells.score(_stated(row, name), *ends), bar=None)

        return cell

    def number(row: Row, name: str) -> Cell:
        return cells.number(_stated(row, name))

    def only_in_csv(name: str) -> Column[Row]:
        return Column(name, "", lambda row: number(row, name), shown=False)

    return Table(
        name=NAME,
        caption="Changed facts and everything else",
        columns=[
            Column("group", "Group", lambda row: cells.text(labels.sentence(row["group"])), align="head"),
            Column("n", "Questions", lambda row: cells.items(row["n"]), align="number"),
            Column("first", names[0], share("first"), align="number"),
            Column("second", names[1], share("second"), align="number"),
            Column("difference", "Difference", difference_cell, align="number"),
            *map(only_in_csv, ("low", "high", *SIDE_BOUNDS)),
            Column(CHANCE, "Chance", lambda row: number(row, CHANCE), align="number", worth=_any(CHANCE)),
            Column(UNCHANGED, "Same answer", share(UNCHANGED), UNCHANGED_HELP, align="number"),
            Column(NEW_ANSWER, "New answer", share(NEW_ANSWER), NEW_HELP, align="number", worth=_any(NEW_ANSWER)),
            *map(only_in_csv, SHARE_BOUNDS),
            Column("p", "p", lambda row: cells.p_value(row["p"]), align="number"),
            Column("p_holm", "p, Holm", lambda row: cells.p_value(row["p_holm"]), HOLM, align="number"),
        ],
        rows=rows,
        sortable=False,
    )


def _stated(row: Row, name: str) -> float | None:
    """Return a figure of a row; None where the group has none."""
    value = row.get(name, nan)
    return None if isnan(value) else value


def _any(name: str) -> Callable[[Sequence[Row]], bool]:
    return lambda rows: any(_stated(row, name) is not None for row in rows)


BENCHMARKS_TITLE = "On several benchmarks"
BENCHMARKS_LEAD = "All benchmarks on which exactly these models were measured alike."
Scores = Mapping[str, Sequence[StepScore]]  # those of the models in their order, by what the benchmark is called


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
    figure = charts.beside(_points(scores, names, _score), dict.fromkeys(scores, ""), "score")
    first = section(benchmarks_table(rows, ["percent"], head), (summary, figure), title="Scores")
    relative = [
        _relative(scores, names, "In percent of the first model", lambda point: point.percent),
        _relative(scores, names, "Above chance, in percent of the first model", lambda point: point.above_chance),
    ]
    return Fold("benchmarks", BENCHMARKS_TITLE, BENCHMARKS_LEAD, [first, *relative])


def _score(point: StepScore) -> Percent:
    return Percent(point.value, point.score.low, point.score.high)


def _points(scores: Scores, names: Sequence[str], value: Callable[[StepScore], Percent]) -> list[Point]:
    """Return the points of each model, one for each benchmark on which it has such a value."""
    return [
        Point(title, known.value, known.low, known.high, group=name, href=points[place].run.get_absolute_url())
        for place, name in enumerate(names)
        for title, points in scores.items()
        if (known := value(points[place])).value is not None
    ]


def _relative(scores: Scores, names: Sequence[str], title: str, value: Callable[[StepScore], Percent]) -> Section:
    """Return a chart of percentages of the first model, whose figures the table of the scores has, or its CSV."""
    name = slugify(title)
    points = _points(scores, names, value)
    figure = charts.beside(points, dict.fromkeys(scores, ""), f"% of {names[0]}")
    figure.update_layout(xaxis={"range": range_in_view(points, 100.0), "tickformat": ".0f"})
    summary = f"{names[0]} has 100 % on every benchmark that is shown."
    return Section(name, title, chart=Chart(name, title, summary, figure))
