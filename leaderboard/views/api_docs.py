"""/api/ : the routes of the API."""

from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


class Route(NamedTuple):
    """A route of the API: what it gives, and the names of its parameters."""

    method: str
    path: str
    gives: str
    asks: str = ""


ROUTES = (
    Route(
        "GET",
        "leaderboard",
        "The rows of a leaderboard, in its order.",
        "benchmark, kind, size, provenance, search, columns, published",
    ),
    Route("GET", "models", "Every model at every commit."),
    Route("GET", "benchmarks", "Every benchmark in its current version."),
    Route("GET", "runs", "Runs, the newest first, 200 per page.", "model, benchmark, state, page"),
    Route("GET", "runs/<id>", "A run: state, progress, history, provenance record."),
    Route("GET", "runs/<id>/scores", "The scores of a run: one object per metric and group."),
    Route(
        "GET",
        "runs/<id>/items",
        "The items of a run, 200 per page.",
        "correct, relation, template, search, any tag, page",
    ),
    Route("POST", "submit", "Checks a model and queues its run.", "model, benchmark, options, as a JSON body"),
)


def api_docs_view(request: HttpRequest) -> HttpResponse:
    return render(request, "api.html", {"routes": ROUTES, "base": request.build_absolute_uri("/api/v1/")})
