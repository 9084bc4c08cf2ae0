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
from probing.analysis.changed_facts import parse_facts
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
    def number(name: str) -> Column[Row]:
        return Column(name, "", lambda row: cells.number(row[name]), shown=False)

    def share(name: str) -> Callable[[Row], Cell]:
        return lambda row: cells.number(None if isnan(row.get(name, nan)) else row[name])

    return Table(
        name=NAME,
        caption="Changed facts and everything else",
        columns=[
            Column("group", "Group", lambda row: cells.text(labels.sentence(row["group"])), align="head"),
            Column("n", "Questions", lambda row: cells.items(row["n"]), align="number"),
            Column("first", names[0], lambda row: cells.number(row["first"]), align="number"),
            Column("second", names[1], lambda row: cells.number(row["second"]), align="number"),
            Column("difference", "Difference", difference_cell, align="number"),
            number("low"),
            number("high"),
            Column("unchanged", "Same answer", share("unchanged"), UNCHANGED_HELP, align="number"),
            Column("new_answer", "New answer", share("new_answer"), NEW_HELP, align="number", worth=_any_new_answer),
            Column("p", "p", lambda row: cells.p_value(row["p"]), align="number"),
            Column("p_holm", "p, Holm", lambda row: cells.p_value(row["p_holm"]), HOLM, align="number"),
        ],
        rows=rows,
        sortable=False,
    )


def _any_new_answer(rows: Sequence[Row]) -> bool:
    return any("new_answer" in row for row in rows)
