"""/runs/<id>/items/ : the items that a model was asked and its answers, filtered on the server."""

import hashlib
from collections.abc import Sequence
from math import isnan
from typing import Any

from django import forms
from django.core.files.storage import storages
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils.http import quote_etag
from django.views.decorators.http import require_safe

from leaderboard.figures import item_rows
from leaderboard.figures.item_rows import ItemFilter, ItemsMissing, Row
from leaderboard.models import Run
from leaderboard.probes import pages_of
from leaderboard.probes.items import LABELS, ColumnValues, item_url, right_or_wrong, stored_text
from leaderboard.probes.wording import group_title, relation_names, row_key, sentences, several_answers
from leaderboard.tables import page_of
from leaderboard.ui import labels
from leaderboard.ui.links import link
from leaderboard.ui.table_files import json_lines, rows_response, wants_file
from probing.probes import probe_named
from probing.probes.probe import tag_columns

EVERYTHING = "all"


def items_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    run = get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk)
    try:
        values = item_rows.ends(run)
        form = ItemsForm(request.GET, run=run, values=values)
        numbers = item_rows.find(run, form.filter())
    except ItemsMissing as error:
        return items_missing(request, run, error)
    if wants_file(request):
        return _file(request, run, numbers, values)
    page, everything = page_of(numbers, request), request.GET.get("columns") == EVERYTHING
    columns, rows = _table(run, list(page), values, everything)
    context = {
        "run": run,
        "form": form,
        "note": pages_of(run.benchmark).item_columns.note(run, values),
        "everything": everything,
        "other_columns": link(request.GET, columns=None if everything else EVERYTHING),
        "columns": columns,
        "items": rows,
        "page": page,
        "title": items_title(run),
    }
    return render(request, "items.html", context)


def _table(
    run: Run, numbers: Sequence[int], values: ColumnValues, everything: bool
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the columns of a page, without those that are empty on it, and its rows with a cell for each of them."""
    pages, band, names = pages_of(run.benchmark), right_or_wrong(run), relation_names(run)
    stored = list(item_rows.rows(run, numbers, pages.item_columns.on_page(run, values, everything)))
    questions = sentences(run, stored, pages.question_form)
    answers = several_answers(run, stored, pages.question_form)
    columns = [
        column
        for column in pages.item_columns.shown(run, values, everything, bool(questions))
        if any(row[column["stored"]] not in (None, "", []) for row in stored)
    ]

    def text(row: Row, name: str) -> str:
        own = {"subject": questions.get(row_key(row)), "answer_label": answers.get((row["relation"], row["index"]))}
        return own.get(name) or stored_text(name, row[name], names)

    return columns, [
        {
            "href": item_url(run, row),
            "band": band(row),
            "language": row.get("language") or "",
            "cells": [(column, row[column["stored"]], text(row, column["stored"])) for column in columns],
        }
        for row in stored
    ]


def items_missing(request: HttpRequest, run: Run, error: ItemsMissing) -> HttpResponse:
    """Return the page that says why a run's items cannot be shown."""
    context = {"error": error, "title": items_title(run), "run": run}
    return render(request, "problem.html", context, status=404)


def items_title(run: Run) -> str:
    return f"{run.benchmark.nouns.capitalize()} and answers"


def parquet_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Stream the stored file with all items of a run."""
    run = get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk)
    try:
        with item_rows.opened(run) as file:
            download = storages["artefacts"].open(file.name)
    except ItemsMissing as error:
        return items_missing(request, run, error)
    headers = {"ETag": _etag(run)}
    return FileResponse(download, as_attachment=True, filename=f"clozeboard-runs-{pk}-items.parquet", headers=headers)


@require_safe
def lines_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Stream all items of a run as JSONL, with the columns of its Parquet file; a number that is missing is null."""
    run = get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk)
    try:
        numbers = item_rows.find(run, ItemFilter())
    except ItemsMissing as error:
        return items_missing(request, run, error)
    rows = (_without_nan(row) for row in item_rows.rows(run, numbers))
    response = json_lines(rows, f"clozeboard-runs-{pk}-items.jsonl")
    response["ETag"] = _etag(run, "jsonl")
    return response


def _without_nan(value: Any) -> Any:
    """Return a value as JSON can hold it, with None in place of numbers that are missing."""
    if isinstance(value, dict):
        return {name: _without_nan(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_without_nan(part) for part in value]
    return None if isinstance(value, float) and isnan(value) else value


def _file(request: HttpRequest, run: Run, numbers: Sequence[int], values: ColumnValues) -> HttpResponseBase:
    """Return all rows that pass the filters, read in batches, or one page if one is asked for."""
    chosen = list(page_of(numbers, request)) if request.GET.get("page") else numbers
    item_columns = pages_of(run.benchmark).item_columns
    stored = item_columns.exported(values)
    names = [LABELS.get(name, name) for name in stored]
    ends = [[value for name in stored for value in values[name] if isinstance(value, str)]]
    rows = ([row[name] for name in stored] for row in item_rows.rows(run, chosen, stored))
    response = rows_response(names, rows, request, sample=ends)
    response["ETag"] = _etag(run, request.GET.urlencode(), *names)
    return response


def _etag(run: Run, *parts: str) -> str:
    """Return an ETag without reading the file: the items of a finished run never change."""
    return quote_etag(hashlib.sha256(repr((run.pk, run.finished, *parts)).encode()).hexdigest()[:32])


TRUTH = {"yes": True, "no": False}
YES_NO = [("", "all"), ("yes", "yes"), ("no", "no")]


def _group_titles(run: Run, dimension: str, groups: Sequence[str]) -> list[tuple[str, str]]:
    """Return the groups that a reader may choose, each with what pages call it."""
    names = relation_names(run)
    return [(group, group_title(dimension, group, names)) for group in groups]


class ItemsForm(forms.Form):
    """Filters over a run's items by text, correctness, relation, template, and every tag that its file has.

    `values`: the least and the greatest value of each stored column (`item_rows.ends`).
    """

    search = forms.CharField(required=False, max_length=100, label="Subject or answer")
    correct = forms.ChoiceField(
        required=False, label="Right or wrong", choices=[("", "all"), ("yes", "right"), ("no", "wrong")]
    )

    def __init__(self, data: Any, *, run: Run, values: ColumnValues) -> None:
        super().__init__(data, label_suffix="")
        if "correct" not in values:
            del self.fields["correct"]
        self.yes_no = pages_of(run.benchmark).item_columns.yes_no
        for name, label in self.yes_no.items():
            self.fields.pop(name, None)
            self.fields[name] = forms.ChoiceField(required=False, choices=YES_NO, label=label)
        self.tags = tag_columns(probe_named(run.benchmark.probe), values)
        groups: dict[str, list[str]] = {}
        for dimension, group in dict.fromkeys(run.scores.order_by("pk").values_list("dimension", "group")):
            groups.setdefault(dimension, []).append(group)
        templates = range(min(values["template"]), max(values["template"]) + 1)
        groups.setdefault("template", [str(template) for template in templates])
        for name in ("relation", "template", *self.tags):
            choices = [("", "all"), *_group_titles(run, name, groups.get(name, []))]
            self.fields[name] = forms.ChoiceField(required=False, choices=choices, label=labels.dimension(name))

    @property
    def is_narrowed(self) -> bool:
        """Tell whether the reader has chosen a value in any field but the search."""
        return any(self.data.get(name) for name in self.fields if name != "search")

    def filter(self) -> ItemFilter:
        """Return the filter; values that are not valid are left out."""
        self.full_clean()
        values = self.cleaned_data
        template = values.get("template")
        yes_no = {name: TRUTH[values[name]] for name in self.yes_no if name != "correct" and values.get(name)}
        return ItemFilter(
            correct=TRUTH.get(values.get("correct", "")),
            relation=values.get("relation", ""),
            template=int(template) if template else None,
            search=values.get("search", ""),
            tags={tag: values[tag] for tag in self.tags if values.get(tag)} | yes_no,
        )
