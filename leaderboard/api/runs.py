"""/api/v1/runs : runs with their history, their scores and their items."""

from bisect import bisect_right
from datetime import datetime

from django.db.models import Q
from django.http import Http404, HttpRequest, JsonResponse
from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from leaderboard.api.answers import Json, RunFacts, ScoreFacts, about_run, about_score, followed
from leaderboard.api.paging import PageFacts, behind_row, number_in, page_of, read_from
from leaderboard.api.parameters import PagedQuery, Query, choice, one_of, parameter_names, refuse_unknown
from leaderboard.api.routes import RESULTS, get
from leaderboard.lists.progress import progress
from leaderboard.models import Benchmark, Run
from leaderboard.models.benchmark import named
from leaderboard.stored import item_rows
from leaderboard.stored.item_rows import ItemFilter
from leaderboard.views.item_filters import ItemsForm
from probing.errors import BadInput


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
    """A run with its progress, its history, and the record of how it was measured, which is empty before."""

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


@get("runs", group=RESULTS)
def runs_json(request: HttpRequest, query: RunsQuery) -> Runs:
    """Return the runs, the newest first, 200 per page."""
    one_of("state", query.state, Run.State.values)
    boards = list(Benchmark.objects.order_by("slug", "-main", "probe"))
    one_of("benchmark", query.benchmark, list(dict.fromkeys(board.name for board in boards)))
    one_of("probe", query.probe, list(dict.fromkeys(board.probe for board in boards)))
    conditions = {"model__hub_id": query.model, "benchmark__probe": query.probe, "state": query.state}
    on_benchmark = named(query.benchmark, "benchmark__") if query.benchmark else Q()
    runs = Run.objects.filter(on_benchmark, **{field: value for field, value in conditions.items() if value})
    page = page_of(
        request,
        query,
        read_from(runs.select_related("model", "benchmark").order_by("-pk")),
        lambda run: run.pk,
        behind_row(runs),
    )
    return {**page.facts, "runs": [about_run(run) for run in page.entries]}


def _find_run(pk: int) -> Run:
    run = Run.objects.select_related("model", "benchmark").filter(pk=pk).first()
    if run is None:
        raise Http404(f"There is no run {pk}.")
    return run


@get("runs/<number:run>", group=RESULTS, live=True, answer=RunInFull)
def run_json(request: HttpRequest, query: Query, run: int) -> JsonResponse:
    """Return a run with its progress, its history, and the record of how it was measured.

    As long as it has not ended, the header Retry-After says after how many seconds to look again.
    """
    stored_run = _find_run(run)
    done = progress(stored_run)
    answer: RunInFull = {
        **about_run(stored_run),
        "progress": {"done": done.done, "total": done.total},
        "provenance_record": stored_run.provenance_record,
        "events": [Event(**event) for event in stored_run.events.values("time", "state", "message")],
    }
    return followed(answer, ended=stored_run.state in Run.FINAL)


@get("runs/<number:run>/scores", group=RESULTS)
def scores_json(request: HttpRequest, query: Query, run: int) -> Scores:
    """Return the scores of a run: one for each metric and group."""
    return {"run": run, "scores": [about_score(score) for score in _find_run(run).scores.order_by("pk")]}


@get("runs/<number:run>/items", group=RESULTS)
def items_json(request: HttpRequest, query: ItemsQuery, run: int) -> Items:
    """Return the items of a run that pass the same filters as on its page, 200 per page."""
    stored_run = _find_run(run)
    form = ItemsForm(request.GET, run=stored_run, values=item_rows.ends(stored_run))
    paging = parameter_names(PagedQuery)
    refuse_unknown([name for name in request.GET if name not in {*form.fields, *paging}], [*form.fields, *paging])
    numbers = item_rows.find(stored_run, _filter(form))
    page = page_of(
        request,
        query,
        read_from(numbers),
        lambda number: number,
        lambda cursor: bisect_right(numbers, number_in(cursor)),
    )
    items = list(item_rows.rows(stored_run, page.entries))
    return {**page.facts, "run": run, "found": len(numbers), "items": items}


def _filter(form: ItemsForm) -> ItemFilter:
    conditions = form.filter()
    for name, (message, *_) in form.errors.items():
        one_of(name, form.data[name], [value for value, _ in getattr(form.fields[name], "choices", ()) if value])
        raise BadInput(f"{name}: {message}", "Change this parameter, or leave it out.")
    return conditions
