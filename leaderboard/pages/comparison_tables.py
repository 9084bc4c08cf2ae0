"""What every probe's comparison shows: its verdict, its runs, their values and differences, tables and charts."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import NamedTuple

from django.http import QueryDict
from django.utils.text import get_text_list

from leaderboard.figures.comparisons import FigureBesideOthers, short_names
from leaderboard.figures.item_rows import Row
from leaderboard.figures.scores import dimension_order
from leaderboard.models import Run
from leaderboard.probes.breakdowns import group_href, hover_label, titled_cell
from leaderboard.probes.culture.pairs import part_in_words
from leaderboard.probes.wording import Names, group_title
from leaderboard.ui import cells, charts, labels
from leaderboard.ui.cells import Cell
from leaderboard.ui.charts.basics import Chart, Point
from leaderboard.ui.charts.dot_plots import CERTAIN
from leaderboard.ui.links import link
from leaderboard.ui.tables import PAGE_SIZE, Column, Table, interval_columns, score_columns, source_column
from probing.analysis.paired_tests import RESULT_NAMES, SIDE_BOUNDS

SIGNIFICANT = 0.05
HOLM = "The p-value, corrected by Holm's method for all tests of the dimension: every group of every run."


class Interval(NamedTuple):
    """A value with its 95 % interval, if it has one."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ComparedRun:
    """A run of a comparison: what the comparison calls it, a short name, and its overall figures.

    `against_first` is its overall difference from the first run; the first run has none.
    """

    key: str
    name: str
    run: Run
    overall: Interval
    against_first: Row | None = None


@dataclass(frozen=True)
class GroupValues:
    """The values of all runs in one group, in the order of the runs."""

    dimension: str
    group: str
    n: float
    values: Sequence[Interval]


def compared_runs(runs: Sequence[Run], differences: Sequence[Row]) -> list[ComparedRun]:
    """Return the runs with their overall figures."""
    overall = [row for row in differences if row["dimension"] == "overall"]
    rows: list[Row | None] = [None, *overall]
    values = [_side(overall[0], "first"), *(_side(row, "second") for row in overall)]
    return [ComparedRun(*of_run) for of_run in zip(RESULT_NAMES, short_names(runs), runs, values, rows, strict=False)]


def group_values(differences: Sequence[Row]) -> list[GroupValues]:
    """Return the values of all runs by group: overall, then tags, then relations."""
    by_group: dict[tuple[str, str], list[Row]] = {}
    for row in differences:
        by_group.setdefault((row["dimension"], row["group"]), []).append(row)
    groups = [
        GroupValues(*name, rows[0]["n"], [_side(rows[0], "first"), *(_side(row, "second") for row in rows)])
        for name, rows in by_group.items()
    ]
    return sorted(groups, key=lambda group: (group.dimension != "overall", dimension_order(group.dimension)))


def _side(row: Row, side: str) -> Interval:
    low, high = (None if isnan(row[f"{side}_{end}"]) else row[f"{side}_{end}"] for end in ("low", "high"))
    return Interval(row[side], low, high)


def is_certain(row: Row) -> bool:
    """Tell whether a difference is significant after Holm's correction."""
    return bool(row["p_holm"] < SIGNIFICANT)


def runs_table(rows: Sequence[ComparedRun], metric: str, query: QueryDict) -> Table[ComparedRun]:
    """Return the runs with their overall values and differences from the first; a link makes another run the first."""

    def name_cell(row: ComparedRun) -> Cell:
        return cells.text(row.name, row.run.get_absolute_url(), row.run.name)

    def order_cell(row: ComparedRun) -> Cell:
        if row.against_first is None:
            return cells.text(row.key)
        numbers = [str(other.run.pk) for other in rows if other is not row]
        return cells.text(row.key, _with_runs(query, [str(row.run.pk), *numbers]), "Make this run the first.")

    reported = any(row.run.provenance != Run.Provenance.MEASURED for row in rows)
    return Table(
        name="runs",
        caption="The runs, and their differences from the first one",
        columns=[
            Column("name", "Run", name_cell, align="head"),
            Column("run", "", lambda row: cells.number(row.run.pk), shown=False),
            Column("value", metric, lambda row: cells.score(*row.overall), align="score"),
            *interval_columns(lambda row: row.overall),
            *_against_first_columns(),
            *([source_column(lambda row: row.run)] if reported else []),
            Column("result", "Order", order_cell, "Differences are from the first run; select an order to change it."),
        ],
        rows=rows,
        sortable=False,
    )


def _against_first_columns() -> list[Column[ComparedRun]]:
    """Return the columns of a run's overall difference from the first one, which has none itself."""

    def bound(name: str) -> Callable[[ComparedRun], Cell]:
        return lambda row: cells.signed(row.against_first[name] if row.against_first else None)

    def p_value(name: str) -> Callable[[ComparedRun], Cell]:
        return lambda row: cells.p_value(row.against_first[name]) if row.against_first else cells.number(None)

    return [
        Column("difference", "Difference", lambda row: _difference_cell(row.against_first), align="number"),
        Column("difference_low", "", bound("low"), shown=False),
        Column("difference_high", "", bound("high"), shown=False),
        Column("p", "p", p_value("p"), align="number"),
        # Of two runs there is one test, which needs no correction.
        Column("p_holm", "p, Holm", p_value("p_holm"), HOLM, align="number", worth=lambda rows: len(rows) > 2),
    ]


def _difference_cell(row: Row | None) -> Cell:
    """Show a difference from the first run; the first run itself has none."""
    return cells.signed(row["difference"], low=row["low"], high=row["high"]) if row else cells.number(None)


def _with_runs(query: QueryDict, numbers: Sequence[str]) -> str:
    """Return the address of the page with the same parameters for these runs, in this order."""
    changed = query.copy()
    changed.setlist("m", list(numbers))
    return link(changed, right=None, sort=None, page=None)


def values_table(
    rows: Sequence[GroupValues], runs: Sequence[ComparedRun], metric: str, names: Names
) -> Table[GroupValues]:
    """Return a row per group with the value of every run; the CSV has the intervals as well."""
    return Table(
        name="values",
        caption=f"{metric} by group",
        columns=[
            Column("dimension", "Dimension", lambda row: cells.text(labels.dimension(row.dimension))),
            Column("group", "Group", lambda row: group_cell(row.dimension, row.group, names), align="head"),
            Column("n", runs[0].run.benchmark.nouns.capitalize(), lambda row: cells.items(row.n), align="number"),
            *(column for number, run in enumerate(runs) for column in _value_columns(number, run)),
        ],
        rows=rows,
        page_size=PAGE_SIZE,
    )


def _value_columns(number: int, run: ComparedRun) -> list[Column[GroupValues]]:
    def value(row: GroupValues) -> Interval:
        return row.values[number]

    def cell(row: GroupValues) -> Cell:
        return replace(cells.score(*value(row)), bar=None)

    return score_columns(run.key, run.name, value, cell, run.run.name, align="number")


def group_cell(dimension: str, group: str, names: Names) -> Cell:
    return titled_cell(group, group_title(dimension, group, names))


def differences_table(runs: Sequence[ComparedRun], rows: Sequence[Row], metric: str, names: Names) -> Table[Row]:
    by_key = {run.key: run for run in runs}
    more_than_two = len(runs) > 2

    return Table(
        name="differences",
        caption=f"Difference from {runs[0].name}",
        columns=[
            Column("dimension", "Dimension", lambda row: cells.text(labels.dimension(row["dimension"]))),
            Column("group", "Group", lambda row: group_cell(row["dimension"], row["group"], names), align="head"),
            Column("name", "Run", lambda row: cells.text(by_key[row["result"]].name), shown=more_than_two),
            Column("result", "", lambda row: cells.text(row["result"]), shown=False),
            Column("run", "", lambda row: cells.number(by_key[row["result"]].run.pk), shown=False),
            Column("n", runs[0].run.benchmark.nouns.capitalize(), lambda row: cells.items(row["n"]), align="number"),
            Column("first", runs[0].name, lambda row: cells.number(row["first"]), align="number"),
            Column(
                "second",
                f"Its {labels.within(metric)}" if more_than_two else runs[1].name,
                lambda row: cells.number(row["second"]),
                align="number",
            ),
            *(_bound_column(bound) for bound in SIDE_BOUNDS),
            Column("difference", "Difference", _difference_cell, align="number"),
            Column("low", "", lambda row: cells.signed(row["low"]), shown=False),
            Column("high", "", lambda row: cells.signed(row["high"]), shown=False),
            Column("gained", "Gained", lambda row: cells.number(row["gained"]), align="number"),
            Column("lost", "Lost", lambda row: cells.number(row["lost"]), align="number"),
            Column("p", "p", lambda row: cells.p_value(row["p"]), align="number"),
            Column("p_holm", "p, Holm", lambda row: cells.p_value(row["p_holm"]), HOLM, align="number"),
        ],
        rows=rows,
        main=True,
        page_size=PAGE_SIZE,
        band=lambda row: "certain" if is_certain(row) else "",
    )


def _bound_column(name: str) -> Column[Row]:
    return Column(name, "", lambda row: cells.number(None if isnan(row[name]) else row[name]), shown=False)


# What a comparison found in one sentence, and published figures side by side without a test.


BETTER, WORSE, ALIKE = "clearly better than", "clearly worse than", "not clearly different from"


def verdict(runs: Sequence[ComparedRun], differences: Sequence[Row], more: str) -> str:
    """Return the sentence with which a comparison begins; `more` is how it says that one run is ahead of another."""
    if len(runs) > 2:
        return " ".join([f"{best_of(runs)}.", *_against_first(runs)])
    overall = next(row for row in differences if row["dimension"] == "overall")
    turned = overall["difference"] < 0
    behind, ahead = runs[::-1] if turned else runs
    low, high = (-overall["high"], -overall["low"]) if turned else (overall["low"], overall["high"])
    relations = [row["difference"] for row in differences if row["dimension"] == "relation"]
    ahead_in = labels.ahead_in((-difference if turned else difference for difference in relations), "relation")
    interval = f"95 % interval {_points(low)} to {_points(high)}"
    where = f"({interval}); ahead {ahead_in}."
    size = _points(abs(overall["difference"]))
    if not overall["difference"]:
        return f"No difference: both have {ahead.overall.value:.3f}; {interval} points."
    if is_certain(overall):
        return f"{ahead.name} {more.format(points=size, other=behind.name)} {where}"
    return f"No clear difference: {ahead.name} is {size} points ahead of {behind.name} {where}"


def _against_first(runs: Sequence[ComparedRun]) -> list[str]:
    """Return which runs are better or worse than the first one, and which differ too little to tell."""
    names: dict[str, list[str]] = {BETTER: [], WORSE: [], ALIKE: []}
    for run in runs[1:]:
        if (row := run.against_first) is not None:
            side = BETTER if row["difference"] > 0 else WORSE
            names[side if is_certain(row) else ALIKE].append(run.name)
    return [
        f"{get_text_list(of_side, 'and')} {'is' if len(of_side) == 1 else 'are'} {side} {runs[0].name}."
        for side, of_side in names.items()
        if of_side
    ]


def best_of(runs: Sequence[ComparedRun]) -> str:
    """Return which run has the highest figure; runs that share it are named together."""
    highest = max(run.overall.value for run in runs)
    best = [run.name for run in runs if run.overall.value == highest]
    if len(best) > 1:
        return f"{' and '.join(best)} share the highest figure, {highest:.3f}"
    return f"{best[0]} has the highest figure of {len(runs)}, {highest:.3f}"


def _points(share: float) -> str:
    """Write a difference of shares in percentage points, in whole ones from ten on."""
    points = 100 * share
    return (f"{points:.0f}" if abs(points) >= 10 else f"{points:.1f}").replace("-", "\N{MINUS SIGN}")


def side_by_side_table(rows: Sequence[FigureBesideOthers], metric: str) -> Table[FigureBesideOthers]:
    """Return runs with their figures; those whose answers are not stored cannot be tested against others."""

    def heading(row: FigureBesideOthers) -> str:
        return ", ".join(filter(None, [part_in_words(row.score) if row.score else "", row.settings]))

    def value(row: FigureBesideOthers) -> Cell:
        return cells.of_run(cells.of_score(row.score), row.run)

    return Table(
        name="runs",
        caption="The scores side by side",
        columns=[
            Column("name", "Run", lambda row: cells.text(row.run.name, href=row.run.get_absolute_url()), align="head"),
            Column("run", "", lambda row: cells.number(row.run.pk), shown=False),
            Column("settings", "", lambda row: cells.text(heading(row)), shown=False),
            Column("value", metric, value, align="score"),
            *interval_columns(lambda row: row.score),
            source_column(lambda row: row.run),
        ],
        rows=rows,
        main=True,
        heading=lambda row: labels.sentence(heading(row)),
        sortable=False,
    )


# The charts of a comparison that every probe has: values and differences by group, and relation by relation.


MOST_GROUPS = 40  # of a chart; the tables have all
SCATTERED_RUNS = 4  # more than that many runs cannot be told apart in a cloud of dots


def comparison_charts(
    runs: Sequence[ComparedRun],
    values: Sequence[GroupValues],
    differences: Sequence[Row],
    metric: str,
    names: Names,
) -> list[Chart]:
    """Return the charts that a comparison of this many runs can have. `metric` is its title within a sentence.

    Their points lead to the group's page, or else to the questions on which the runs disagree.
    """
    figures = []
    if len(runs) == 2:
        charted_groups = {(group.dimension, group.group) for group in charted(values)}
        shown = [row for row in differences if (row["dimension"], row["group"]) in charted_groups]
        figures.append(_differences_chart(runs, shown, names))
    if len(runs) <= SCATTERED_RUNS:
        figures.append(_relations_chart(runs, differences, metric, names))
    return figures


def charted(values: Sequence[GroupValues]) -> list[GroupValues]:
    """Return the groups that a chart shows: overall, and whole dimensions while there is room for them.

    Relations are shown only where there is no tag to divide items by.
    """
    has_tags = any(group.dimension not in ("overall", "relation") for group in values)
    by_dimension: dict[str, list[GroupValues]] = {}
    for group in values:
        if not (has_tags and group.dimension == "relation"):
            by_dimension.setdefault(group.dimension, []).append(group)
    chosen: list[GroupValues] = []
    for groups in by_dimension.values():
        if len(chosen) + len(groups) <= MOST_GROUPS:
            chosen += groups
    return chosen


def values_chart(runs: Sequence[ComparedRun], values: Sequence[GroupValues], metric: str, names: Names) -> Chart:
    """Return the chart with the scores of all runs by group."""
    groups = charted(values)
    titles = _titles([(group.dimension, group.group) for group in groups], names)
    heads = {label: labels.dimension(group.dimension) for label, group in zip(titles, groups, strict=True)}
    points = [
        Point(label, *group.values[position], group=run.name, href=_href(run, group.dimension, group.group))
        for position, run in enumerate(runs)
        for label, group in zip(titles, groups, strict=True)
    ]
    summary = f"Overall, {best_of(runs)}. Lines are 95 % intervals."
    title = labels.sentence(f"{metric} by group")
    return Chart("values", title, summary, charts.beside(points, heads, metric, titles))


def _titles(groups: Sequence[tuple[str, str]], names: Names) -> dict[str, str]:
    """Map labels of groups, which no two of them share, to their titles; a label also has the stored name."""
    times = Counter(group for _, group in groups)
    titles = {}
    for dimension, group in groups:
        title = group_title(dimension, group, names)
        label = hover_label(group, title)
        titles[label if times[group] == 1 else f"{label} ({labels.dimension(dimension).lower()})"] = title
    return titles


def _href(run: ComparedRun, dimension: str, group: str) -> str:
    """Return the address of a group, or of the run where the group is all of its items."""
    return group_href(run.run, dimension, group) or run.run.get_absolute_url()


def _differences_chart(runs: Sequence[ComparedRun], rows: Sequence[Row], names: Names) -> Chart:
    titles = _titles([(row["dimension"], row["group"]) for row in rows], names)
    heads = {label: labels.dimension(row["dimension"]) for label, row in zip(titles, rows, strict=True)}
    points = [
        Point(
            *(label, row["difference"], row["low"], row["high"]),
            href=_href(runs[1], row["dimension"], row["group"]),
        )
        for label, row in zip(titles, rows, strict=True)
    ]
    first, second = (run.name for run in runs)
    certain = [label for label, row in zip(titles, rows, strict=True) if is_certain(row)]
    overall = cells.signed(rows[0]["difference"]).text
    summary = (
        f"Overall, {second} differs from {first} by {overall}. {CERTAIN} marks differences that are significant after "
        f"Holm's correction: {len(certain)} of {len(rows)}."
    )
    figure = charts.forest(points, heads, f"{second} minus {first}", titles, certain)
    return Chart("groups", "Difference by group", summary, figure)


def _relations_chart(runs: Sequence[ComparedRun], differences: Sequence[Row], metric: str, names: Names) -> Chart:
    by_key = {run.key: run for run in runs}
    rows = [row for row in differences if row["dimension"] == "relation"]
    points = [
        Point(
            *(group_title("relation", row["group"], names), row["second"]),
            x=row["first"],
            group=by_key[row["result"]].name,
            href=_href(by_key[row["result"]], "relation", row["group"]),
        )
        for row in rows
    ]
    other = runs[1].name if len(runs) == 2 else "the others"
    figure = charts.square(points, f"{metric} of {runs[0].name}", f"{metric} of {other}")
    return Chart("relations", "Relation by relation", " ".join(_better(runs, rows)), figure)


def _better(runs: Sequence[ComparedRun], rows: Sequence[Row]) -> list[str]:
    differences: dict[str, list[float]] = {run.key: [] for run in runs[1:]}
    for row in rows:
        differences[row["result"]].append(row["second"] - row["first"])
    return [
        f"{run.name} is ahead of {runs[0].name} {labels.ahead_in(differences[run.key], 'relation')}."
        for run in runs[1:]
    ]
