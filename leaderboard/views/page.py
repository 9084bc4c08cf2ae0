"""What every page does: a table as CSV where it is asked for, else the page with its tables and charts."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from leaderboard.display.charts import Chart
from leaderboard.display.exports import table_response
from leaderboard.display.tables import Table, view


def show(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    tables: Sequence[Table[Any]] = (),
    charts: Sequence[Chart] = (),
) -> HttpResponseBase:
    """The first table is the main one; templates find tables and charts by their names."""
    if request.GET.get("format") == "csv":
        return _csv(request, tables)
    views = {table.name: view(table, request.GET) for table in tables}
    return render(request, template, {**context, "tables": views, "charts": {chart.name: chart for chart in charts}})


def _csv(request: HttpRequest, tables: Sequence[Table[Any]]) -> HttpResponseBase:
    name = request.GET.get("table", tables[0].name if tables else "")
    for table in tables:
        if table.name == name:
            return table_response(table, request)
    known = ", ".join(table.name for table in tables) or "none"
    return HttpResponse(f"There is no table {name!r} here. Tables of this page: {known}.\n", "text/plain", 404)
