"""/suggestions/?search=… : what the search field of the header suggests while a reader types."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.probe_pages.search import pages_named


def suggestions_view(request: HttpRequest) -> HttpResponse:
    """Return the list that the field takes its suggestions from, as HTML."""
    pages = pages_named(request.GET.get("search", ""))
    return render(request, "parts/suggestions.html", {"suggestions": pages})
