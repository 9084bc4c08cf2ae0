"""The answer to an address that does not exist: a search, and models and benchmarks with near names."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.lists.near_names import near_names
from leaderboard.serving.errors import API, problem


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request for what does not exist (handler404): JSON below /api/v1/, and a page everywhere else."""
    if request.path.startswith(API):
        return problem(404, "not-found", "There is nothing at this address.", "See /api/ for the addresses that exist.")
    return render(request, "404.html", {"near": near_names(request.path)}, status=404)
