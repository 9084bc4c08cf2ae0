"""/runs/<id>/items/ : what the model was asked and what it chose, filtered on the server."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.core.files.storage import storages
from django.http import FileResponse, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import quote_etag

from leaderboard.display import cells, labels
from leaderboard.display.cells import Cell
from leaderboard.display.exports import LOOKED_AT, csv_response
from leaderboard.display.tables import (
    PAGE_SIZE,
    Column,
    Table,
    link,
    page_links,
    page_number,
    view,
)
from leaderboard.models import Run
from leaderboard.stored import item_rows
from leaderboard.stored.item_rows import ItemsMissing, Row
from leaderboard.views.forms import ItemsForm
from probing.probes.cloze import Cloze

Stored = Mapping[str, set[Any]]  # as item_rows.ends tells it
ALL = "all"
# What a page shows, if it is stored and not empty throughout; the rest follows it in CSV.
SHOWN = (
    *("subject", "statement", "answer_label", "coarse_label", "prediction_label"),
    *("specific", "correct", "rank", "margin", "fine_log_prob", "coarse_log_prob", "true", "perplexity", "tokens"),
    *("culture_pair", "culture", "language", "relation", "template", "index"),
)
TELLING = ("culture_pair", "culture", "language", "template")  # only where rows differ in them
# CSV has the labels of answer and prediction under these names, not their numbers in the answer space.
LABELS = {"answer_label": "answer", "prediction_label": "prediction"}
IN_LANGUAGE = {"subject", "statement", "coarse_label", *LABELS}  # the language that the item is asked in
SHORT = ("correct", "specific", "true", *TELLING)  # two of them fit into a line on a phone
TITLES = {
    "statement": "Sentence",
    "answer_label": "Answer",
    "prediction_label": "Chosen",
    "correct": "Right",
    "rank": "Rank of answer",
    "index": "Line",
    "log_prob": "Log-probability",
}
HELP = {
    "margin": "Log-probability of the answer minus that of the best wrong option.",
    **dict.fromkeys(
        ("fine_log_prob", "coarse_log_prob"),
        "At the blank; empty where the answer is not a single token of the model's vocabulary.",
    ),
}
STATEMENTS = {"subject": "Statement"}
PAIRS = {
    "answer_label": "Finer",
    "coarse_label": "Coarser",
    "correct": "Specific, all pairs",
    "fine_log_prob": "log P, finer",
    "coarse_log_prob": "log P, coarser",
}
PAIRS_NOTE = (
    "Specific: at the blank, the finer answer is more probable than the coarser one. The specificity of the run counts "
    "the pairs that have a yes or no there: both answers are single tokens of the model's vocabulary. "
    "All pairs are compared by the whole answers."
)
RANKED = {"prediction_label": "Ranked first", "correct": "Right: in top {k}"}
WRITTEN = {"prediction_label": "Goes on with", "correct": "Right: in near {k}", "rank": "Answer's token"}
RANKED_NOTE = "Right: the answer is among the first {k} of the ranked words."
WRITTEN_NOTE = (
    "Right: the answer is complete within the first {k} tokens that the model writes. "
    "Sentences with a blank that is not at their end are not asked."
)


def items_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    run = get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk)
    try:
        stored = item_rows.ends(run)
        form = ItemsForm(request.GET, run=run, columns=stored)
        numbers = item_rows.find(run, form.filter())
    except ItemsMissing as error:
        return render(request, "problem.html", {"error": error, "title": "Items", "run": run}, status=404)
    if request.GET.get("format") == "csv":
        return _csv(request, run, numbers, stored)
    everything = request.GET.get("columns") == ALL
    shown = table(columns(run, stored, everything), list(item_rows.rows(run, _page(request, numbers), _read(stored))))
    context = {
        "run": run,
        "form": form,
        "note": note(run, stored),
        "everything": everything,
        "other_columns": link(request.GET, columns=None if everything else ALL),
        "items": replace(
            view(shown, request.GET),
            total=len(numbers),
            pages=page_links(request.GET, "page", len(numbers), PAGE_SIZE),
        ),
    }
    return render(request, "items.html", context)


def parquet_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The file itself, streamed."""
    run = get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk)
    try:
        with item_rows.opened(run) as file:
            file = storages["artefacts"].open(file.name)
    except ItemsMissing as error:
        return render(request, "problem.html", {"error": error, "title": "Items", "run": run}, status=404)
    headers = {"ETag": _tag(run)}
    return FileResponse(file, as_attachment=True, filename=f"run-{pk}-items.parquet", headers=headers)


def _page(request: HttpRequest, numbers: list[int]) -> list[int]:
    start = (page_number(request.GET.get("page", ""), len(numbers), PAGE_SIZE) - 1) * PAGE_SIZE
    return numbers[start : start + PAGE_SIZE]


def _csv(request: HttpRequest, run: Run, numbers: list[int], stored: Stored) -> HttpResponseBase:
    """All rows that pass, in batches; one page if one is asked for."""
    wanted = _page(request, numbers) if request.GET.get("page") else numbers
    shown = columns(run, stored)
    names = [column.name for column in shown]
    spread = wanted[:: 1 + len(wanted) // LOOKED_AT]
    rows, sample = (_values(shown, item_rows.rows(run, numbers, _read(stored))) for numbers in (wanted, spread))
    response = csv_response(names, rows, f"run-{run.pk}-items", sample)
    response["ETag"] = _tag(run, request.GET.urlencode(), *names)
    return response


def _tag(run: Run, *asked: str) -> str:
    """Names what a download has in it without reading it: the items of a finished run never change."""
    return quote_etag(hashlib.sha256(repr((run.pk, run.finished, *asked)).encode()).hexdigest()[:32])


def _values(shown: Sequence[Column[Row]], rows: Iterable[Row]) -> Iterable[list[cells.Raw]]:
    return ([column.cell(row).value for column in shown] for row in rows)


def table(shown: Sequence[Column[Row]], rows: list[Row]) -> Table[Row]:
    return Table(
        name="items",
        caption="Items",
        columns=shown,
        rows=rows,
        main=True,
        sortable=False,
        cards=True,
        band=band,
        empty="No item passes these filters. Drop one of them.",
    )


def band(row: Row) -> str:
    right = row.get("specific", row.get("correct"))
    if right is None:
        return ""
    return "right" if right else "wrong"


def columns(run: Run, stored: Stored, everything: bool = False) -> list[Column[Row]]:
    """What tells rows apart, then all else that is stored: a page hides this unless `everything` is asked for."""
    first = [name for name in SHOWN if name in stored and _telling(name, stored)]
    rest = [name for name in _read(stored) if name not in (*first, *LABELS.values())]
    titles = TITLES | _titles(run, stored)
    return [_column(run, name, titles, stored[name], everything or name in first) for name in (*first, *rest)]


def _read(stored: Iterable[str]) -> list[str]:
    return [name for name in stored if name not in item_rows.PER_OPTION]


def _telling(name: str, stored: Stored) -> bool:
    if name == "statement":  # elsewhere it repeats the subject or what was chosen
        return "answer_label" in stored and "prediction" not in stored
    return len(stored[name]) > 1 if name in TELLING else not stored[name] <= {None, ""}


def _column(run: Run, name: str, titles: Mapping[str, str], ends: set[Any], shown: bool) -> Column[Row]:
    def cell(row: Row) -> Cell:
        found = cells.stored(row[name], row.get("language", "") if name in IN_LANGUAGE else "")
        return replace(found, href=_address(run, row)) if name == "subject" else found

    title = titles.get(name) or labels.dimension(name)
    return Column(LABELS.get(name, name), title, cell, HELP.get(name, ""), align=_align(name, ends), shown=shown)


def _align(name: str, ends: set[Any]) -> str:
    if name == "subject":
        return "head"
    if any(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
        return "number"
    return "" if name in SHORT else "wide"


def _address(run: Run, row: Row) -> str:
    return reverse("item", args=[run.pk, row["relation"], row["template"], row["index"]])


def _titles(run: Run, stored: Stored) -> dict[str, str]:
    """What columns are called where a probe means something of its own by them."""
    if "method" in stored:
        titles = WRITTEN if "near" in stored["method"] else RANKED
        return {name: title.format(k=counted(run)) for name, title in titles.items()}
    if "specific" in stored:
        return PAIRS
    return STATEMENTS if "perplexity" in stored else {}


def note(run: Run, stored: Stored) -> str:
    """What counts as right, where the columns' titles cannot say it."""
    if "method" in stored:
        return (WRITTEN_NOTE if "near" in stored["method"] else RANKED_NOTE).format(k=counted(run))
    return PAIRS_NOTE if "specific" in stored else ""


def counted(run: Run) -> int:
    """How near a cloze probe's answer must be to count as right."""
    return int(run.settings.get("options", {}).get("k", Cloze.k))
