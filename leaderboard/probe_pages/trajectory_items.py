"""The tables of items that were learned or forgotten between two steps of a training: how many, and which."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from leaderboard.display import cells
from leaderboard.display.cells import Cell
from leaderboard.display.columns import interval_columns
from leaderboard.display.tables import Column, Table
from leaderboard.lists.item_changes import ChangeShare
from leaderboard.lists.questions import question_id, question_url
from leaderboard.models import Benchmark
from leaderboard.probe_pages.breakdowns import titled_cell
from leaderboard.probe_pages.pages import ProbePages
from leaderboard.probe_pages.questions_in_words import language_of, relation_name
from leaderboard.probe_pages.trajectory_tables import PAGE_SIZE
from probing.benchmark import Item, Relation

CHANGE_TITLES = {"learned": "Learned", "forgotten": "Forgotten", "kept": "Kept", "unknown": "Unknown in both"}


class ChangedItem(NamedTuple):
    """An item of two runs: what became of it, and the shares of its wordings that are right in each.

    `number` is its index in the relation. `question` is its relation and item in the benchmark, None where the
    benchmark's files are not here.
    """

    relation: str
    number: int
    before: float
    after: float
    change: str
    question: tuple[Relation, Item] | None


def shares_table(rows: Sequence[ChangeShare], href: Callable[[str], str]) -> Table[ChangeShare]:
    """Return how many items were learned, forgotten, kept and unknown; `href` leads to the list of them."""

    def title(row: ChangeShare) -> Cell:
        return replace(cells.text(row.change, href(row.change)), text=CHANGE_TITLES[row.change])

    return Table(
        name="changes",
        caption="What became of the questions",
        columns=[
            Column("change", "Questions", title, align="head"),
            Column("items", "Number", lambda row: cells.number(row.items), align="number"),
            Column("share", "Share", lambda row: cells.score(row.share, row.low, row.high), align="score"),
            *interval_columns(lambda row: row)[:2],
            Column("n", "", lambda row: cells.number(row.n), shown=False),
        ],
        rows=rows,
        sortable=False,
    )


def items_table(rows: Sequence[ChangedItem], benchmark: Benchmark, pages: ProbePages) -> Table[ChangedItem]:
    """Return the items with what became of them; each question links to its page where it has one."""

    def question(row: ChangedItem) -> Cell:
        if row.question is None:
            return cells.text(f"{row.relation} {row.number}")
        relation, item = row.question
        text = str(pages.question_form.sentence(relation, item, 0))
        href = question_url(benchmark, relation, item) if benchmark.current else ""
        return cells.text(text, href, lang=language_of(relation))

    def item_id(row: ChangedItem) -> Cell:
        return cells.text(question_id(*row.question) if row.question else f"{row.relation}-{row.number}")

    def relation_cell(row: ChangedItem) -> Cell:
        return titled_cell(row.relation, relation_name(row.question[0]) if row.question else row.relation)

    return Table(
        name="items",
        caption="Questions that changed",
        columns=[
            Column("id", "", item_id, shown=False),
            Column("question", "Question", question, align="head"),
            Column("relation", "Relation", relation_cell, folded=True),
            Column("change", "Change", lambda row: replace(cells.text(row.change), text=CHANGE_TITLES[row.change])),
            Column("before", "Right before", lambda row: cells.number(row.before, 2), align="number", folded=True),
            Column("after", "Right after", lambda row: cells.number(row.after, 2), align="number", folded=True),
        ],
        rows=rows,
        page_size=PAGE_SIZE,
        empty="No question has changed in this way.",
    )
