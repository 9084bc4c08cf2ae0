"""/submit/ : a model id and a benchmark go in; the checks, or the run, come out."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render

from leaderboard import hub
from leaderboard.forms import SubmitForm
from leaderboard.submissions import Submission, submit
from probing.errors import ProbingError


def submit_view(request: HttpRequest) -> HttpResponseBase:
    form = SubmitForm(request.POST or None, initial={key: request.GET.get(key) for key in ("model", "benchmark")})
    submission = _submit(request, form) if request.method == "POST" and form.is_valid() else None
    if submission and submission.run and all(check.state == "ok" for check in submission.checks):
        return redirect(submission.run)
    context = {"form": form, "submission": submission, "local": hub.local_ids()}
    return render(request, "submit.html", context, status=200 if not form.errors else 422)


def _submit(request: HttpRequest, form: SubmitForm) -> Submission | None:
    """What came of it; what cannot even be checked is an error of the form."""
    asked = form.cleaned_data
    try:
        return submit(asked["model"], asked["benchmark"].slug, submitter=submitter(request))
    except ProbingError as error:
        form.add_error(None, str(error))
        return None


def submitter(request: HttpRequest) -> str:
    """Whom the daily limit counts: the address that the request came from."""
    return request.META.get("REMOTE_ADDR", "")
