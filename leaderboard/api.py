"""/api/v1/ : the same lists as the pages, as JSON. Fields are only ever added."""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from leaderboard import benchmarks, items, queries
from leaderboard.forms import ItemsForm
from leaderboard.models import Benchmark, Model, Run, Score
from leaderboard.standings import LeaderboardFilter, Standing, leaderboard
from leaderboard.submissions import submit
from leaderboard.tables import page_number
from leaderboard.views.leaderboard import read_filter
from leaderboard.views.submit import submitter
from probing.errors import BadInput, ProbingError

Json = dict[str, Any]
View = Callable[..., Json]
ITEMS = 200  # a page


def answers(view: View) -> Callable[..., JsonResponse]:
    """A view that returns a dict, as JSON; every error has the one shape {"error": {code, message, next_step}}."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> JsonResponse:
        try:
            return JsonResponse(view(request, *args, **kwargs))
        except Http404 as error:
            return problem(404, "not-found", str(error), "See /api/ for what there is.")
        except ProbingError as error:
            return problem(400 if error.permanent else 503, error.code, error.message, error.next_step)

    return wrapped


def problem(status: int, code: str, message: str, next_step: str = "") -> JsonResponse:
    return JsonResponse({"error": {"code": code, "message": message, "next_step": next_step}}, status=status)


@require_GET
@answers
def leaderboard_json(request: HttpRequest) -> Json:
    """The rows of the leaderboard in its order, with the filters of the page."""
    benchmarks = list(queries.benchmarks())
    slug = request.GET.get("benchmark", benchmarks[0].slug if benchmarks else "")
    benchmark = get_object_or_404(Benchmark, slug=slug, current=True)
    asked: LeaderboardFilter = read_filter(request.GET, benchmark, queries.slices(benchmark))
    return {"benchmark": about_benchmark(benchmark), "rows": [standing(row) for row in leaderboard(asked).standings]}


def standing(row: Standing) -> Json:
    return {
        "rank": {"best": row.rank.best, "worst": row.rank.worst} if row.rank else None,
        "run": row.run.pk,
        "model": about_model(row.run.model),
        "score": about_score(row.main) if row.main else None,
        "sem": row.spread,
        "slices": [about_score(score) for part, score in row.scores.items() if part != queries.OVERALL],
        "settings": row.run.settings,
        "provenance": row.run.provenance,
        "reference": row.run.reference,
        "finished": row.run.finished,
    }


def about_model(model: Model) -> Json:
    names = ("hub_id", "commit", "kind", "parameters", "architecture", "licence", "source")
    return {name: getattr(model, name) for name in names}


def about_benchmark(benchmark: Benchmark) -> Json:
    names = ("slug", "version", "digest", "title", "probe", "licence", "source", "citation", "relations", "items")
    return {name: getattr(benchmark, name) for name in names}


def about_score(score: Score) -> Json:
    return {name: getattr(score, name) for name in ("metric", "dimension", "group", "value", "n", "low", "high")}


def about_run(run: Run) -> Json:
    names = ("state", "provenance", "reference", "settings", "code", "message", "next_step")
    times = ("created", "started", "finished")
    return {
        "run": run.pk,
        "model": about_model(run.model),
        "benchmark": {"slug": run.benchmark.slug, "version": run.benchmark.version},
        **{name: getattr(run, name) for name in (*names, *times)},
    }


@require_GET
@answers
def models_json(request: HttpRequest) -> Json:
    return {"models": [about_model(model) for model in Model.objects.order_by("hub_id", "pk")]}


@require_GET
@answers
def benchmarks_json(request: HttpRequest) -> Json:
    return {"benchmarks": [about_benchmark(benchmark) for benchmark in queries.benchmarks()]}


@require_GET
@answers
def runs_json(request: HttpRequest) -> Json:
    """Runs, the newest first; `model`, `benchmark` and `state` narrow them."""
    names = {"model": "model__hub_id", "benchmark": "benchmark__slug", "state": "state"}
    wanted = {field: request.GET[name] for name, field in names.items() if request.GET.get(name)}
    runs = Run.objects.filter(**wanted).select_related("model", "benchmark").order_by("-pk")
    number = page_number(request.GET.get("page", ""), runs.count(), ITEMS)
    return {"page": number, "runs": [about_run(run) for run in runs[(number - 1) * ITEMS : number * ITEMS]]}


def _run(pk: int) -> Run:
    return get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk)


@require_GET
@answers
def run_json(request: HttpRequest, pk: int) -> Json:
    """A run with its provenance record, its progress and its history."""
    run = _run(pk)
    done = queries.progress(run)
    return {
        **about_run(run),
        "progress": {"done": done.done, "total": done.total},
        "provenance_record": run.provenance_record,
        "events": list(run.events.values("time", "state", "message")),
    }


@require_GET
@answers
def scores_json(request: HttpRequest, pk: int) -> Json:
    return {"run": pk, "scores": [about_score(score) for score in _run(pk).scores.order_by("pk")]}


@require_GET
@answers
def items_json(request: HttpRequest, pk: int) -> Json:
    """One page of the items that pass the filters of the page."""
    run = _run(pk)
    numbers = items.find(run, ItemsForm(request.GET, run=run, columns=items.names(run)).filter())
    page = page_number(request.GET.get("page", ""), len(numbers), ITEMS)
    shown = numbers[(page - 1) * ITEMS : page * ITEMS]
    return {"run": pk, "found": len(numbers), "page": page, "items": list(items.rows(run, shown, None))}


@csrf_exempt
@require_POST
@answers
def submit_json(request: HttpRequest) -> Json:
    """What came of a submission: the checks, and the run that measures the model."""
    asked = _body(request)
    benchmark = benchmarks.current(str(asked.get("benchmark", "starter")))
    settings = benchmark.settings_with(asked.get("options", {}))
    done = submit(str(asked["model"]), benchmark.slug, settings=settings, submitter=submitter(request))
    checks = [{"name": c.name, "state": c.state, "message": c.message, "next_step": c.next_step} for c in done.checks]
    return {"run": done.run.pk if done.run else None, "duplicate": done.duplicate_of is not None, "checks": checks}


def _body(request: HttpRequest) -> Json:
    try:
        asked = json.loads(request.body)
    except ValueError:
        asked = None
    if request.content_type != "application/json" or not isinstance(asked, dict) or "model" not in asked:
        raise BadInput(
            "The body is not a JSON object with a model.",
            'Send {"model": "org/name", "benchmark": "starter"} as application/json.',
        )
    if not isinstance(asked.get("options", {}), dict):
        raise BadInput("The options are not a JSON object.", 'Write them as {"prompting": "few-shot"}.')
    return asked


@csrf_exempt
def no_such_route(request: HttpRequest, rest: str) -> JsonResponse:
    return problem(404, "not-found", f"/api/v1/{rest} is not a route.", "See /api/ for what there is.")
