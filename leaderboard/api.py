"""/api/v1/ : submissions, runs with their scores and items, benchmarks and models as JSON, and one shape for errors.

A view returns its answer, or raises what is wrong. Tables have addresses of their own (`format=json`), so that what the
API had of them answers with the address of the table.
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from typing import Any, Self
from urllib.parse import quote

from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.http.request import UnreadablePostError
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, ValidationError, model_validator

from leaderboard.figures import benchmarks, item_rows
from leaderboard.figures import runs as run_lists
from leaderboard.figures.progress import progress
from leaderboard.figures.ranks import shown_difference
from leaderboard.figures.scores import main_scores
from leaderboard.intake import submissions
from leaderboard.intake.quotas import OverQuota
from leaderboard.models import Benchmark, Model, Run, Submission
from leaderboard.pages.items_page import ItemsForm
from leaderboard.pages.submission_page import submission_of, unlisted
from leaderboard.serving.errors import API, TOO_LARGE, problem, read_object, too_large, with_retry_after
from leaderboard.serving.limits import client_address
from leaderboard.serving.page_cache import kept
from leaderboard.tables import tidy_row
from probing.errors import BadInput, ProbingError
from probing.files.folders import space

Json = dict[str, Any]
View = Callable[..., HttpResponseBase]
READ, SEND = ("GET", "HEAD"), ("POST",)
SEE = "See /api/ for all routes."
LOOK_AGAIN = 5  # seconds after which what goes on is worth another look
ITEMS_PER_PAGE = 200
LONGEST_NUMBER = 18  # digits of a number that the database can have
UNKNOWN_NAMED = 10  # unknown keys that an error names
DEFAULT = "starter"

MODEL = (
    *("hub_id", "commit", "revision", "step", "tokens", "adapter_commit", "kind", "parameters", "active_parameters"),
    *("hub_created", "architecture", "licence", "source", "quantisation"),
)
BENCHMARK_NAME = ("name", "slug", "version", "probe")
BENCHMARK = ("name", "slug", "version", "digest", "title", "probe", "licence", "source", "citation")
RUN = ("state", "provenance", "reference", "settings", "code", "message", "next_step", "created", "started", "finished")


def fields(row: object, names: Sequence[str]) -> Json:
    return {name: getattr(row, name) for name in names}


def documentation_view(request: HttpRequest) -> HttpResponse:
    """Show /api/, which says what programs can ask for."""
    context = {"base": request.build_absolute_uri(API), "board": request.build_absolute_uri(reverse("board"))}
    return render(request, "api.html", context)


# What all routes share: methods and errors.


def answering(*methods: str) -> Callable[[View], View]:
    """Return a decorator for a route that takes these methods and whose errors have one shape."""

    def decorate(view: View) -> View:
        @csrf_exempt
        @wraps(view)
        def answered(request: HttpRequest, **values: Any) -> HttpResponseBase:
            if request.method not in methods:
                return not_allowed(request, methods)
            try:
                with space("what was sent"):
                    return view(request, **values)
            except ProbingError as error:
                return refused(error)
            except Http404 as error:
                return problem(404, "not-found", str(error), SEE)
            except (SuspiciousOperation, UnreadablePostError) as error:
                unread = problem(400, "bad-input", "The body of this request cannot be read.", SEE)
                return too_large(request) if isinstance(error, TOO_LARGE) else unread

        return answered

    return decorate


def not_allowed(request: HttpRequest, methods: Collection[str]) -> JsonResponse:
    message = f"{request.path} does not answer {request.method}, only {' and '.join(methods)}."
    response = problem(405, "method-not-allowed", message, SEE)
    response["Allow"] = ", ".join(methods)
    return response


def refused(error: ProbingError) -> HttpResponse:
    status = 429 if isinstance(error, OverQuota) else 400 if error.permanent else 503
    return with_retry_after(problem(status, error.code, error.message, error.next_step), error)


def unfiltered(view: View) -> View:
    """Refuse parameters, of which these routes have none."""

    @wraps(view)
    def answered(request: HttpRequest, **values: Any) -> HttpResponseBase:
        refuse_unknown([name for name, value in request.GET.items() if value], [])
        return view(request, **values)

    return answered


def refuse_unknown(unknown: Collection[str], names: Collection[str]) -> None:
    """Raise `BadInput` with the names of unknown parameters, if there are any, and those that there are."""
    if unknown:
        next_step = f"It has: {', '.join(names)}." if names else "It has none."
        raise BadInput(f"This route has no parameter {_listed(unknown)}.", next_step)


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"{name[:100]!a}" for name in list(names)[:UNKNOWN_NAMED])


def followed(answer: Mapping[str, Any], *, ended: bool) -> JsonResponse:
    """Return an answer that says with `Retry-After` when to look again, unless nothing will change any more."""
    return JsonResponse(answer, headers={} if ended else {"Retry-After": str(LOOK_AGAIN)})


@csrf_exempt
def no_such_route(request: HttpRequest, rest: str = "") -> JsonResponse:
    return problem(404, "not-found", f"/api/v1/{rest} is not a route.", SEE)


@csrf_exempt
def gone_view(request: HttpRequest, instead: str, **parts: str) -> JsonResponse:
    """Say where that is now which a route of former versions had; a table keeps the choices of the request."""
    address = instead.format(**{name: quote(part, safe="/+") for name, part in parts.items()})
    query = request.GET.copy()
    for name in ("page", "cursor", "format"):
        query.pop(name, None)
    if "?" in address and query:
        address = f"{address}&{query.urlencode()}"
    return problem(410, "gone", f"{request.path} is gone.", f"Ask for {request.build_absolute_uri(address)}")


@csrf_exempt
def no_results_view(request: HttpRequest, rest: str = "") -> JsonResponse:
    message = "This site no longer takes results from programs."
    return problem(410, "gone", message, "Its operator imports them: manage.py import_result FOLDER.")


# Models, benchmarks and runs.


@answering(*READ)
@kept
@unfiltered
def models_view(request: HttpRequest) -> JsonResponse:
    """Return every model at every commit."""
    return JsonResponse({"models": [fields(model, MODEL) for model in Model.objects.order_by("hub_id", "pk")]})


@answering(*READ)
@kept
@unfiltered
def benchmarks_view(request: HttpRequest) -> JsonResponse:
    """Return every benchmark in its current version, once for each probe."""
    return JsonResponse({"benchmarks": [benchmark_facts(benchmark) for benchmark in run_lists.benchmarks()]})


def benchmark_facts(benchmark: Benchmark) -> Json:
    counts = {"relations": benchmark.relations, "items": benchmark.items}
    return {**fields(benchmark, BENCHMARK), **counts, "smallest_difference": shown_difference(benchmark) or None}


@answering(*READ)
@unfiltered
def run_view(request: HttpRequest, run: int) -> JsonResponse:
    """Return a run with its progress, its history, and the record of how it was measured."""
    stored_run = find_run(run)
    done = progress(stored_run)
    score = main_scores([stored_run]).get(run)
    answer = {
        "run": run,
        "model": fields(stored_run.model, MODEL),
        "benchmark": fields(stored_run.benchmark, BENCHMARK_NAME),
        **fields(stored_run, RUN),
        "score": tidy_row(score) if score else None,
        "progress": {"done": done.done, "total": done.total},
        "provenance_record": stored_run.provenance_record,
        "events": list(stored_run.events.values("time", "state", "message")),
    }
    return followed(answer, ended=stored_run.state in Run.FINAL)


@answering(*READ)
@kept
@unfiltered
def scores_view(request: HttpRequest, run: int) -> JsonResponse:
    """Return the scores of a run: one for each metric and group."""
    return JsonResponse({"run": run, "scores": [tidy_row(score) for score in find_run(run).scores.order_by("pk")]})


@answering(*READ)
@kept
def items_view(request: HttpRequest, run: int) -> JsonResponse:
    """Return a page of the items of a run that pass the same filters as on its page.

    `next` goes on behind the last entry, so that whoever follows it meets every item once.
    """
    stored_run = find_run(run)
    form = ItemsForm(request.GET, run=stored_run, values=item_rows.ends(stored_run))
    names = [*form.fields, "page", "cursor"]
    refuse_unknown([name for name in request.GET if name not in names], names)
    numbers = item_rows.find(stored_run, chosen_items(form))
    start = start_of_page(request, numbers)
    shown = numbers[start : start + ITEMS_PER_PAGE]
    further = next_address(request, shown[-1]) if start + ITEMS_PER_PAGE < len(numbers) else None
    page = {"page": start // ITEMS_PER_PAGE + 1, "next": further}
    items = list(item_rows.rows(stored_run, shown))
    return JsonResponse({**page, "run": run, "found": len(numbers), "items": items})


def find_run(pk: int) -> Run:
    run = Run.objects.select_related("model", "benchmark").filter(pk=pk).first()
    if run is None:
        raise Http404(f"There is no run {pk}.")
    return run


def chosen_items(form: ItemsForm) -> item_rows.ItemFilter:
    """Return the filter; a page says which values it left out, and a program would take the rows for those it wants."""
    conditions = form.filter()
    for name, (message, *_) in form.errors.items():
        choices = [value for value, _ in getattr(form.fields[name], "choices", ()) if value]
        if choices and form.data[name] not in choices:
            raise BadInput(f"There is no {name} {form.data[name]!r} here.", f"Choose from: {', '.join(choices)}.")
        raise BadInput(f"{name}: {message}", "Change this parameter, or leave it out.")
    return conditions


def start_of_page(request: HttpRequest, numbers: Sequence[int]) -> int:
    """Return the place of the first item of the page that a request asks for, by its number or by a cursor."""
    page, cursor = request.GET.get("page", ""), request.GET.get("cursor", "")
    if page and cursor:
        raise BadInput("The request has a page and a cursor.", "Send one of them.")
    if cursor:
        if not _is_number(cursor):
            raise BadInput(f"There is no entry {cursor!r:.200} to go on from.", "Begin again without cursor.")
        return bisect_right(numbers, int(cursor))
    if page and not (page.isascii() and page.isdecimal() and int(page)):
        raise BadInput("page: It has to be a number from 1.", "Change this parameter, or leave it out.")
    last = max(len(numbers) - 1, 0) // ITEMS_PER_PAGE
    return min(int(page or 1) - 1, last) * ITEMS_PER_PAGE


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER


def next_address(request: HttpRequest, last: int) -> str:
    query = request.GET.copy()
    query.pop("page", None)
    query["cursor"] = str(last)
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")


# Submissions. Who knows the secret of one may cancel it and try it again.


class SubmissionBody(BaseModel):
    """A model that is to be measured."""

    model_config = ConfigDict(extra="forbid", strict=True)

    model: str
    benchmark: str = ""
    benchmarks: list[str] | None = None
    revisions: list[str] = []
    options: dict[str, Any] = {}

    @model_validator(mode="after")
    def _one_kind_of_benchmarks(self) -> "SubmissionBody":
        if self.benchmarks is not None and (self.benchmark or not self.benchmarks):
            message = "The benchmarks of a submission are a list of names. Send benchmark or benchmarks, not both."
            raise BadInput(message, f"Write it as {EXAMPLE}.")
        return self

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls, values: Json, read: ModelWrapValidatorHandler[Self]) -> Self:
        """Refuse an object with an error that names every unknown key, or else what is wrong."""
        try:
            return read(values)
        except ValidationError as error:
            raise misread(values, error, list(cls.model_fields)) from error

    @property
    def names(self) -> list[str]:
        """The names of the benchmarks, in their order and each once."""
        return list(dict.fromkeys(self.benchmarks or [self.benchmark or DEFAULT]))


EXAMPLE = '{"model": "org/name", "benchmarks": ["starter"], "options": {"sample": 20}}'


def misread(values: Json, error: ValidationError, names: Sequence[str]) -> BadInput:
    problems = error.errors(include_url=False)
    if unknown := [str(one["loc"][0]) for one in problems if one["type"] == "extra_forbidden"]:
        return BadInput(f"A submission has no {_listed(unknown)}.", f"It has: {', '.join(names)}.")
    name = str(problems[0]["loc"][0])
    if problems[0]["type"] == "missing":
        return BadInput(f"The body has no {name}.", f"Send {EXAMPLE} as application/json.")
    message = f"The {name} of a submission must not be {ascii(values[name])[:100]}."
    return BadInput(message, f"Write it as {EXAMPLE}.")


@answering(*SEND)
def submit_view(request: HttpRequest) -> JsonResponse:
    """Take a submission, or one for each benchmark and revision of a list. The model is checked soon.

    Submissions count towards the limits of the address from which they come.
    """
    body = SubmissionBody.model_validate(read_object(request))
    submitted = submissions.receive_all(
        body.model,
        [benchmarks.current(name) for name in body.names],
        body.options,
        revisions=[name.strip() for name in body.revisions],
        submitter=client_address(request),
    )
    answers = [submission_facts(request, submission) for submission in submitted]
    is_list = {"benchmarks", "revisions"} & body.model_fields_set
    return JsonResponse({"submissions": answers} if is_list else answers[0], status=202)


@unlisted
@answering(*READ)
@unfiltered
def submission_view(request: HttpRequest, secret: str) -> JsonResponse:
    """Return a submission: its state, its checks so far, and its run once it has one."""
    submission = submission_of(secret)
    return followed(submission_facts(request, submission), ended=submission.state not in Submission.PENDING)


@unlisted
@answering(*SEND)
def cancel_view(request: HttpRequest, secret: str) -> JsonResponse:
    """Withdraw a submission, and cancel its run if nobody else submitted the same."""
    submission = submission_of(secret)
    submissions.withdraw(submission)
    return JsonResponse(submission_facts(request, submission))


@unlisted
@answering(*SEND)
def retry_view(request: HttpRequest, secret: str) -> JsonResponse:
    """Try a run again that failed or was cancelled, or check a model again that was refused or withdrawn."""
    submission = submission_of(secret)
    submissions.retry(submission)
    return JsonResponse(submission_facts(request, submission))


def submission_facts(request: HttpRequest, submission: Submission) -> Json:
    return {
        "submission": submission.token,
        "model": submission.model_id,
        "revision": submission.revision,
        "benchmark": submission.benchmark.name,
        "url": request.build_absolute_uri(reverse("submission", args=[submission.token])),
        "state": submission.state,
        "run": submission.run_id,
        "duplicate": submission.duplicate,
        "checks": submission.checks,
    }
