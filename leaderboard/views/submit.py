"""/submit/ : take a model, benchmarks and options; show what that costs, or go to the page of the submissions."""

from datetime import timedelta
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render

from leaderboard.display import cells
from leaderboard.display.cell_markup import options_html
from leaderboard.intake import hub, requests
from leaderboard.intake.model_names import suggestions
from leaderboard.intake.quotas import OverQuota
from leaderboard.intake.submissions import usual_positions
from leaderboard.lists.pace import RecentRates, recent_rates
from leaderboard.lists.progress import expected_time, lane_now
from leaderboard.models import Benchmark
from leaderboard.serving.client import client_address
from leaderboard.serving.errors import with_retry_after
from leaderboard.views.submit_form import SubmitForm
from probing.errors import ProbingError

LANE = "default"


class Cost(NamedTuple):
    """What the runs of a benchmark would take: how long they are measured, and when their last result is there."""

    benchmark: Benchmark
    measuring: timedelta | None
    ready: timedelta | None


class Preview(NamedTuple):
    """What a submission would take: the number of its runs, how long all are measured, and the runs by benchmark."""

    runs: int
    revisions: int
    measuring: timedelta | None
    costs: list[Cost]


def submit_view(request: HttpRequest) -> HttpResponse:
    looking = "look" in request.POST  # at the options of other benchmarks, without JavaScript
    rates = recent_rates(LANE)
    form = SubmitForm(
        None if looking else request.POST or None, initial=_initial(request), minutes=lambda one: _minutes(rates, one)
    )
    preview: Preview | None = None
    problem: ProbingError | None = None
    try:
        valid = form.is_valid()
        if valid and "preview" not in request.POST:
            submitted = requests.receive_all(
                form.cleaned_data["model"],
                form.benchmarks(),
                form.chosen(),
                revisions=form.revisions_named(),
                submitter=client_address(request),
            )
            return redirect("submission", submitted[0].token)
        preview = _preview(form) if valid else None
        status = 422 if form.errors else 200
    except ProbingError as error:
        problem = error
        form.add_error(None, str(error))
        status = 429 if isinstance(error, OverQuota) else 422 if error.permanent else 503
    context = {
        "form": form,
        "local": hub.local_ids(),
        "known_models": options_html(suggestions()),
        "preview": preview,
        "limits": _limits(),
    }
    return with_retry_after(render(request, "submit.html", context, status=status), problem)


def _initial(request: HttpRequest) -> QueryDict:
    """Return what the form holds at first: what was sent, or else what the address names."""
    initial = request.GET.copy()
    for name, values in request.POST.lists():
        initial.setlist(name, values)
    return initial


def _minutes(rates: RecentRates, benchmark: Benchmark) -> str:
    """Return the time of a usual run in words, empty where it is not known."""
    time = expected_time(rates, benchmark.probe, benchmark.work) if benchmark.work else None
    return cells.about(time) if time else ""


def _preview(form: SubmitForm) -> Preview:
    """Return the time of the runs that the form asks for, at the pace of the runs that finished last."""
    _, names = requests.named_revisions(form.cleaned_data["model"], form.revisions_named())
    benchmarks, lane, number = form.benchmarks(), lane_now(LANE), len(names)
    works = [usual_positions(benchmark, form.chosen()) for benchmark in benchmarks]
    needed = [
        expected_time(lane.rates, benchmark.probe, work) for benchmark, work in zip(benchmarks, works, strict=True)
    ]
    ready = lane.ends_of_new(needed * number)[-len(needed) :]  # of the last revision
    costs = [
        Cost(benchmark, time and time * number, ready[place] if ready else None)
        for place, (benchmark, time) in enumerate(zip(benchmarks, needed, strict=True))
    ]
    times = [cost.measuring for cost in costs if cost.measuring]
    total = sum(times, timedelta()) if len(times) == len(costs) else None
    return Preview(number * len(costs), number, total, costs)


def _limits() -> list[str]:
    """Return the limits of this site in words, those that are switched off left out."""
    numbers = [
        (settings.MODEL_SIZE_LIMIT / 1e9, "A model may have {:,.0f} GB of weights."),
        (settings.SUBMISSIONS_PER_DAY, "One person may send {:,} submissions a day."),
        (settings.OPEN_RUNS_PER_SUBMITTER, "One person may have {:,} submissions that wait or run."),
        (settings.REVISIONS_LIMIT, "One submission may name {:,} revisions."),
        (settings.QUEUE_LIMIT, "The whole queue takes {:,} submissions."),
    ]
    return [words.format(number) for number, words in numbers if number]
