"""/api/v1/compare and models/<org>/<name>/training : runs compared, and steps of a training."""

from collections.abc import Mapping
from math import isnan
from typing import Any, NotRequired, cast

from django.http import Http404, HttpRequest
from ninja import P, PathEx, Query
from pydantic import Field
from typing_extensions import TypedDict

from leaderboard.api.interface import Routes
from leaderboard.api.leaderboard_routes import BenchmarkFacts, benchmark_facts
from leaderboard.api.parameters import PagedQuery, Parameters, choice, one_of, page_of_list
from leaderboard.api.run_routes import Json, ModelFacts, model_facts
from leaderboard.api.table_routes import as_json
from leaderboard.figures.comparisons import compared, find_runs
from leaderboard.figures.scores import OVERALL_SLICE
from leaderboard.figures.training import AnswersMissing
from leaderboard.pages.comparison_tables import ComparedRun, compared_runs
from leaderboard.pages.training_page import NoSeries, Training, changes_between, read_training, trajectory_sections
from leaderboard.pages.training_tables import headline
from leaderboard.probes.culture.pairs import one_pair, pairs_of
from leaderboard.ui.sections import Section
from probing.analysis.steps import CHANGES
from probing.errors import BadInput

routes = Routes()
OrganisationPath = PathEx[str, P(description="Organisation of the model.", pattern="^[^/]+$")]
ModelPath = PathEx[str, P(description="Name of the model.", pattern="^[^/]+$")]


class CompareQuery(Parameters):
    """The runs that are compared."""

    m: list[str] = Field([], description="Number of a run, or id of a model; two to eight of them.")
    benchmark: str = Field("", description="Name of the benchmark, where models are named.")
    part: str = Field("", description="Part of the items that is compared, where a benchmark has parts.")


class Side(TypedDict):
    """A run of a comparison. `result`: what the differences call it. `value`: its figure, with its 95 % interval."""

    result: str
    run: int
    model: ModelFacts
    settings: Json
    provenance: str
    value: float
    low: float | None
    high: float | None


class Comparison(TypedDict):
    """Runs, and the paired difference of each further run from the first one, overall and in every group.

    `part`: the part of the items that all of this is about, empty for all items.
    """

    benchmark: BenchmarkFacts
    metric: str
    part: str
    runs: list[Side]
    differences: list[Json]


class TrainingQuery(PagedQuery):
    """The choices of the page."""

    benchmark: str = Field("", description="Name of the benchmark.")
    settings: str = Field("", description="Settings of the runs, in words; the usual ones by default.")
    by: str = Field("", description="Dimension of the groups.")
    second: str = Field("", alias="with", description="Id of a second model, whose points are shown as well.")
    before: str = Field("", alias="from", description="Number of the run from which items changed.")
    after: str = Field("", alias="to", description="Number of the run until which items changed.")
    change: str = choice("The change of the items that are listed.", CHANGES)


# "from" is a word of the language, so that these fields cannot be declared as a class.
Points = TypedDict("Points", {"from": NotRequired[int], "to": NotRequired[int]})


class TrainingFacts(Points):
    """A model at several steps of its training, in the columns of the page's tables.

    What became of the items is in the answer where the answers of both points are stored here: `found` items on all
    pages have the chosen change.
    """

    model: str
    benchmark: BenchmarkFacts
    settings: Json
    metric: str
    sentence: str
    by: str
    points: list[Json]
    benchmarks: NotRequired[list[Json]]
    curves: NotRequired[list[Json]]
    groups: NotRequired[list[Json]]
    differences: NotRequired[list[Json]]
    replicates: NotRequired[list[Json]]
    percent: NotRequired[list[float] | None]
    changes: NotRequired[list[Json]]
    found: NotRequired[int]
    page: NotRequired[int]
    next: NotRequired[str | None]
    items: NotRequired[list[Json]]


@routes.read("compare")
def compare_json(request: HttpRequest, query: Query[CompareQuery]) -> Comparison:
    """Return a paired comparison of two to eight runs on the same items, overall and in every group."""
    names = [text for text in query.m if text]
    if len(names) < 2:
        raise BadInput("Fewer than two runs are named.", "Name them by number or model: m=1&m=2.")
    runs = find_runs(names, query.benchmark)
    pair = one_pair(request.GET, pairs_of(runs))
    differences = compared(*(run.pk for run in runs), part=pair.part if pair else OVERALL_SLICE).differences
    sides = compared_runs(runs, differences)
    answer = {
        "benchmark": benchmark_facts(runs[0].benchmark),
        "metric": runs[0].benchmark.main_metric,
        "part": pair.part.group if pair else "",
        "runs": [_about_side(side) for side in sides],
        "differences": [_without_nan(row) for row in differences],
    }
    return cast(Comparison, answer)


def _about_side(side: ComparedRun) -> Side:
    return {
        "result": side.key,
        "run": side.run.pk,
        "model": model_facts(side.run.model),
        "settings": side.run.settings,
        "provenance": side.run.provenance,
        "value": side.overall.value,
        "low": side.overall.low,
        "high": side.overall.high,
    }


def _without_nan(row: Mapping[str, Any]) -> Json:
    """Return a row with None in place of numbers that are not defined, which JSON does not have."""
    return {name: None if isinstance(value, float) and isnan(value) else value for name, value in row.items()}


@routes.read("models/{str:org}/{str:name}/training")
def training_json(
    request: HttpRequest, org: OrganisationPath, name: ModelPath, query: Query[TrainingQuery]
) -> TrainingFacts:
    """Return a model at several steps of its training: all points, groups, and the questions learned and forgotten."""
    try:
        training = read_training(f"{org}/{name}", request.GET)
    except NoSeries as error:
        raise Http404(error.message) from error
    _refuse_unknown(training, query)
    answer = {
        "model": training.hub_id,
        "benchmark": benchmark_facts(training.benchmark),
        "settings": training.main.series.last.settings,
        "metric": training.benchmark.main_metric,
        "sentence": headline(training.metric, training.main.points),
        "by": training.dimension,
        **{section.name: _rows(section) for section in trajectory_sections(training)},
        **(_changes(request, query, training) if training.benchmark.correctness.column else {}),
    }
    return cast(TrainingFacts, answer)


def _refuse_unknown(training: Training, query: TrainingQuery) -> None:
    """Refuse choices that the page leaves out; a program would take the answer for what it asked for."""
    one_of("benchmark", query.benchmark, [series.benchmark.name for series in training.all_series])
    one_of("settings", query.settings, training.settings_groups)
    one_of("dimension", query.by, training.dimensions)
    one_of("change", query.change, CHANGES)
    if training.error:
        raise training.error


def _changes(request: HttpRequest, query: TrainingQuery, training: Training) -> Json:
    """Return what became of the items between two points, and a page of the items."""
    try:
        changes = changes_between(training, request.GET)
    except AnswersMissing:
        return {}
    numbers, items = changes.sections
    rows = items.table.rows if items.table else []
    page, entries = page_of_list(request, query, rows, lambda item: f"{item.relation}-{item.number}")
    return {
        "from": changes.before.pk,
        "to": changes.after.pk,
        "percent": changes.percent,
        "changes": _rows(numbers),
        "found": len(rows),
        **page,
        "items": as_json(items.table.columns, entries) if items.table else [],
    }


def _rows(section: Section) -> list[Json]:
    return as_json(section.table.columns, section.table.rows) if section.table else []
