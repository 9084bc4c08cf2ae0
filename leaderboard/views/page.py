"""Functions that several pages share; `show` renders a page, or gives one of its tables as CSV."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_cache_control

from leaderboard.display.charts import Chart
from leaderboard.display.exports import table_response
from leaderboard.display.sections import Section
from leaderboard.display.tables import PageLink, Table, prepare_together, view
from leaderboard.models import Run
from leaderboard.operations.freezing import can_be_frozen
from leaderboard.probe_pages.culture.places import Place, switches
from leaderboard.probe_pages.pages import ProbePages
from leaderboard.serving.client import client_address

LIVE_SECONDS = 2  # for which a page with the progress of runs is kept; workers report it as often


def show(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    tables: Sequence[Table[Any]] = (),
    charts: Sequence[Chart] = (),
    sections: Sequence[Section] = (),
    folded: Sequence[Section] = (),
) -> HttpResponseBase:
    """Render a page, or one of its tables as CSV.

    The first table is the main one; the tables and charts of sections come last. Templates have all of them by name.
    The template shows `sections` in their order; it places those of folds (`folded`) itself.
    """
    tables = [*tables, *(section.table for section in (*sections, *folded) if section.table)]
    charts = [*charts, *(section.chart for section in (*sections, *folded) if section.chart)]
    if request.GET.get("format") == "csv":
        return _csv(request, tables)
    prepare_together(tables, request.GET)
    views = {table.name: view(table, request.GET) for table in tables}
    by_name = {chart.name: chart for chart in charts}
    shown = {"sections": sections, "tables": views, "charts": by_name, "can_be_frozen": can_be_frozen(request)}
    response = render(request, template, {**context, **shown})
    if context.get("live"):  # it changes with time and with parts of runs
        patch_cache_control(response, max_age=LIVE_SECONDS)
    return response


def _csv(request: HttpRequest, tables: Sequence[Table[Any]]) -> HttpResponseBase:
    name = request.GET.get("table", tables[0].name if tables else "")
    for table in tables:
        if table.name == name:
            return table_response(table, request)
    names = ", ".join(table.name for table in tables) or "none"
    return HttpResponse(f"There is no table {name!r} here. Tables of this page: {names}.\n", "text/plain", 404)


def probe_sections(run: Run, pages: ProbePages, query: QueryDict, place: Place | None = None) -> list[Section]:
    """Return the sections that only the run's probe has; nothing before the run is finished."""
    return pages.run_sections(run, *pages.choices(query, place)) if run.state == Run.State.FINISHED else []


def switch_links(
    pages: ProbePages, query: QueryDict, offered: Sequence[Place] = (), place: Place | None = None
) -> list[list[PageLink]]:
    """Return the links of each choice that sections follow: of places, then those of the probe's switches."""
    return [*switches(query, offered, place), *(switch.links(query) for switch in pages.switches)]


def submitter(request: HttpRequest) -> str:
    """Return the address that the request came from, by which the daily limit is counted."""
    return client_address(request)
