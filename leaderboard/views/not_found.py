"""The answers to addresses that do not exist, with a search and near names, and to those of what is no more."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.lists.near_names import near_names
from leaderboard.serving.errors import API, problem, refusal


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request for what does not exist (handler404): JSON below /api/v1/, and a page everywhere else."""
    if request.path.startswith(API):
        return problem(404, "not-found", "There is nothing at this address.", "See /api/ for the addresses that exist.")
    return render(request, "404.html", {"near": near_names(request.path)}, status=404)


def gone(request: HttpRequest, **parts: str | int) -> HttpResponse:
    """Answer a request for what this site had once and has no more, and which nothing replaces."""
    message = "This site no longer has badges and frames."
    return refusal(request, 410, "gone", message, "Link to the page of the run or benchmark; its CSV has the figures.")
