"""/submissions/<token>/ : the checks of a submission and its run; who has the address may cancel it or try it again."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import add_never_cache_headers

from leaderboard.intake import requests
from leaderboard.intake.quotas import PENDING
from leaderboard.lists.progress import progress
from leaderboard.lists.runs import OPEN
from leaderboard.models import Submission
from leaderboard.views.run import phases
from probing.errors import ProbingError

ResponseT = TypeVar("ResponseT", bound=HttpResponse)
ACTIONS = {"cancel": requests.withdraw, "retry": requests.retry}


def submission_of(token: str) -> Submission:
    """Return the submission with this token; raise `Http404` if there is none."""
    submission = Submission.objects.select_related("benchmark", "run__model").filter(token=token).first()
    if submission is None:
        raise Http404("There is no such submission.")
    return submission


def unlisted(view: Callable[..., ResponseT]) -> Callable[..., ResponseT]:
    """Keep the responses of a view, whose address is a secret, out of caches and search engines."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> ResponseT:
        response = view(request, *args, **kwargs)
        response["X-Robots-Tag"] = "noindex, nofollow"
        add_never_cache_headers(response)
        return response

    return wrapped


@unlisted
def submission_view(request: HttpRequest, token: str) -> HttpResponse:
    """Show a submission, or do what a button of its page asks for."""
    submission, problem = submission_of(token), None
    action = next((action for name, action in ACTIONS.items() if name in request.POST), None)
    if action:
        try:
            action(submission)
            return redirect("submission", token)
        except ProbingError as error:
            problem = error
    context = {**about(submission), "problem": problem}
    return render(request, "submission.html", context, status=409 if problem else 200)


def about(submission: Submission) -> dict[str, Any]:
    """Return what the page shows of a submission and, once it has one, of its run."""
    run = submission.run
    open_run = run is not None and run.state in OPEN
    context = {
        "submission": submission,
        "live": submission.state in PENDING or open_run,
        "can_withdraw": requests.can_withdraw(submission),
        "can_retry": requests.can_retry(submission),
        "run": run,
    }
    if run and open_run:
        context |= {"progress": progress(run), "phases": phases(run), "events": list(run.events.all())}
    return context
