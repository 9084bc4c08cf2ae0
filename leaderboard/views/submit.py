"""/submit/ : take a model id, a benchmark and options of its probe; go to the page of the submission."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from leaderboard.intake import hub, requests
from leaderboard.intake.quotas import OverQuota
from leaderboard.models import Submission
from leaderboard.views.forms import SubmitForm
from leaderboard.views.page import submitter
from probing.errors import ProbingError


def submit_view(request: HttpRequest) -> HttpResponse:
    looking = "look" in request.POST  # at the options of another benchmark, without JavaScript
    initial = {**request.GET.dict(), **request.POST.dict()}
    form = SubmitForm(None if looking else request.POST or None, initial=initial)
    try:
        if form.is_valid():
            return redirect("submission", _submit(request, form).token)
        status = 422 if form.errors else 200
    except ProbingError as error:
        form.add_error(None, str(error))
        status = 429 if isinstance(error, OverQuota) else 422 if error.permanent else 503
    return render(request, "submit.html", {"form": form, "local": hub.local_ids()}, status=status)


def _submit(request: HttpRequest, form: SubmitForm) -> Submission:
    model, benchmark = form.cleaned_data["model"], form.cleaned_data["benchmark"]
    return requests.receive(model, benchmark, form.chosen(), submitter=submitter(request))
