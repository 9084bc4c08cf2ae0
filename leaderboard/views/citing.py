"""How pages are cited: their references as files, and their tables as LaTeX."""

import json
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from leaderboard.display.links import link
from leaderboard.display.tables import Table
from leaderboard.exports.latex_tables import latex_table
from leaderboard.exports.references import SITE, Reference

LATEX_TYPE = "application/x-latex; charset=utf-8"


class ReferenceFile(NamedTuple):
    """A format of references: its content type, the suffix of its files, and how their text is made."""

    content_type: str
    suffix: str
    text: Callable[[Reference], str]


def _csl_text(reference: Reference) -> str:
    return json.dumps([reference.csl], ensure_ascii=False, indent=2)


# By the names that the query string has for them.
FILES = {
    "citation": ReferenceFile("text/plain", "txt", attrgetter("text")),
    "bibtex": ReferenceFile("application/x-bibtex", "bib", attrgetter("bibtex")),
    "csl": ReferenceFile("application/vnd.citationstyles.csl+json", "csl.json", _csl_text),
}


def page_address(request: HttpRequest) -> str:
    """Return the absolute address of what a page shows, with the choices of its reader."""
    query = link(request.GET, format=None, table=None).removeprefix("?")
    return request.build_absolute_uri(f"{request.path}?{query}" if query else request.path)


def page_reference(request: HttpRequest, key: str, title: str, details: str = "") -> Reference:
    """Return how a page is cited whose rows may change."""
    today = timezone.now().date()
    return Reference(f"clozeboard-{key}", title, details, page_address(request), accessed=today)


def reference_response(request: HttpRequest, reference: Reference) -> HttpResponse | None:
    """Return the reference in the format that the query string names; None if it names no format of references."""
    if (chosen := FILES.get(request.GET.get("format", ""))) is None:
        return None
    headers = {"Content-Disposition": f'attachment; filename="{reference.key}.{chosen.suffix}"'}
    content_type = f"{chosen.content_type}; charset=utf-8"
    return HttpResponse(f"{chosen.text(reference)}\n", content_type=content_type, headers=headers)


def latex_response(request: HttpRequest, table: Table[Any], reference: Reference | None) -> HttpResponse:
    """Return a table of a page as LaTeX, with its address and the day in the caption."""
    today = timezone.now().date()
    source = reference.text if reference else f"{SITE}, {page_address(request)}, accessed {today:%Y-%m-%d}"
    text = latex_table(table, request.GET, source)
    headers = {"Content-Disposition": f'attachment; filename="clozeboard-{table.name}.tex"'}
    return HttpResponse(text, content_type=LATEX_TYPE, headers=headers)


def named_table(tables: Sequence[Table[Any]], name: str) -> Table[Any] | None:
    """Return the table of this name, the first one without a name, None if there is none."""
    return next((table for table in tables if name in ("", table.name)), None)
