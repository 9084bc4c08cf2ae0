"""Surprises of a run: questions that it got wrong while it was sure, and those that it only just got right."""

from collections.abc import Sequence
from dataclasses import replace

from leaderboard.display import cells
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.models import Run
from leaderboard.probe_pages.items import item_url
from leaderboard.probe_pages.questions_in_words import QuestionForm, group_title, relation_names, row_key, sentences
from leaderboard.stored.highlights import highlights
from leaderboard.stored.item_rows import Row

SURE_NOTE = (
    "Wrong answers that the model preferred to the right one by the widest margin: the log-probability of the right "
    "answer minus that of the best wrong one."
)
LUCK_NOTE = "Right answers with the narrowest margin: a slightly other sentence may well turn them."


def sections(run: Run, form: QuestionForm) -> list[Section]:
    """Return both lists, without one that is empty; nothing for a run whose stored items have no margins."""
    sure, lucky, *_ = highlights(run)
    if sure is None or lucky is None:
        return []
    lists = (
        ("confident-errors", "Wrong, and sure of it", sure, SURE_NOTE),
        ("lucky-answers", "Right, but only just", lucky, LUCK_NOTE),
    )
    return [
        Section(name, title, _table(run, name, rows, form), None, note) for name, title, rows, note in lists if rows
    ]


def _table(run: Run, name: str, rows: Sequence[Row], form: QuestionForm) -> Table[Row]:
    names, questions = relation_names(run), sentences(run, rows, form)

    def question(row: Row) -> cells.Cell:
        subject = cells.text(row["subject"], item_url(run, row), lang=lang(row))
        return replace(subject, text=questions.get(row_key(row), subject.text))

    def lang(row: Row) -> str:
        return str(row.get("language") or "")

    return Table(
        name=name,
        caption="Confident errors" if name == "confident-errors" else "Right by a narrow margin",
        columns=[
            Column(
                "subject",
                "Question",
                question,
                align="head",
            ),
            Column(
                "relation",
                "Relation",
                lambda row: cells.text(group_title("relation", row["relation"], names)),
                folded=True,
            ),
            Column("answer", "Right answer", lambda row: cells.text(row["answer_label"], lang=lang(row))),
            Column("prediction", "Model's answer", lambda row: cells.text(row["prediction_label"], lang=lang(row))),
            Column("margin", "Margin", lambda row: cells.signed(row["margin"]), align="number", folded=True),
        ],
        rows=rows,
        sortable=False,
    )
