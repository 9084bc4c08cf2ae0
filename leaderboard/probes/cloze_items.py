"""Single items of cloze: how they are listed, and the page of one with the answer marked."""

import re
from typing import Any

from leaderboard.figures.comparisons import ModelAnswer
from leaderboard.figures.item_rows import Row
from leaderboard.models import Run
from leaderboard.probes.items import PLACE_COLUMNS, ColumnValues, ItemColumns, ItemRow, RunAnswer, facts_table
from leaderboard.probes.wording import ONE_COUNTS
from probing.probes.cloze import Cloze
from probing.template import BLANK_TEXT

FIRST_WORDS = 5  # words at a blank that a comparison shows
RANKING = ("place", "word", "log_prob", "right")  # the columns of the words at a blank
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
    continuation = " ".join(row["continuation"].split())
    context: dict[str, Any] = {
        "row": row,
        "blank": row["statement"].partition(BLANK_TEXT),
        "said": verdict(row, k_of(item.run)),
        "written": around_answer(continuation, row["answer_label"]) if continuation else None,
    }
    tables = [facts_table(item, ITEM_COLUMNS, ABOVE_FACTS)]
    if row.get("predictions"):
        tables.insert(0, {"name": "ranking", "columns": RANKING, "rows": _ranking(row)})
    return RunAnswer("parts/answer_facts.html", context, tables)


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


def around_answer(text: str, answer: str) -> tuple[str, str, str]:
    """Return the text before the first place that has the answer as a whole word, in any case, the answer, the rest.

    Without such a place the first piece is the whole text.
    """
    match = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text, re.IGNORECASE)
    return (text[: match.start()], match[0], text[match.end() :]) if match else (text, "", "")


def _ranking(row: Row) -> list[Row]:
    """Return the words that the model puts at the blank; places count from 1."""
    words = zip(row["predictions"], row["log_probs"], strict=True)
    return [
        {"place": place, "word": word, "log_prob": log_prob, "right": place == row["rank"]}
        for place, (word, log_prob) in enumerate(words, 1)
    ]
