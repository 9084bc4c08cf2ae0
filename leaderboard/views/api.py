"""/api/v1/ : the same lists as the pages, as JSON. Fields are only ever added."""

from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any

from django.db.models import Q
from django.http import Http404, HttpRequest, JsonResponse, QueryDict
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt

from leaderboard.display.tables import page_number
from leaderboard.intake import requests
from leaderboard.intake.quotas import OverQuota
from leaderboard.lists import runs as run_lists
from leaderboard.lists.facets import FACETS
from leaderboard.lists.progress import progress
from leaderboard.lists.published import differs, published_version
from leaderboard.lists.scores import OVERALL, Slice
from leaderboard.lists.standings import Rank, Standing, leaderboard
from leaderboard.models import Benchmark, Model, Remeasurement, Run, RunRank, Score, Submission
from leaderboard.models.benchmark import named
from leaderboard.probe_pages.filters import offered_slices, read_filter
from leaderboard.serving.errors import problem, with_retry_after
from leaderboard.serving.json_bodies import read_object
from leaderboard.stored import benchmarks, item_rows
from leaderboard.stored.item_rows import ItemFilter
from leaderboard.stored.smallest_differences import shown_difference
from leaderboard.views.forms import ItemsForm
from leaderboard.views.page import submitter
from leaderboard.views.submission import submission_of, unlisted
from probing.analysis.accuracy import SCORE_COLUMNS
from probing.errors import BadInput, ProbingError

Json = dict[str, Any]
View = Callable[..., Json]
ENTRIES_PER_PAGE = 200  # runs or items
READ = ("GET", "HEAD")
SUBMISSION: Mapping[str, type] = {
    "model": str,
    "benchmark": str,
    "benchmarks": list,
    "revisions": list,
    "options": dict,
}
UNKNOWN_NAMED = 10  # unknown keys that an error names
OPTIONS_HELP = (
    'Write model and benchmark as texts, benchmarks and revisions as lists, options as {"prompting": "few-shot"}.'
)
SEE = "See /api/ for all routes."


def answers(*methods: str, status: int = 200) -> Callable[[View], Callable[..., JsonResponse]]:
    """Return a decorator for views that return a dict: it makes a JSON response, and JSON of every error.

    Every error has the form {"error": {code, message, next_step}}. No CSRF token is needed, as the API uses no cookies.
    """

    def decorate(view: View) -> Callable[..., JsonResponse]:
        @wraps(view)
        def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> JsonResponse:
            if request.method not in methods:
                return not_allowed(request, methods)
            try:
                return JsonResponse(view(request, *args, **kwargs), status=status)
            except Http404 as error:
                return problem(404, "not-found", str(error), SEE)
            except ProbingError as error:
                response = problem(error_status(error), error.code, error.message, error.next_step)
                return with_retry_after(response, error)

        return csrf_exempt(wrapped)

    return decorate


def error_status(error: ProbingError) -> int:
    if isinstance(error, OverQuota):
        return 429
    return 400 if error.permanent else 503


def not_allowed(request: HttpRequest, methods: Collection[str]) -> JsonResponse:
    message = f"{request.path} does not answer {request.method}, only {' and '.join(methods)}."
    response = problem(405, "method-not-allowed", message, SEE)
    response["Allow"] = ", ".join(methods)
    return response


def one_of(name: str, value: str | None, choices: Collection[str]) -> None:
    """Raise `BadInput` if a value is not among the choices.

    A page says which filters it left out; a program would take the rows without the filter for those it asked for.
    """
    if value and value not in choices:
        next_step = f"Choose from: {', '.join(choices)}." if choices else "There are none yet."
        raise BadInput(f"There is no {name} {value!r} here.", next_step)


@answers(*READ)
def leaderboard_json(request: HttpRequest) -> Json:
    """Return the rows of the leaderboard in its order, with the filters of the page."""
    benchmarks = list(run_lists.benchmarks())
    name = request.GET.get("benchmark", benchmarks[0].name if benchmarks else "")
    benchmark = Benchmark.objects.filter(named(name), current=True).first()
    if benchmark is None:
        raise Http404(f"There is no benchmark {name!r}.")
    slices = offered_slices(benchmark)
    _refuse_unknown(request.GET, slices)
    standings = leaderboard(read_filter(request.GET, benchmark, slices)).standings
    version = published_version(benchmark)
    published = run_lists.finished_runs(version).order_by("model__hub_id", "pk") if version else []
    return {
        "benchmark": about_benchmark(benchmark),
        "rows": [standing(row) for row in standings],
        "published": [about_published(run) for run in published],
    }


def _refuse_unknown(query: QueryDict, slices: list[Slice]) -> None:
    for facet in FACETS:
        one_of(facet.name, query.get(facet.name), facet.choices)
    one_of("published", query.get("published"), ["ranked"])
    for text in query.getlist("columns"):
        one_of("column", text, [str(part) for part in slices])


def standing(row: Standing) -> Json:
    return {
        "rank": about_rank(row.rank) if row.rank else None,
        "group": row.run.settings_group,
        "run": row.run.pk,
        "model": about_model(row.run.model),
        "score": about_score(row.main) if row.main else None,
        "common": [about_common(rank) for rank in row.stored_ranks.values()],
        "sem": row.spread,
        "slices": [about_score(score) for part, score in row.scores.get(row.metric, {}).items() if part != OVERALL],
        "settings": row.run.settings,
        "provenance": row.run.provenance,
        "reference": row.run.reference,
        "finished": row.run.finished,
    }


def about_published(run: Run) -> Json:
    """Describe published figures that share nothing with the rows; their scores are those of the run."""
    return {
        "run": run.pk,
        "model": about_model(run.model),
        "settings": run.settings,
        "reference": run.reference,
        "differs": differs(run),
    }


def about_rank(rank: Rank) -> Json:
    return {"best": rank.best, "worst": rank.worst, "by_intervals": rank.by_intervals}


def about_common(rank: RunRank) -> Json:
    """Return a run's figure on the items that are common to all ranked runs of its group, and the number of its own."""
    return {name: getattr(rank, name) for name in ("metric", "value", "low", "high", "n", "counted", "best", "worst")}


def about_model(model: Model) -> Json:
    names = ("hub_id", "commit", "revision", "step", "tokens", "adapter_commit", "kind", "parameters", "architecture")
    return {name: getattr(model, name) for name in (*names, "licence", "source", "quantisation")}


def about_benchmark(benchmark: Benchmark) -> Json:
    names = ("name", "slug", "version", "digest", "title", "probe", "licence", "source", "citation")
    facts = {name: getattr(benchmark, name) for name in (*names, "relations", "items")}
    return {**facts, "smallest_difference": shown_difference(benchmark) or None}


def about_score(score: Score) -> Json:
    return {name: getattr(score, name) for name in SCORE_COLUMNS} | {"n": score.n or None}


def about_run(run: Run) -> Json:
    names = ("state", "provenance", "reference", "settings", "code", "message", "next_step")
    times = ("created", "started", "finished")
    return {
        "run": run.pk,
        "model": about_model(run.model),
        "benchmark": {name: getattr(run.benchmark, name) for name in ("name", "slug", "version", "probe")},
        **{name: getattr(run, name) for name in (*names, *times)},
    }


def about_remeasurement(remeasurement: Remeasurement | None) -> Json | None:
    """Describe the newest second measurement of a run, None if there is none."""
    names = ("time", "device", "first_device", "parts", "items", "changed", "share", "largest")
    return {name: getattr(remeasurement, name) for name in names} if remeasurement else None


@answers(*READ)
def models_json(request: HttpRequest) -> Json:
    return {"models": [about_model(model) for model in Model.objects.order_by("hub_id", "pk")]}


@answers(*READ)
def benchmarks_json(request: HttpRequest) -> Json:
    return {"benchmarks": [about_benchmark(benchmark) for benchmark in run_lists.benchmarks()]}


@answers(*READ)
def runs_json(request: HttpRequest) -> Json:
    """Return the runs, the newest first; `model`, `benchmark`, `probe` and `state` narrow them."""
    one_of("state", request.GET.get("state"), Run.State.values)
    boards = list(Benchmark.objects.order_by("slug", "-main", "probe"))
    benchmark = request.GET.get("benchmark", "")
    one_of("benchmark", benchmark, list(dict.fromkeys(board.name for board in boards)))
    one_of("probe", request.GET.get("probe"), list(dict.fromkeys(board.probe for board in boards)))
    names = {"model": "model__hub_id", "probe": "benchmark__probe", "state": "state"}
    conditions = {field: request.GET[name] for name, field in names.items() if request.GET.get(name)}
    on_benchmark = named(benchmark, "benchmark__") if benchmark else Q()
    runs = Run.objects.filter(on_benchmark, **conditions).select_related("model", "benchmark").order_by("-pk")
    page, entries = page_of(request.GET, runs.count())
    return {"page": page, "runs": [about_run(run) for run in runs[entries]]}


def page_of(query: QueryDict, number_of_entries: int) -> tuple[int, slice]:
    """Return the number of the page that the query string asks for, and the slice with its entries."""
    page = page_number(query.get("page", ""), number_of_entries, ENTRIES_PER_PAGE)
    return page, slice((page - 1) * ENTRIES_PER_PAGE, page * ENTRIES_PER_PAGE)


def _find_run(pk: int) -> Run:
    run = Run.objects.select_related("model", "benchmark").filter(pk=pk).first()
    if run is None:
        raise Http404(f"There is no run {pk}.")
    return run


@answers(*READ)
def run_json(request: HttpRequest, pk: int) -> Json:
    """Return a run with its provenance record, its progress and its history."""
    run = _find_run(pk)
    done = progress(run)
    return {
        **about_run(run),
        "progress": {"done": done.done, "total": done.total},
        "provenance_record": run.provenance_record,
        "remeasured": about_remeasurement(run.remeasurements.first()),
        "events": list(run.events.values("time", "state", "message")),
    }


@answers(*READ)
def scores_json(request: HttpRequest, pk: int) -> Json:
    return {"run": pk, "scores": [about_score(score) for score in _find_run(pk).scores.order_by("pk")]}


@answers(*READ)
def items_json(request: HttpRequest, pk: int) -> Json:
    """Return a page of the items that pass the same filters as on the HTML page."""
    run = _find_run(pk)
    numbers = item_rows.find(run, _filter(ItemsForm(request.GET, run=run, values=item_rows.ends(run))))
    page, entries = page_of(request.GET, len(numbers))
    items = list(item_rows.rows(run, numbers[entries]))
    return {"run": pk, "found": len(numbers), "page": page, "items": items}


def _filter(form: ItemsForm) -> ItemFilter:
    conditions = form.filter()
    for name, (message, *_) in form.errors.items():
        one_of(name, form.data[name], [value for value, _ in getattr(form.fields[name], "choices", ()) if value])
        raise BadInput(f"{name}: {message}", "Change this parameter, or leave it out.")
    return conditions


@answers("POST", status=202)
def submit_json(request: HttpRequest) -> Json:
    """Store a submission; its model is checked soon. A known duplicate has its run already."""
    body = _body(request)
    chosen = [benchmarks.current(name) for name in _benchmark_names(body)]
    revisions, options = _revisions(body), body.get("options", {})
    submitted = requests.receive_all(body["model"], chosen, options, revisions=revisions, submitter=submitter(request))
    answers = [about_submission(request, submission) for submission in submitted]
    return {"submissions": answers} if {"benchmarks", "revisions"} & set(body) else answers[0]


def _revisions(body: Json) -> list[str]:
    revisions = body.get("revisions", [])
    if not all(isinstance(name, str) for name in revisions):
        raise BadInput("The revisions of a submission are a list of names.", 'Write them as ["step1000", "step2000"].')
    return [name.strip() for name in revisions]


def _benchmark_names(body: Json) -> list[str]:
    """Return the names of the benchmarks of a submission, in its order and each once."""
    if "benchmarks" not in body:
        return [body.get("benchmark", "starter")]
    names = body["benchmarks"]
    if "benchmark" in body or not names or not all(isinstance(name, str) for name in names):
        raise BadInput("The benchmarks of a submission are a list of names.", "Send benchmark or benchmarks, not both.")
    return list(dict.fromkeys(names))


@unlisted
@answers(*READ)
def submission_json(request: HttpRequest, token: str) -> Json:
    """Return a submission with its checks so far."""
    return about_submission(request, submission_of(token))


@unlisted
@answers("POST")
def cancel_json(request: HttpRequest, token: str) -> Json:
    """Withdraw a submission, and cancel its run if nobody else submitted the same."""
    submission = submission_of(token)
    requests.withdraw(submission)
    return about_submission(request, submission)


@unlisted
@answers("POST")
def retry_json(request: HttpRequest, token: str) -> Json:
    """Try a run again that failed or was cancelled, or check a model again."""
    submission = submission_of(token)
    requests.retry(submission)
    return about_submission(request, submission)


def about_submission(request: HttpRequest, submission: Submission) -> Json:
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


def _body(request: HttpRequest) -> Json:
    """Return the submission that a request contains: its model, and perhaps a benchmark and options."""
    example = 'Send {"model": "org/name", "benchmark": "starter"} as application/json.'
    body = read_object(request)
    if unknown := [f"{name[:100]!a}" for name in body if name not in SUBMISSION]:
        raise BadInput(
            f"A submission has no {', '.join(unknown[:UNKNOWN_NAMED])}.", f"It has: {', '.join(SUBMISSION)}."
        )
    if "model" not in body:
        raise BadInput("The body does not name a model.", example)
    for name, value in body.items():
        if not isinstance(value, SUBMISSION[name]):
            raise BadInput(f"The {name} of a submission must not be {ascii(value)[:100]}.", OPTIONS_HELP)
    return body


@csrf_exempt
def no_such_route(request: HttpRequest, rest: str = "") -> JsonResponse:
    return problem(404, "not-found", f"/api/v1/{rest} is not a route.", SEE)
