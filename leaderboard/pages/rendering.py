"""Functions that several pages share: rendering, tables as files, references, files in ranges.

`show` renders a page, or gives one of its tables or its reference as a file.
"""

from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_cache_control
from whitenoise.middleware import WhiteNoiseFileResponse
from whitenoise.responders import StaticFile

from leaderboard.exports.references import Reference
from leaderboard.tables import Files, download
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.links import link
from leaderboard.ui.sections import Section
from leaderboard.ui.table_files import table_response, wants_file
from leaderboard.ui.tables import Table, views

LIVE_SECONDS = 2  # for which a page with the progress of runs is kept; workers report it as often


def show(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    tables: Sequence[Table[Any]] = (),
    charts: Sequence[Chart] = (),
    sections: Sequence[Section] = (),
    folded: Sequence[Section] = (),
    reference: Reference | None = None,
    files: Files = MappingProxyType({}),
) -> HttpResponseBase:
    """Render a page, or what the parameter `format` names: one of its tables, or how it is cited (`reference`).

    The first table is the main one; the tables and charts of sections come last. Templates have all of them by name.
    The template shows `sections` in their order; it places those of folds (`folded`) itself. `files` are the
    tables that it writes itself.
    """
    tables = [*tables, *(section.table for section in (*sections, *folded) if section.table)]
    charts = [*charts, *(section.chart for section in (*sections, *folded) if section.chart)]
    if request.GET.get("table") in files and (answer := download(request, files)):
        return answer
    if (file := _file(request, tables, reference)) is not None:
        return file
    by_name = {chart.name: chart for chart in charts}
    shown = views(tables, request.GET)
    response = render(
        request,
        template,
        {
            **context,
            "sections": sections,
            "tables": shown,
            "offered_tables": [view for view in shown.values() if view.lines],
            "charts": by_name,
            **what_is_cited(request, reference),
        },
    )
    if context.get("live"):  # it changes with time and with parts of runs
        patch_cache_control(response, max_age=LIVE_SECONDS)
    return response


def _file(request: HttpRequest, tables: Sequence[Table[Any]], reference: Reference | None) -> HttpResponseBase | None:
    """Return the table or the reference that the query string asks for as a file, None if it asks for the page."""
    if not wants_file(request):
        return reference_file(request, reference) if reference else None
    name = request.GET.get("table", "")
    table = next((table for table in tables if name in ("", table.name)), None)
    if table is None:
        names = ", ".join(table.name for table in tables) or "none"
        return HttpResponse(f"There is no table {name!r} here. Tables of this page: {names}.\n", "text/plain", 404)
    return table_response(table, request)


def reference_file(request: HttpRequest, reference: Reference) -> HttpResponse | None:
    """Return the reference as a file for BibTeX; None if the query string does not ask for it."""
    if request.GET.get("format") != "bibtex":
        return None
    headers = {"Content-Disposition": f'attachment; filename="{reference.key}.bib"'}
    return HttpResponse(f"{reference.bibtex}\n", "application/x-bibtex; charset=utf-8", headers=headers)


def what_is_cited(request: HttpRequest, reference: Reference | None) -> dict[str, Any]:
    """Return what the menu “Use this” and the head of a page need."""
    return {
        "reference": reference,
        "bibtex_file": link(request.GET, format="bibtex"),
        "page_address": page_address(request),
        "canonical": request.build_absolute_uri(request.path),
    }


def page_address(request: HttpRequest) -> str:
    """Return the absolute address of what a page shows, with the choices of its reader."""
    query = link(request.GET, format=None, table=None).removeprefix("?")
    return request.build_absolute_uri(f"{request.path}?{query}" if query else request.path)


def page_reference(request: HttpRequest, key: str, title: str, details: str = "") -> Reference:
    """Return how a page is cited whose rows may change."""
    today = timezone.now().date()
    return Reference(f"clozeboard-{key}", title, details, page_address(request), accessed=today)


def file_response(request: HttpRequest, path: Path, content_type: str) -> HttpResponseBase:
    """Return a file that is never changed under its name, or the range of it that the request names."""
    file = StaticFile(str(path), [("Content-Type", content_type), ("ETag", f'"{path.stem}"')])
    answer = file.get_response(request.method, request.META)
    headers = {**dict(answer.headers), "Accept-Ranges": "bytes", "Cache-Control": "no-cache"}
    response: HttpResponseBase = WhiteNoiseFileResponse(answer.file or (), status=answer.status, headers=headers)
    return response
