"""/runs/<id>/cite/ : how one score of a run is cited."""

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404

from leaderboard.exports.figure_references import score_reference
from leaderboard.models import Run
from leaderboard.probe_pages import pages_of
from leaderboard.views.page import show
from leaderboard.views.run import all_scores

NAMES = ("metric", "dimension", "group")


def cited_score_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show the references to the score that the query string names; each score of a run has one of its own."""
    run = get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk)
    names = {name: request.GET.get(name, "") for name in NAMES}
    if (score := run.scores.exclude(value=None).filter(**names).first()) is None:
        raise Http404(f"Run {pk} has no such score.")
    address = request.build_absolute_uri(run.get_absolute_url())
    reference = score_reference(run, pages_of(run.benchmark), score, address)
    return show(
        request, "cited_score.html", {"run": run, "cite_open": True}, [all_scores(run, [score])], reference=reference
    )
