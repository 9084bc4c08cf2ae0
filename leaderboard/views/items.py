"""/runs/<id>/items/ : what the model was asked and what it chose, filtered on the server."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django.core.files.storage import storages
from django.http import FileResponse, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import quote_etag

from leaderboard import cells, items
from leaderboard.cells import Cell
from leaderboard.exports import LOOKED_AT, csv_response
from leaderboard.forms import ItemsForm
from leaderboard.items import ItemsMissing
from leaderboard.models import Run
from leaderboard.tables import PAGE_SIZE, Column, Table, page_links, page_number, view

Row = dict[str, Any]
PAIR_HELP = "At the blank; empty where the answer is not a single token of the model's vocabulary."
STORED_AS = {"answer": "answer_label", "prediction": "prediction_label"}


def items_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    run = get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk)
    try:
        form = ItemsForm(request.GET, run=run, columns=items.names(run))
        numbers = items.find(run, form.filter())
    except ItemsMissing as error:
        return render(request, "problem.html", {"error": error, "title": "Items", "run": run}, status=404)
    if request.GET.get("format") == "csv":
        return _csv(request, run, numbers)
    context = {
        "run": run,
        "form": form,
        "items": replace(
            view(table(run, list(items.rows(run, _page(request, numbers)))), request.GET),
            total=len(numbers),
            pages=page_links(request.GET, "page", len(numbers), PAGE_SIZE),
        ),
    }
    return render(request, "items.html", context)


def parquet_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The file itself, streamed."""
    run = get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk)
    try:
        with items.opened(run) as file:
            file = storages["artefacts"].open(file.name)
    except ItemsMissing as error:
        return render(request, "problem.html", {"error": error, "title": "Items", "run": run}, status=404)
    headers = {"ETag": _tag(run)}
    return FileResponse(file, as_attachment=True, filename=f"run-{pk}-items.parquet", headers=headers)


def _page(request: HttpRequest, numbers: list[int]) -> list[int]:
    start = (page_number(request.GET.get("page", ""), len(numbers), PAGE_SIZE) - 1) * PAGE_SIZE
    return numbers[start : start + PAGE_SIZE]


def _csv(request: HttpRequest, run: Run, numbers: list[int]) -> HttpResponseBase:
    """All rows that pass, in batches; one page if one is asked for."""
    wanted = _page(request, numbers) if request.GET.get("page") else numbers
    names = [column.name for column in columns(run)]
    spread = wanted[:: 1 + len(wanted) // LOOKED_AT]
    rows, sample = (_values(run, items.rows(run, numbers)) for numbers in (wanted, spread))
    response = csv_response(names, rows, f"run-{run.pk}-items", sample)
    response["ETag"] = _tag(run, request.GET.urlencode(), *names)
    return response


def _tag(run: Run, *asked: str) -> str:
    """Names what a download has in it without reading it: the items of a finished run never change."""
    return quote_etag(hashlib.sha256(repr((run.pk, run.finished, *asked)).encode()).hexdigest()[:32])


def _values(run: Run, rows: Iterable[Row]) -> Iterable[list[cells.Raw]]:
    shown = columns(run)
    return ([column.cell(row).value for column in shown] for row in rows)


def table(run: Run, rows: list[Row]) -> Table[Row]:
    return Table(
        name="items",
        caption="Items",
        columns=columns(run),
        rows=rows,
        main=True,
        sortable=False,
        cards=True,
        band=band,
        empty="No item passes these filters. Drop one of them.",
    )


def band(row: Row) -> str:
    if row.get("correct") is None:
        return ""
    return "right" if row["correct"] else "wrong"


def columns(run: Run) -> list[Column[Row]]:
    """Those for which something is stored."""
    stored = items.names(run)
    return [column for column in _columns(run) if STORED_AS.get(column.name, column.name) in stored]


def _columns(run: Run) -> list[Column[Row]]:
    def subject(row: Row) -> Cell:
        href = reverse("item", args=[run.pk, row["relation"], row["template"], row["index"]])
        return cells.text(row["subject"], href=href, lang=row.get("language", ""))

    return [
        Column("subject", "Subject", subject, align="head"),
        Column("answer", "Answer", lambda row: cells.text(row["answer_label"], lang=row.get("language", ""))),
        Column("prediction", "Chosen", lambda row: cells.text(row["prediction_label"], lang=row.get("language", ""))),
        Column("correct", "Right", lambda row: cells.yes_no(row["correct"])),
        Column("rank", "Rank of answer", lambda row: cells.number(row["rank"]), align="number"),
        Column(
            "margin",
            "Margin",
            lambda row: cells.number(row["margin"], 2),
            "Log-probability of the answer minus that of the best wrong option.",
            align="number",
        ),
        Column(
            "fine_log_prob", "log P, fine", lambda row: cells.number(row["fine_log_prob"], 2), PAIR_HELP, align="number"
        ),
        Column(
            "coarse_log_prob",
            "log P, coarse",
            lambda row: cells.number(row["coarse_log_prob"], 2),
            PAIR_HELP,
            align="number",
        ),
        Column("true", "True", lambda row: cells.yes_no(row["true"])),
        Column("perplexity", "Perplexity", lambda row: cells.number(row["perplexity"], 1), align="number"),
        Column("tokens", "Tokens", lambda row: cells.number(row["tokens"]), align="number"),
        Column("relation", "Relation", lambda row: cells.text(row["relation"])),
        Column("template", "Template", lambda row: cells.number(row["template"]), align="number"),
        Column("index", "Line", lambda row: cells.number(row["index"]), align="number"),
    ]
