"""/runs/<id>/items/<relation>/<template>/<index>/ : one item with every option's score."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render

from leaderboard import benchmarks, cells, items
from leaderboard.items import ItemsMissing
from leaderboard.models import Run
from leaderboard.tables import Column, Table
from leaderboard.views.page import show
from probing.benchmark import Item, Relation
from probing.errors import ProbingError
from probing.probes.multiple_choice import OTHER_BLANK
from probing.template import Prompt, prompt

IN_LANGUAGE = ("subject", "answer_label", "prediction_label", "statement")  # the language that the item is asked in


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
        row = items.item(run, relation, template, index)
        asked = benchmarks.read(run.benchmark).relation_of(relation, index)
    except ItemsMissing as error:
        return render(request, "problem.html", {"error": error, "title": "Item", "run": run}, status=404)
    except ProbingError as error:
        raise Http404(str(error)) from error
    if row is None:
        raise Http404("There is no such item in this run.")
    if "prediction" not in row:
        return show(request, "item_facts.html", {"run": run, "row": row}, [facts(row)])
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


def facts(row: dict[str, Any]) -> Table[tuple[str, Any]]:
    """All that is stored of an item, where the model had nothing to choose from."""
    return Table(
        name="facts",
        caption="What is stored",
        columns=[
            Column("name", "Name", lambda fact: cells.text(fact[0].replace("_", " ")), align="head"),
            Column("value", "Value", lambda fact: _fact(*fact, row)),
        ],
        rows=list(row.items()),
        main=True,
        sortable=False,
    )


def _fact(name: str, value: Any, row: dict[str, Any]) -> cells.Cell:
    """A list as its members; the right answer is marked where there is one."""
    shown = " · ".join(map(str, value)) if isinstance(value, list) else str(value)
    cell = cells.marked(shown, row["answer_label"]) if row.get("answer_label") else cells.text(shown)
    return replace(cell, lang=row.get("language", "") if name in IN_LANGUAGE else "")


def question(relation: Relation, item: Item, row: dict[str, Any]) -> Prompt:
    """The item's own sentence."""
    cascade = row.get("prompting") == "cascade"
    text = relation.cascades[row["template"]] if cascade else relation.template_of(item, row["template"])
    return prompt(text, row["subject"])


def shown_before(text: Prompt, row: dict[str, Any]) -> str:
    """What stands before the item's own sentence in what the model was asked."""
    asked, own = row["statement"], text.fill(row["prediction_label"], OTHER_BLANK).text
    return asked[: len(asked) - len(own)]


def statement(text: Prompt, option: str) -> tuple[str, str, str]:
    """The sentence in three pieces: before the option, the option, after it."""
    filled = text.fill(option, OTHER_BLANK)
    return filled.text[: filled.start], filled.text[filled.start : filled.end], filled.text[filled.end :]


def options(labels: Sequence[str], row: dict[str, Any]) -> list[Option]:
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
