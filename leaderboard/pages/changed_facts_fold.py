"""What a change of facts did between two compared runs: to these facts, to their neighbours, and to everything else."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isnan, nan

from django.http import QueryDict

from leaderboard.figures.comparisons import changed_facts
from leaderboard.figures.item_rows import Row
from leaderboard.figures.scores import Slice
from leaderboard.models import Run
from leaderboard.pages.comparison_tables import difference_cell
from leaderboard.ui import cells, labels
from leaderboard.ui.cells import Cell
from leaderboard.ui.sections import Fold, TextForm, section
from leaderboard.ui.tables import Column, Table
from probing.analysis.accuracy import CHANCE
from probing.analysis.changed_facts import NEW_ANSWER, SHARE_BOUNDS, UNCHANGED, parse_facts
from probing.analysis.paired_tests import SIDE_BOUNDS
from probing.errors import ProbingError

NAME = "facts"  # of the fold, of the parameter with the facts, and of their table
TITLE = "Changed facts"
LEAD = (
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
    fold = Fold(NAME, TITLE, LEAD, form=form)
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
