"""Single items of cloze: how they are listed, and the page of one with the answer marked."""

from typing import Any, NamedTuple

from leaderboard.figures.comparisons import ModelAnswer
from leaderboard.figures.item_rows import Row
from leaderboard.models import Run
from leaderboard.probes.items import PLACE_COLUMNS, ColumnValues, ItemColumns, ItemRow, RunAnswer, facts_table
from leaderboard.probes.wording import ONE_COUNTS
from leaderboard.ui import cells
from leaderboard.ui.cells import Cell
from leaderboard.ui.tables import Column, Table
from probing.probes.cloze import Cloze
from probing.template import BLANK_TEXT

FIRST_WORDS = 5  # words at a blank that a comparison shows
ANSWER = {"answer_label": "Answer that counts"}
RANKED = ANSWER | {"prediction_label": "Ranked first", "correct": "In top {k}"}
WRITTEN = ANSWER | {"prediction_label": "Continuation", "correct": "Within {k} tokens", "rank": "Tokens needed"}
RANKED_NOTE = f"In top {{k}}: the answer is among the {{k}} most probable words at the blank. {ONE_COUNTS}"
WRITTEN_NOTE = (
    "Within {k} tokens: the answer is complete within the first {k} tokens that the model writes. "
    f"Sentences whose blank is not at their end are not asked. {ONE_COUNTS}"
)
# Columns that the page of a question shows above the table of facts.
ABOVE_FACTS = (
    *PLACE_COLUMNS,
    *("statement", "answer", "answers", "prediction", "correct", "rank", "method", "predictions", "continuation"),
)


def k_of(run: Run) -> int:
    """Return k: an answer counts as right among the first k words, or within the first k tokens."""
    return int(run.option("k", Cloze.k))


def _titles(run: Run, values: ColumnValues) -> dict[str, str]:
    titles = WRITTEN if "near" in values["method"] else RANKED
    return {name: title.format(k=k_of(run)) for name, title in titles.items()}


def _note(run: Run, values: ColumnValues) -> str:
    return (WRITTEN_NOTE if "near" in values["method"] else RANKED_NOTE).format(k=k_of(run))


ITEM_COLUMNS = ItemColumns(
    ("subject", "statement", "answer_label", "prediction_label", "correct", "rank", "margin"),
    titles=_titles,
    note=_note,
    file_only=("scores", "exact", "log_probs"),
)


def _answer_text(row: Row) -> str:
    """Return the best words, at least as far as the right one, or the model's continuation."""
    if row.get("predictions"):
        return " · ".join(row["predictions"][: max(row["rank"] or 0, FIRST_WORDS)])
    return str(row["prediction_label"] or "")


MODEL_ANSWER = ModelAnswer(("predictions", "prediction_label", "rank"), _answer_text)


def run_answer(item: ItemRow) -> RunAnswer:
    """Return a sentence with its blank, and what the model put there."""
    row = item.row
    context: dict[str, Any] = {
        "row": row,
        "blank": row["statement"].partition(BLANK_TEXT),
        "said": verdict(row, k_of(item.run)),
        "written": _continuation(row),
    }
    ranking = [_ranking_table(row)] if row.get("predictions") else []
    return RunAnswer("parts/answer_facts.html", context, [*ranking, facts_table(item, ITEM_COLUMNS, ABOVE_FACTS)])


def verdict(row: Row, k: int) -> str:
    """Return a sentence that says whether the model was right, and why."""
    if not row["method"]:
        return "The model was not asked: it can only continue a text, and this blank is not at the end of its sentence."
    right = "Right" if row["correct"] else "Wrong"
    if row["method"] == "near":
        if row["rank"]:
            return f"{right}: the answer is complete after token {row['rank']} (the first {k} tokens count)."
        return f"{right}: the answer does not occur in the continuation."
    if row["rank"]:
        return f"{right}: the answer is in place {row['rank']:,} (the first {k} places count)."
    return f"{right}: the answer is not a single token of the model's vocabulary and therefore has no place."


def _continuation(row: Row) -> Cell | None:
    """Return the model's continuation with the answer marked, None where there is none."""
    text = " ".join(row["continuation"].split())
    return cells.marked(text, row["answer_label"]) if text else None


class RankedWord(NamedTuple):
    """A word that the model puts at the blank; `rank` counts from 1."""

    rank: int
    text: str
    log_prob: float
    right: bool

    def cell(self) -> Cell:
        return cells.marked(self.text, self.text) if self.right else cells.text(self.text)


def _ranking_table(row: Row) -> Table[RankedWord]:
    words = zip(row["predictions"], row["log_probs"], strict=True)
    return Table(
        name="ranking",
        caption="Most probable words at the blank",
        columns=[
            Column("place", "Place", lambda word: cells.number(word.rank), align="number"),
            Column("word", "Word", RankedWord.cell),
            Column("log_prob", "Log-probability", lambda word: cells.number(word.log_prob, 2), align="number"),
            Column("right", "Right", lambda word: cells.yes_no(word.right)),
        ],
        rows=[RankedWord(rank, *word, rank == row["rank"]) for rank, word in enumerate(words, 1)],
        sortable=False,
    )
