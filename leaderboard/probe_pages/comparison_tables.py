"""The tables of a comparison that every probe has: its runs, their values and differences by group, their agreement."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import NamedTuple

from django.http import QueryDict

from leaderboard.display import cells, labels
from leaderboard.display.cells import Cell
from leaderboard.display.columns import interval_columns, source_column
from leaderboard.display.links import link
from leaderboard.display.tables import PAGE_SIZE, Column, Table
from leaderboard.lists.compared_runs import short_names
from leaderboard.lists.scores import place
from leaderboard.models import Run
from leaderboard.probe_pages.breakdowns import titled_cell
from leaderboard.probe_pages.questions_in_words import Names, group_title
from leaderboard.stored.item_rows import Row
from probing.analysis.comparison import RESULT_NAMES, SIDE_BOUNDS

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
    return sorted(groups, key=lambda group: (group.dimension != "overall", place(group.dimension)))


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

    def place_cell(row: ComparedRun) -> Cell:
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
            Column("result", "Place", place_cell, "Differences are from the first run; select a place to change it."),
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
        Column("difference", "Difference", lambda row: _difference(row.against_first), align="number"),
        Column("difference_low", "", bound("low"), shown=False),
        Column("difference_high", "", bound("high"), shown=False),
        Column("p", "p", p_value("p"), align="number"),
        Column("p_holm", "p, Holm", p_value("p_holm"), HOLM, align="number"),
    ]


def _difference(row: Row | None) -> Cell:
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
            Column("n", "Questions", lambda row: cells.items(row.n), align="number"),
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

    return [
        Column(run.key, run.name, cell, run.run.name, align="number"),
        *interval_columns(value, run.key),
    ]


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
            Column("n", "Questions", lambda row: cells.items(row["n"]), align="number"),
            Column("first", runs[0].name, lambda row: cells.number(row["first"]), align="number"),
            Column(
                "second",
                f"Its {labels.within(metric)}" if more_than_two else runs[1].name,
                lambda row: cells.number(row["second"]),
                align="number",
            ),
            *(_bound_column(bound) for bound in SIDE_BOUNDS),
            Column("difference", "Difference", _difference, align="number"),
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
