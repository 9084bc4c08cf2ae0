"""The items whose answer changes with the wording, each with the answer that every wording got."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

from leaderboard.display import cells
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.models import Run
from leaderboard.probe_pages.breakdowns import relation_names, relation_title, wording
from leaderboard.probe_pages.item_columns import item_url
from leaderboard.stored import item_rows

MOST = 500  # items that are kept of a run
PAGE_SIZE = 10
COLUMNS = ["relation", "template", "index", "subject", "answer_label", "prediction_label", "prediction", "correct"]
NOTE = (
    "Questions that get different answers when the sentence is worded differently; those that are right with one "
    "wording and wrong with another come first."
)


class Flip(NamedTuple):
    """An item with the answers that it got, by the number of the template, each with whether it is right."""

    row: Mapping[str, Any]
    answers: Mapping[int, tuple[str, bool]]


def section(run: Run) -> Section | None:
    """Return the section; None for a run whose stored items have no labels or do not change."""
    if not set(COLUMNS) <= set(item_rows.names(run)):
        return None
    rows = flips(run.pk, run.artefact)
    if not rows:
        return None
    names = relation_names(run)
    templates = sorted({number for flip in rows for number in flip.answers})
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
            Column("relation", "Relation", lambda flip: cells.text(relation_title(names, flip.row["relation"]))),
            Column("answer", "Right answer", lambda flip: cells.text(flip.row["answer_label"], lang=_lang(flip))),
            *(Column(f"template_{number}", wording(number), partial(_answer, number)) for number in templates),
        ],
        rows=rows,
        page_size=PAGE_SIZE,
        sortable=False,
    )
    note = f"{NOTE} The first {MOST} are listed." if len(rows) == MOST else NOTE
    return Section("flips", "Answers that change with the wording", table, note=note)


def _answer(number: int, flip: Flip) -> cells.Cell:
    if number not in flip.answers:
        return cells.text("")
    answer, right = flip.answers[number]
    shown = f"{'✓' if right else '✗'} {answer}"
    return replace(cells.text(answer, note="right" if right else "wrong", lang=_lang(flip)), text=shown)


def _lang(flip: Flip) -> str:
    """Return the language of the question's texts, empty if it is that of the page."""
    return str(flip.row.get("language", ""))


@lru_cache(maxsize=256)
def flips(run: int, artefact: str) -> list[Flip]:
    """Return the items whose predictions differ, those of which some are right and some are wrong first."""
    rows = item_rows.frame(Run.objects.get(pk=run), [*COLUMNS, "language"]).dropna(subset=["correct"])
    items = rows.groupby(["relation", "index"], sort=False)
    changing = rows[items["prediction"].transform("nunique") > 1]
    mixed = changing.groupby(["relation", "index"], sort=False)["correct"].transform("nunique") > 1
    ordered = [*changing[mixed].groupby(["relation", "index"], sort=False)]
    ordered += [*changing[~mixed].groupby(["relation", "index"], sort=False)]
    return [_flip(part.to_dict("records")) for _, part in ordered[:MOST]]


def _flip(rows: list[dict[Any, Any]]) -> Flip:
    answers = {int(row["template"]): (str(row["prediction_label"]), bool(row["correct"])) for row in rows}
    return Flip({str(name): value for name, value in rows[0].items()}, answers)
