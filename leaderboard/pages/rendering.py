"""Functions that several pages share: references and addresses."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from leaderboard.exports.references import Reference
from leaderboard.ui.links import link

LIVE_SECONDS = 2  # for which a page with the progress of runs is kept; workers report it as often


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
