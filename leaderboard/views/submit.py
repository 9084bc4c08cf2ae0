"""/submit/ : take a model id, a benchmark and options of its probe; show the checks, or go to the run."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render

from leaderboard.intake import hub
from leaderboard.intake.submissions import Submission, submit
from leaderboard.views.forms import SubmitForm
from leaderboard.views.page import submitter
from probing.errors import ProbingError


def submit_view(request: HttpRequest) -> HttpResponseBase:
    looking = "look" in request.POST  # at the options of another benchmark, without JavaScript
    initial = {**request.GET.dict(), **request.POST.dict()}
    form = SubmitForm(None if looking else request.POST or None, initial=initial)
    submission = _submit(request, form) if form.is_valid() else None
    if submission and submission.run and all(check.state == "ok" for check in submission.checks):
        return redirect(submission.run)
    context = {"form": form, "submission": submission, "local": hub.local_ids()}
    return render(request, "submit.html", context, status=200 if not form.errors else 422)


def _submit(request: HttpRequest, form: SubmitForm) -> Submission | None:
    """Return the outcome of the submission, or None where the form has an error."""
    model, benchmark = form.cleaned_data["model"], form.cleaned_data["benchmark"]
    try:
        return submit(model, benchmark, form.chosen(), submitter=submitter(request))
    except ProbingError as error:
        form.add_error(None, str(error))
        return None
