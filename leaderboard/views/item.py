"""/runs/<id>/items/<relation>/<template>/<index>/ : one item with every option's score."""

from collections.abc import Sequence
from math import exp
from typing import NamedTuple

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render

from leaderboard.display import cells
from leaderboard.display.tables import Column, Table
from leaderboard.models import Run
from leaderboard.stored import benchmarks, item_rows
from leaderboard.stored.item_rows import ItemsMissing, Row
from leaderboard.views.items import columns, counted
from leaderboard.views.page import show
from probing.benchmark import Item, Relation
from probing.errors import ProbingError
from probing.probes.cloze import BLANK
from probing.probes.multiple_choice import OTHER_BLANK
from probing.template import Prompt, prompt

# What a page says above the table of the rest: of every item, and of one with a blank.
ABOVE = ("relation", "template", "index")
OF_BLANK = ("statement", "answer", "answers", "prediction", "correct", "rank", "method", "predictions", "continuation")


class Option(NamedTuple):
    """An option of the answer space. `share`: its softmax over the options, the probability if one is right."""

    label: str
    score: float
    share: float
    right: bool
    chosen: bool


def item_view(request: HttpRequest, pk: int, relation: str, template: int, index: int) -> HttpResponseBase:
    run = get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk)
    try:
        row = item_rows.item(run, relation, template, index)
        asked = benchmarks.read(run.benchmark).relation_of(relation, index)
    except ItemsMissing as error:
        return render(request, "problem.html", {"error": error, "title": "Item", "run": run}, status=404)
    except ProbingError as error:
        raise Http404(str(error)) from error
    if row is None:
        raise Http404("There is no such item in this run.")
    if "prediction" not in row:
        return _without_options(request, run, row)
    item = next(item for item in asked.items if item.index == index)
    labels, text = asked.options_of(item), question(asked, item, row)
    context = {
        "run": run,
        "row": row,
        "shown": shown_before(text, row),
        "statement": statement(text, labels[row["answer"]]),
        "chosen": statement(text, row["prediction_label"]),
    }
    return show(request, "item.html", context, [table(options(labels, row), row.get("language", ""))])


def _without_options(request: HttpRequest, run: Run, row: Row) -> HttpResponseBase:
    """What the model put at a blank of its own accord, or what it makes of a whole statement."""
    context, told = {"run": run, "row": row}, ABOVE
    if "method" in row:
        context |= {
            "blank": row["statement"].partition(BLANK),
            "said": said(row, counted(run)),
            "written": written(row),
        }
        told += OF_BLANK
    ranked = [ranking(row)] if row.get("predictions") else []
    return show(request, "item_facts.html", context, [*ranked, facts(run, row, told)])


def said(row: Row, k: int) -> str:
    """What became of the answer, in words."""
    if not row["method"]:
        return "The model was not asked: it goes on with a text, and this blank is not at the end."
    verdict = "Right" if row["correct"] else "Wrong"
    if row["method"] == "near":
        place = f"complete with token {row['rank']}, and the first {k} count" if row["rank"] else "not in what follows"
    elif row["rank"]:
        place = f"in place {row['rank']}, and the first {k} count"
    else:
        place = "not one token of the model's vocabulary, and so has no place"
    return f"{verdict}: it is {place}."


def written(row: Row) -> cells.Cell | None:
    """How the model went on, with the answer marked."""
    text = " ".join(row["continuation"].split())
    return cells.marked(text, row["answer_label"]) if text else None


class Word(NamedTuple):
    """A word that the model puts at the blank; `place` counts from 1."""

    place: int
    text: str
    log_prob: float
    right: bool

    def cell(self) -> cells.Cell:
        return cells.marked(self.text, self.text) if self.right else cells.text(self.text)


def ranking(row: Row) -> Table[Word]:
    found = zip(row["predictions"], row["log_probs"], strict=True)
    return Table(
        name="ranking",
        caption="At the blank, most probable first",
        columns=[
            Column("place", "Place", lambda word: cells.number(word.place), align="number"),
            Column("word", "Word", Word.cell),
            Column("log_prob", "Log-probability", lambda word: cells.number(word.log_prob, 2), align="number"),
            Column("right", "Right", lambda word: cells.yes_no(word.right)),
        ],
        rows=[Word(place, *word, place == row["rank"]) for place, word in enumerate(found, 1)],
        main=True,
        sortable=False,
    )


def facts(run: Run, row: Row, told: Sequence[str]) -> Table[tuple[str, cells.Cell]]:
    """What else is stored of an item, named and written as in the list of items."""
    known = [(column, column.cell(row)) for column in columns(run, item_rows.ends(run)) if column.name not in told]
    return Table(
        name="facts",
        caption="What else is stored",
        columns=[
            Column("name", "Name", lambda fact: cells.text(fact[0]), align="head"),
            Column("value", "Value", lambda fact: fact[1]),
        ],
        rows=[(column.title, cell) for column, cell in known if cell.value not in (None, "", row["subject"])],
        sortable=False,
    )


def question(relation: Relation, item: Item, row: Row) -> Prompt:
    """The item's own sentence."""
    cascade = row.get("prompting") == "cascade"
    text = relation.cascades[row["template"]] if cascade else relation.template_of(item, row["template"])
    return prompt(text, row["subject"])


def shown_before(text: Prompt, row: Row) -> str:
    """What stands before the item's own sentence in what the model was asked."""
    asked, own = row["statement"], text.fill(row["prediction_label"], OTHER_BLANK).text
    return asked[: len(asked) - len(own)]


def statement(text: Prompt, option: str) -> tuple[str, str, str]:
    """The sentence in three pieces: before the option, the option, after it."""
    filled = text.fill(option, OTHER_BLANK)
    return filled.text[: filled.start], filled.text[filled.start : filled.end], filled.text[filled.end :]


def options(labels: Sequence[str], row: Row) -> list[Option]:
    """Best first."""
    best = max(row["scores"])
    weights = [exp(score - best) for score in row["scores"]]
    found = [
        Option(label, score, weight / sum(weights), number in row["answers"], number == row["prediction"])
        for number, (label, score, weight) in enumerate(zip(labels, row["scores"], weights, strict=True))
    ]
    return sorted(found, key=lambda option: -option.score)


def table(rows: list[Option], lang: str) -> Table[Option]:
    return Table(
        name="options",
        caption="Options, best first",
        columns=[
            Column("option", "Option", lambda option: cells.text(option.label, lang=lang), align="head"),
            Column("score", "Log-probability", lambda option: cells.number(option.score, 2), align="number"),
            Column(
                "share", "Share", lambda option: cells.share(option.share), "Softmax over the options.", align="score"
            ),
            Column("right", "Right", lambda option: cells.yes_no(option.right)),
            Column("chosen", "Chosen", lambda option: cells.yes_no(option.chosen)),
        ],
        rows=rows,
        main=True,
        band=lambda option: "right" if option.right else "wrong" if option.chosen else "",
    )
