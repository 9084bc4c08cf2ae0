"""/api/v1/models and runs : models, and runs with their history, their scores and their items.

The shapes of answers, here and in the modules beside, may only ever get more fields. A field that a row has under the
same name stands in the shape alone (`facts`).
"""

from bisect import bisect_right
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, TypeVar, cast

from django.db.models import Q
from django.http import Http404, HttpRequest, JsonResponse
from ninja import Query
from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from leaderboard.api.interface import Routes, RunNumber
from leaderboard.api.parameters import (
    PagedQuery,
    PageFacts,
    choice,
    number_in,
    one_of,
    page_of,
    page_of_rows,
    parameter_names,
    read_from,
    refuse_unknown,
)
from leaderboard.figures import item_rows
from leaderboard.figures.item_rows import ItemFilter
from leaderboard.figures.progress import progress
from leaderboard.figures.scores import main_scores
from leaderboard.models import Benchmark, Model, Run, Score
from leaderboard.models.benchmark import named
from leaderboard.pages.items_page import ItemsForm
from leaderboard.probes import pages_of
from probing.errors import BadInput

LOOK_AGAIN = 5  # seconds after which what goes on is worth another look
TAGS = {
    "name": "tags",
    "in": "query",
    "description": "A tag of the items, by its name, as in domain=Geographic.",
    "style": "form",
    "explode": True,
    "schema": {"type": "object", "additionalProperties": {"type": "string"}},
}
ShapeT = TypeVar("ShapeT")
Json = dict[str, Any]
routes = Routes()


class RunsQuery(PagedQuery):
    """What narrows the list of runs."""

    model: str = Field("", description="Id of the model at the hub, in full.")
    benchmark: str = Field("", description="Name of the benchmark.")
    probe: str = Field("", description="Name of the probe.")
    state: str = choice("State of the run.", Run.State.values)


class ItemsQuery(PagedQuery):
    """The filters of the page of items; every tag that the items have is a parameter as well."""

    model_config = ConfigDict(extra="allow")

    search: str = Field("", max_length=100, description="Part of the subject or of an answer.")
    correct: str = choice("Whether the answer is right.", ["yes", "no"])
    relation: str = Field("", description="Name of the relation.")
    template: str = Field("", description="Number of the template.")


class ModelFacts(TypedDict):
    """A language model at one commit. Texts are empty where nothing is known."""

    hub_id: str
    commit: str
    revision: str
    step: int | None
    tokens: int | None
    adapter_commit: str
    kind: str
    parameters: int | None
    active_parameters: int | None
    hub_created: date | None
    architecture: str
    licence: str
    source: str
    quantisation: str


class Models(TypedDict):
    """Every model at every commit."""

    models: list[ModelFacts]


class BenchmarkName(TypedDict):
    """What names a benchmark in one version."""

    name: str
    slug: str
    version: str
    probe: str


class ScoreFacts(TypedDict):
    """A figure in one metric and one group, with its 95 % intervals: for these relations, and for relations like these.

    `n`: the number of items behind it, which published figures may lack.
    """

    metric: str
    dimension: str
    group: str
    value: float | None
    n: float | None
    low: float | None
    high: float | None
    cluster_low: float | None
    cluster_high: float | None


class RunFacts(TypedDict):
    """A run. `code`, `message` and `next_step` say why it failed, and are empty where it did not."""

    run: int
    model: ModelFacts
    benchmark: BenchmarkName
    state: str
    provenance: str
    reference: str
    settings: Json
    code: str
    message: str
    next_step: str
    created: datetime
    started: datetime | None
    finished: datetime | None


class Runs(PageFacts):
    """A page of runs, the newest first."""

    runs: list[RunFacts]


class Done(TypedDict):
    """How many items of a run are done, and of how many."""

    done: int
    total: int


class Event(TypedDict):
    """A change of a run's state."""

    time: datetime
    state: str
    message: str


class RunInFull(RunFacts):
    """A run with its progress, its history, and the record of how it was measured, which is empty before.

    `score`: the one figure that stands for the run, as on all pages; of several pairs of cultures and languages it is
    that of the first pair, in English if that was asked.
    """

    score: ScoreFacts | None
    progress: Done
    provenance_record: Json
    events: list[Event]


class Scores(TypedDict):
    """The scores of a run: one for each metric and group."""

    run: int
    scores: list[ScoreFacts]


class Items(PageFacts):
    """A page of a run's items that pass the filters: `found` of them on all pages. The probe decides their fields."""

    run: int
    found: int
    items: list[Json]


@routes.read("models")
def models_json(request: HttpRequest) -> Models:
    """Return every model at every commit."""
    return {"models": [model_facts(model) for model in Model.objects.order_by("hub_id", "pk")]}


@routes.read("runs")
def runs_json(request: HttpRequest, query: Query[RunsQuery]) -> Runs:
    """Return the runs, the newest first, 200 per page."""
    one_of("state", query.state, Run.State.values)
    boards = list(Benchmark.objects.order_by("slug", "-main", "probe"))
    one_of("benchmark", query.benchmark, list(dict.fromkeys(board.name for board in boards)))
    one_of("probe", query.probe, list(dict.fromkeys(board.probe for board in boards)))
    conditions = {"model__hub_id": query.model, "benchmark__probe": query.probe, "state": query.state}
    on_benchmark = named(query.benchmark, "benchmark__") if query.benchmark else Q()
    runs = Run.objects.filter(on_benchmark, **{field: value for field, value in conditions.items() if value})
    page, entries = page_of_rows(request, query, runs.select_related("model", "benchmark"))
    return {**page, "runs": [run_facts(run) for run in entries]}


@routes.read("runs/{number:run}", live=True, answer=RunInFull)
def run_json(request: HttpRequest, run: RunNumber) -> JsonResponse:
    """Return a run with its progress, its history, and the record of how it was measured.

    As long as it has not ended, the header Retry-After says after how many seconds to look again.
    """
    stored_run = _find_run(run)
    done = progress(stored_run)
    score = main_scores([stored_run], lambda benchmark: pages_of(benchmark).main_metric(benchmark)).get(run)
    answer: RunInFull = {
        **run_facts(stored_run),
        "score": score_facts(score) if score else None,
        "progress": {"done": done.done, "total": done.total},
        "provenance_record": stored_run.provenance_record,
        "events": [Event(**event) for event in stored_run.events.values("time", "state", "message")],
    }
    return followed(answer, ended=stored_run.state in Run.FINAL)


@routes.read("runs/{number:run}/scores")
def scores_json(request: HttpRequest, run: RunNumber) -> Scores:
    """Return the scores of a run: one for each metric and group."""
    return {"run": run, "scores": [score_facts(score) for score in _find_run(run).scores.order_by("pk")]}


@routes.read("runs/{number:run}/items", openapi_extra={"parameters": [TAGS]})
def items_json(request: HttpRequest, run: RunNumber, query: Query[ItemsQuery]) -> Items:
    """Return the items of a run that pass the same filters as on its page, 200 per page."""
    stored_run = _find_run(run)
    form = ItemsForm(request.GET, run=stored_run, values=item_rows.ends(stored_run))
    names = [*form.fields, *parameter_names(PagedQuery)]
    refuse_unknown([name for name in request.GET if name not in names], names)
    numbers = item_rows.find(stored_run, _filter(form))
    page, entries = page_of(
        request,
        query,
        read_from(numbers),
        lambda number: number,
        lambda cursor: bisect_right(numbers, number_in(cursor)),
    )
    items = list(item_rows.rows(stored_run, entries))
    return {**page, "run": run, "found": len(numbers), "items": items}


def _find_run(pk: int) -> Run:
    run = Run.objects.select_related("model", "benchmark").filter(pk=pk).first()
    if run is None:
        raise Http404(f"There is no run {pk}.")
    return run


def _filter(form: ItemsForm) -> ItemFilter:
    conditions = form.filter()
    for name, (message, *_) in form.errors.items():
        one_of(name, form.data[name], [value for value, _ in getattr(form.fields[name], "choices", ()) if value])
        raise BadInput(f"{name}: {message}", "Change this parameter, or leave it out.")
    return conditions


def facts(shape: type[ShapeT], row: object, **others: Any) -> ShapeT:
    """Return an answer of this shape with the fields of a row, but for the `others`."""
    names = shape.__annotations__
    return cast(ShapeT, {name: others[name] if name in others else getattr(row, name) for name in names})


def model_facts(model: Model) -> ModelFacts:
    return facts(ModelFacts, model)


def score_facts(score: Score) -> ScoreFacts:
    return facts(ScoreFacts, score, n=score.n or None)


def run_facts(run: Run) -> RunFacts:
    return facts(RunFacts, run, run=run.pk, model=model_facts(run.model), benchmark=facts(BenchmarkName, run.benchmark))


def followed(answer: Mapping[str, Any], *, ended: bool) -> JsonResponse:
    """Return an answer that says with `Retry-After` when to look again, unless nothing will change any more."""
    return JsonResponse(answer, headers={} if ended else {"Retry-After": str(LOOK_AGAIN)})
