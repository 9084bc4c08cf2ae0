"""A run's items: the columns in which they are listed, and what the page of a question shows of the run's answer."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from typing import Any, NamedTuple

from django.urls import reverse

from leaderboard.figures import item_rows
from leaderboard.figures.item_rows import Row
from leaderboard.models import Run
from leaderboard.probes.wording import RIGHT_OR_WRONG, AnswerWords, Names, group_title, relation_names
from leaderboard.ui import labels, spelled
from probing.analysis.paired_tests import CORRECT
from probing.benchmark import ROW_KEY, Item, Relation
from probing.probes.choices import OTHER_BLANK
from probing.template import Prompt, prompt

ColumnValues = Mapping[str, set[Any]]  # the least and the greatest value of each stored column (`item_rows.ends`)
# The CSV has the labels of answer and prediction under these names, not their numbers in the answer space.
LABELS = {"answer_label": "answer", "prediction_label": "prediction"}
# Tags that a page shows only where rows differ in them.
TAGS = ("culture_pair", "culture", "language", "template")
PLACE = ("culture_pair", "culture", "language", "relation", "template", "index")
TITLES = {
    "statement": "Sentence",
    "answer_label": "Right answer",
    "prediction_label": "Model's answer",
    "correct": "Right",
    "rank": "Rank of answer",
}
GROUPS = ("culture_pair", "language", "relation", "fact_type")  # pages call them by their titles, CSV by their names
COUNTED = ("template", "index")  # pages count them from 1; addresses and CSV have the numbers, which count from 0
# Columns that no table of facts repeats, because the page says them above it.
PLACE_COLUMNS = ("relation", "template", "index")
OPTIONS = ("option", "score", "share", "right", "chosen")  # the columns of a run's options
HELP = {"margin": "Log-probability of the answer minus that of the best wrong option."}


@dataclass(frozen=True)
class ItemColumns:
    """The columns in which one probe's items are listed.

    `names`: the columns that a page shows before the item's tags and place, in this order, where they are stored and
    not empty throughout. `titles` and `note` say what the columns mean and what counts as right, given the run and the
    stored columns. `yes_no`: columns by which items can be filtered with yes or no, with their labels.
    `file_only`: columns with a value for every option or word, and prompts, which only the Parquet file has. `brief`:
    the columns that narrow screens show of each item; the others are folded there.
    """

    names: Collection[str] = ("subject", "answer_label", "prediction_label", "correct", "rank", "margin")
    titles: Callable[[Run, ColumnValues], Mapping[str, str]] = lambda run, values: {}
    help: Mapping[str, str] = field(default_factory=dict)
    note: Callable[[Run, ColumnValues], str] = lambda run, values: ""
    yes_no: Mapping[str, str] = field(default_factory=dict)
    file_only: Collection[str] = ("scores", "exact", "generic", "prompt")
    brief: Collection[str] = ("subject", "answer_label", "prediction_label")

    def listed(self, columns: Iterable[str]) -> list[str]:
        """Return those of the stored columns that tables have."""
        return [name for name in columns if name not in self.file_only]

    def shown(
        self, run: Run, values: ColumnValues, everything: bool = False, questions: bool = False
    ) -> list[dict[str, Any]]:
        """Return the columns of a page as dicts, with how each is named and shown.

        A page leaves the less informative ones out unless it shows `everything`. Where it has `questions` in place of
        subjects, these say what the statement and the numbers of wording and question would.
        """
        said = ("statement", *COUNTED) if questions else ()
        titles = TITLES | {"index": f"Number of {run.benchmark.noun}"} | ({"subject": "Question"} if questions else {})
        titles |= dict(self.titles(run, values))
        return [
            {
                "name": LABELS.get(name, name),
                "stored": name,
                "title": titles.get(name) or labels.dimension(name),
                "help": self.help.get(name) or HELP.get(name, ""),
                "methods": labels.METHODS_HEADINGS.get(name, ""),
                "is_text": _is_text(name),
                "align": _align(name, values[name]),
                "folded": name not in self.brief,
            }
            for name in (self.exported(values) if everything else self._first(values))
            if everything or name not in said
        ]

    def exported(self, values: ColumnValues) -> list[str]:
        """Return the stored names of all columns, in their order."""
        first = self._first(values)
        return [*first, *(name for name in self.listed(values) if name not in (*first, *LABELS.values()))]

    def on_page(self, run: Run, values: ColumnValues, everything: bool = False) -> list[str]:
        """Return the stored names of the columns that a page needs for its cells, their links and their colours."""
        shown = self.exported(values) if everything else self._first(values)
        needed = [*shown, *ROW_KEY, "language", run.benchmark.correctness.column]
        return [name for name in dict.fromkeys(needed) if name in values]

    def _first(self, values: ColumnValues) -> list[str]:
        """Return the stored names of the columns that a page shows first."""
        return [name for name in (*self.names, *PLACE) if name in values and _tells(name, values[name])]


def stored_text(name: str, value: Any, relations: Names) -> str:
    """Return a stored value as pages show it, who count some columns from 1 and call groups by their titles."""
    if name in COUNTED and isinstance(value, int):
        return str(value + 1)
    if name in GROUPS and isinstance(value, str):
        return group_title(name, value, relations)
    return spelled.stored(value)


def right_or_wrong(run: Run) -> Callable[[Row], str]:
    """Return the function that gives the band of a row: "right", "wrong", or none where the answer does not count.

    Where the probe asks which of two true answers a model prefers, no row has a band.
    """
    column = run.benchmark.correctness.column
    if column != CORRECT.column:
        return lambda row: ""

    def band(row: Row) -> str:
        right = row.get(column)
        return "" if right is None else "right" if right else "wrong"

    return band


def item_url(run: Run, row: Row) -> str:
    """Return the address of the page of an item's question, with what the run answered to this wording."""
    page = reverse("question", args=[run.benchmark.name, f"{row['relation']}-{row['index']}"])
    return f"{page}?run={run.pk}&wording={row['template'] + 1}"


def _tells(name: str, values: set[Any]) -> bool:
    return len(values) > 1 if name in TAGS else not values <= {None, ""}


def _is_text(name: str) -> bool:
    """Tell whether a column is in the language in which the item is asked."""
    return name in ("subject", "statement") or name.endswith("_label")


def _align(name: str, values: set[Any]) -> str:
    """Return the alignment; short columns have none, so that two of them fit into a line on a phone."""
    if name == "subject":
        return "head"
    if values & {True, False} and all(isinstance(value, bool | None) for value in values):
        return ""
    if any(isinstance(value, int | float) for value in values):
        return "number"
    return "" if name in TAGS else "wide"


class ItemRow(NamedTuple):
    """A row of a run's items, with the relation and the item of the benchmark that it belongs to."""

    run: Run
    row: Row
    relation: Relation
    item: Item


# What the page of a question shows of a run's answer: the `template` of that part, its `context`, and its `tables`. A
# table has the `name` of its file, the `columns` of that, and its `rows`; the template has the rows by this name.
RunAnswer = dict[str, Any]


def answer_among_options(item: ItemRow, words: AnswerWords = RIGHT_OR_WRONG) -> RunAnswer:
    """Return the answer to an item whose options were scored, with the item's own template as the sentence."""
    return answer_in_template(item, item.relation.template_of(item.item, item.row["template"]), words)


def answer_in_template(item: ItemRow, template: str, words: AnswerWords = RIGHT_OR_WRONG) -> RunAnswer:
    """Return the answer to an item whose options were scored in a template."""
    row = item.row
    names = item.relation.options_of(item.item)
    text = prompt(template, row["subject"], item.relation.verbatim)
    context = {
        "row": row,
        "words": words,
        "shown": _text_before(text, row),
        "statement": _three_pieces(text, names[row["answer"]]),
        "chosen": _three_pieces(text, row["prediction_label"]),
    }
    options = {"name": "options", "columns": OPTIONS, "rows": _options(names, row)}
    return {"template": "parts/answer_among_options.html", "context": context, "tables": [options]}


def _text_before(text: Prompt, row: Row) -> str:
    """Return what stood before the item's own sentence in the model's input, such as demonstrations."""
    statement, own_sentence = str(row["statement"]), text.fill(row["prediction_label"], OTHER_BLANK).text
    return statement[: len(statement) - len(own_sentence)]


def _three_pieces(text: Prompt, option: str) -> tuple[str, str, str]:
    """Return the sentence before the option, the option, and the sentence after it."""
    filled = text.fill(option, OTHER_BLANK)
    return filled.text[: filled.start], filled.text[filled.start : filled.end], filled.text[filled.end :]


def _options(names: Sequence[str], row: Row) -> list[Row]:
    """Return the options, the best first; the share is an option's probability, given that exactly one is right."""
    options = [
        {
            "option": label,
            "score": score,
            "share": share,
            "right": number in row["answers"],
            "chosen": number == row["prediction"],
        }
        for number, (label, score, share) in enumerate(zip(names, row["scores"], shares_of(row["scores"]), strict=True))
    ]
    return sorted(options, key=lambda option: -option["score"])


def shares_of(scores: Sequence[float]) -> list[float]:
    """Return the probability of each option, given that exactly one of them is right."""
    best = max(scores)
    weights = [exp(score - best) for score in scores]
    total = sum(weights)
    return [weight / total for weight in weights]


def stored_answer(tables: Sequence[Mapping[str, Any]], context: Mapping[str, Any] | None = None) -> RunAnswer:
    return {"template": "parts/answer_facts.html", "context": context or {}, "tables": tables}


def facts_table(item: ItemRow, columns: ItemColumns, above: Sequence[str] = PLACE_COLUMNS) -> dict[str, Any]:
    """Return everything stored of an item that is not shown above the table, named as in the list of items."""
    row, names = item.row, relation_names(item.run)
    facts = [
        {
            "name": column["title"],
            "stored": row[column["stored"]],
            "text": stored_text(column["stored"], row[column["stored"]], names),
            "language": row.get("language", "") if column["is_text"] else "",
        }
        for column in columns.shown(item.run, item_rows.ends(item.run), everything=True)
        if column["name"] not in above
    ]
    rows = [fact for fact in facts if fact["stored"] not in (None, "", row["subject"])]
    return {"name": "facts", "columns": ("name", "stored"), "rows": rows}
