"""The items whose answer changes with the wording, each with the answer that every wording got."""

from dataclasses import replace
from functools import partial

from leaderboard.display import cells
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.models import Run
from leaderboard.probe_pages.items import item_url
from leaderboard.probe_pages.questions_in_words import group_title, relation_names, wording
from leaderboard.stored.highlights import MOST_FLIPS, Flip, highlights

PAGE_SIZE = 10
NOTE = (
    "Questions that get different answers when the sentence is worded differently; those that are right with one "
    "wording and wrong with another come first."
)


def section(run: Run) -> Section | None:
    """Return the section; None for a run whose stored items have no labels or do not change."""
    rows = highlights(run).flips
    if not rows:
        return None
    names = relation_names(run)
    templates = sorted({number for flip in rows for number, *_ in flip.answers})
    table = Table(
        name="flips",
        caption="Answers that change with the wording",
        columns=[
            Column(
                "subject",
                "Subject",
                lambda flip: cells.text(flip.row["subject"], item_url(run, flip.row), lang=_lang(flip)),
                align="head",
            ),
            Column(
                "relation", "Relation", lambda flip: cells.text(group_title("relation", flip.row["relation"], names))
            ),
            Column("answer", "Right answer", lambda flip: cells.text(flip.row["answer_label"], lang=_lang(flip))),
            *(Column(f"template_{number}", wording(number), partial(_answer, number)) for number in templates),
        ],
        rows=rows,
        page_size=PAGE_SIZE,
        sortable=False,
    )
    note = f"{NOTE} The first {MOST_FLIPS} are listed." if len(rows) == MOST_FLIPS else NOTE
    return Section("flips", "Answers that change with the wording", table, note=note)


def _answer(number: int, flip: Flip) -> cells.Cell:
    answers = {template: (answer, right) for template, answer, right in flip.answers}
    if number not in answers:
        return cells.text("")
    answer, right = answers[number]
    shown = f"{'✓' if right else '✗'} {answer}"
    return replace(cells.text(answer, note="right" if right else "wrong", lang=_lang(flip)), text=shown)


def _lang(flip: Flip) -> str:
    """Return the language of the question's texts, empty if it is that of the page."""
    return str(flip.row.get("language") or "")
