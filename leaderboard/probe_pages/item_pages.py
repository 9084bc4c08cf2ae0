"""The page of one item: the options with their scores where the model chose among options, else all stored facts."""

from collections.abc import Sequence
from math import exp
from typing import Any, NamedTuple

from leaderboard.display import cells
from leaderboard.display.tables import Column, Table
from leaderboard.models import Run
from leaderboard.probe_pages.item_columns import ItemColumns
from leaderboard.stored import item_rows
from leaderboard.stored.item_rows import Row
from probing.benchmark import Item, Relation
from probing.probes.choices import OTHER_BLANK
from probing.template import Prompt, prompt

# Columns that every item's page shows above its table of facts.
PLACE_COLUMNS = ("relation", "template", "index")
SHARE_HELP = "Softmax of the scores over the options."


class ItemRow(NamedTuple):
    """A row of a run's items, with the relation and the item of the benchmark that it belongs to."""

    run: Run
    row: Row
    relation: Relation
    item: Item


class ItemPage(NamedTuple):
    """The template of an item's page, its context, and its tables, the main one first."""

    template: str
    context: dict[str, Any]
    tables: Sequence[Table[Any]]


class ScoredOption(NamedTuple):
    """An option of the answer space. `share` is its probability, given that exactly one of the options is right."""

    label: str
    score: float
    share: float
    right: bool
    chosen: bool


def option_page(item: ItemRow) -> ItemPage:
    """Return the page of an item whose options were scored, with the item's own template as the sentence."""
    return option_page_of(item, item.relation.template_of(item.item, item.row["template"]))


def option_page_of(item: ItemRow, template: str) -> ItemPage:
    """Return the page of an item whose options were scored in a template."""
    row = item.row
    labels = item.relation.options_of(item.item)
    text = prompt(template, row["subject"], item.relation.verbatim)
    context = {
        "shown": _text_before(text, row),
        "statement": _three_pieces(text, labels[row["answer"]]),
        "chosen": _three_pieces(text, row["prediction_label"]),
    }
    options = _scored_options(labels, row)
    return ItemPage("item.html", context, [_options_table(options, row.get("language", ""))])


def _text_before(text: Prompt, row: Row) -> str:
    """Return what stood before the item's own sentence in the model's input, such as demonstrations."""
    statement, own_sentence = str(row["statement"]), text.fill(row["prediction_label"], OTHER_BLANK).text
    return statement[: len(statement) - len(own_sentence)]


def _three_pieces(text: Prompt, option: str) -> tuple[str, str, str]:
    """Return the sentence before the option, the option, and the sentence after it."""
    filled = text.fill(option, OTHER_BLANK)
    return filled.text[: filled.start], filled.text[filled.start : filled.end], filled.text[filled.end :]


def _scored_options(labels: Sequence[str], row: Row) -> list[ScoredOption]:
    """Return the options, the best first."""
    shares = shares_of(row["scores"])
    options = [
        ScoredOption(label, score, share, number in row["answers"], number == row["prediction"])
        for number, (label, score, share) in enumerate(zip(labels, row["scores"], shares, strict=True))
    ]
    return sorted(options, key=lambda option: -option.score)


def shares_of(scores: Sequence[float]) -> list[float]:
    """Return the probability of each option, given that exactly one of them is right."""
    best = max(scores)
    weights = [exp(score - best) for score in scores]
    total = sum(weights)
    return [weight / total for weight in weights]


def _options_table(options: list[ScoredOption], lang: str) -> Table[ScoredOption]:
    return Table(
        name="options",
        caption="Options, the best first",
        columns=[
            Column("option", "Option", lambda option: cells.text(option.label, lang=lang), align="head"),
            Column("score", "Log-probability", lambda option: cells.number(option.score, 2), align="number"),
            Column("share", "Share", lambda option: cells.share(option.share), SHARE_HELP, align="score"),
            Column("right", "Right", lambda option: cells.yes_no(option.right)),
            Column("chosen", "Chosen", lambda option: cells.yes_no(option.chosen)),
        ],
        rows=options,
        main=True,
        band=lambda option: "right" if option.right else "wrong" if option.chosen else "",
    )


StoredFact = tuple[str, cells.Cell]


def facts_table(item: ItemRow, columns: ItemColumns, above: Sequence[str] = PLACE_COLUMNS) -> Table[StoredFact]:
    """Return everything stored of an item that is not shown above the table, named as in the list of items."""
    values = item_rows.ends(item.run)
    facts = [(column, column.cell(item.row)) for column in columns.build(item.run, values) if column.name not in above]
    return Table(
        name="facts",
        caption="Further details",
        columns=[
            Column("name", "Name", lambda fact: cells.text(fact[0]), align="head"),
            Column("stored", "Value", lambda fact: fact[1]),
        ],
        rows=[(column.title, cell) for column, cell in facts if cell.value not in (None, "", item.row["subject"])],
        sortable=False,
    )
