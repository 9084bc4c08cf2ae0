"""Charts and tables of pages in frames of other sites: the part that a frame shows, and the code of each frame."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any, NamedTuple, TypeVar

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from leaderboard.display.charts import Chart
from leaderboard.display.links import link, page_number
from leaderboard.display.sections import Section
from leaderboard.display.tables import Table, TableView, view
from leaderboard.exports.references import Reference
from leaderboard.serving.middleware import policy_header

ROUTE = "embed"
PARAMETERS = ("chart", "table", "rows", "theme")  # of a frame; all others are those of the page
ROWS = 10  # of a table, unless the address says how many
MOST_ROWS = 50
TABLE_HEIGHT = 480  # pixels of a frame with a table
WORDS_HEIGHT = 180  # pixels that the words above and below a chart take
POLICY = policy_header({**settings.CONTENT_SECURITY_POLICY, "frame-ancestors": "*"})

PartT = TypeVar("PartT", Chart, Table[Any])


class Frame(NamedTuple):
    """A part of a page that others may show: its title, and the HTML that shows it."""

    title: str
    code: str


def is_embedded(request: HttpRequest) -> bool:
    """Tell whether the request asks for a part of a page, for a frame."""
    return request.resolver_match is not None and request.resolver_match.url_name == ROUTE


def frames(request: HttpRequest, tables: Sequence[Table[Any]], charts: Sequence[Chart]) -> list[Frame]:
    """Return the frames of all charts and of the main table of a page, as its reader has chosen them."""
    page = reverse(ROUTE, kwargs={"page": request.path.removeprefix(reverse("overview"))})
    chosen = dict.fromkeys(("format", *PARAMETERS))

    def frame(title: str, height: int, **part: str) -> Frame:
        address = request.build_absolute_uri(f"{page}{link(request.GET, **{**chosen, **part})}")
        return Frame(title, _code(address, title, height))

    chart_frames = [frame(chart.title, chart.height + WORDS_HEIGHT, chart=chart.name) for chart in charts]
    return [
        *chart_frames,
        *(frame(table.caption, TABLE_HEIGHT, table=table.name) for table in tables[:1] if table.rows),
    ]


def _code(address: str, title: str, height: int) -> str:
    attributes = f'src="{escape(address)}" title="{escape(title)}" width="100%" height="{height}" loading="lazy"'
    return f"<iframe {attributes}></iframe>"


def embedded(
    request: HttpRequest,
    tables: Sequence[Table[Any]],
    charts: Sequence[Chart],
    sections: Sequence[Section],
    reference: Reference | None,
) -> HttpResponse:
    """Return the part of a page that the query string names: a chart, with a table for readers without scripts.

    Without a name it is the first chart, or the main table where the page has no chart.
    """
    shown = None if "table" in request.GET else _part(charts, request.GET.get("chart"))
    table = _beside(shown, sections) if shown else None
    table = table or _part(tables, request.GET.get("table"))
    if not shown and (not table or "chart" in request.GET):
        raise Http404("The page has no such chart or table.")
    without = dict.fromkeys(PARAMETERS)
    response = render(
        request,
        "embed.html",
        {
            "chart": shown,
            "view": _short(request, table) if table else None,
            "theme": request.GET.get("theme") if request.GET.get("theme") in ("light", "dark") else "",
            "reference": reference,
            "page": request.build_absolute_uri(f"{request.path}{link(request.GET, **without)}".rstrip("?")),
        },
    )
    response.headers["Content-Security-Policy"] = POLICY
    return response


def _part(parts: Sequence[PartT], name: str | None) -> PartT | None:
    """Return the part of this name, or the first one without a name; None if there is none."""
    return next((part for part in parts if name in (None, part.name)), None)


def _beside(chart: Chart, sections: Sequence[Section]) -> Table[Any] | None:
    """Return the table with the figures of a chart, None if it stands in no section."""
    return next((part.table for part in sections if part.chart and part.chart.name == chart.name), None)


def _short(request: HttpRequest, table: Table[Any]) -> TableView:
    """Return the first rows of a table, without pinned ones and without links that sort it or turn its pages."""
    size = page_number(request.GET.get("rows", str(ROWS)), MOST_ROWS, 1)
    rows = [row for row in table.ordered(request.GET) if not table.is_pinned(row)]
    return view(replace(table, rows=rows, sortable=False, page_size=size), request.GET)
