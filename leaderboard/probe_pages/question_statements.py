"""The page of a statement: its perplexity in several models, beside that of statements of which the opposite holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from leaderboard.display import cells
from leaderboard.display.cells import Cell
from leaderboard.display.tables import Column, Table
from leaderboard.display.visible import visible
from leaderboard.lists.compared_runs import short_names
from leaderboard.lists.questions import BenchmarkQuestion, question_url
from leaderboard.models import Benchmark
from leaderboard.probe_pages.question_pages import KINDS, OUTCOME_MARKS, RUNS_SHOWN, Answers
from probing.benchmark import Item

MOST_CONTRASTS = 5
# What a cell says of a true and a false statement, of which a model prefers one.
PREFERENCES = {True: "the true one preferred", False: "the false one preferred", None: "no preference"}


def contrasts(question: BenchmarkQuestion) -> list[Item]:
    """Return statements of the same relation that are false if this one is true, and true if it is false.

    Those about the same subject or object come first, then those that follow it in the benchmark; nothing for a
    question that is no statement.
    """
    is_true = question.item.is_true
    if is_true is None:
        return []
    items, names = question.relation.items, set(question.item.names)
    onwards = [*items[question.place :], *items[: question.place]]
    others = (item for item in onwards if item.is_true is not is_true)
    return list(islice(sorted(others, key=lambda item: not names & set(item.names)), MOST_CONTRASTS))


@dataclass(frozen=True)
class Statement:
    """A statement with its perplexities in runs, None where it is not stored.

    `preferred` tells of each run whether it finds the true one of this statement and that of the page less perplexing,
    None where they are equal or where one is missing; it is empty for the statement of the page itself.
    """

    item: Item
    text: str
    perplexities: Sequence[float | None]
    preferred: Sequence[bool | None] = ()


def statements_table(
    benchmark: Benchmark, question: BenchmarkQuestion, beside: Sequence[Item], answers: Sequence[Answers], template: int
) -> Table[Statement] | None:
    """Return a statement and those `beside` it with their perplexities in a few models; None where none are beside."""
    if not beside:
        return None
    shown = answers[:RUNS_SHOWN]
    own = Statement(question.item, _text(question.item, template), [_perplexity(row.rows, template) for row in shown])
    others = [_against(own, item, template, shown) for item in beside]
    names = short_names([row.run for row in shown])

    def text(row: Statement) -> Cell:
        return cells.text(row.text, "" if row is own else question_url(benchmark, question.relation, row.item))

    return Table(
        name="statements",
        caption="Perplexities of true and false statements",
        columns=[
            Column("statement", "Statement", text, align="head"),
            Column("true", "True", lambda row: cells.yes_no(row.item.is_true)),
            *(
                Column(name, visible(name), partial(_perplexity_cell, place=place), align="number")
                for place, name in enumerate(names)
            ),
        ],
        rows=[own, *others],
        sortable=False,
        band=lambda row: "own" if row is own else "",
    )


def _text(item: Item, template: int) -> str:
    return item.options[template]


def _perplexity(rows: Mapping[int, Mapping[str, float]], template: int) -> float | None:
    return rows[template]["perplexity"] if template in rows else None


def _against(own: Statement, item: Item, template: int, answers: Sequence[Answers]) -> Statement:
    values = [_perplexity(row.beside.get(item.index, {}), template) for row in answers]
    preferred = [_prefers_true(own, one, other) for one, other in zip(own.perplexities, values, strict=True)]
    return Statement(item, _text(item, template), values, preferred)


def _prefers_true(own: Statement, perplexity: float | None, other: float | None) -> bool | None:
    if perplexity is None or other is None or perplexity == other:
        return None
    return (perplexity < other) == own.item.is_true


def _perplexity_cell(row: Statement, place: int) -> Cell:
    """Show a perplexity; beside another statement's, a mark tells whether the model prefers the true one."""
    value = row.perplexities[place]
    if value is None:
        return Cell(None, "not asked", kind="missing")
    text = f"{value:,.1f}"
    if not row.preferred:
        return Cell(value, text, kind="number")
    right = row.preferred[place]
    return Cell(value, f"{OUTCOME_MARKS[right]} {text}", kind=KINDS[right], spoken=PREFERENCES[right])
