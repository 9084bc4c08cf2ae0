"""/api/v1/models/<org>/<name>/training : the tables of the page of a model's training, as JSON."""

from typing import NotRequired, cast

from django.http import Http404, HttpRequest
from pydantic import Field
from typing_extensions import TypedDict

from leaderboard.api.answers import BenchmarkFacts, Json, about_benchmark
from leaderboard.api.paging import page_of, place_in, read_from
from leaderboard.api.parameters import PagedQuery, choice, one_of
from leaderboard.api.routes import RESULTS, get
from leaderboard.api.tables import as_json
from leaderboard.display.sections import Section
from leaderboard.lists.item_changes import AnswersMissing
from leaderboard.probe_pages.trajectory import NoSeries, Training, changes_between, read_training, trajectory_sections
from leaderboard.probe_pages.trajectory_items import ChangedItem
from leaderboard.probe_pages.trajectory_words import headline
from probing.analysis.trajectories import CHANGES


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
    curves: NotRequired[list[Json]]
    groups: NotRequired[list[Json]]
    differences: NotRequired[list[Json]]
    percent: NotRequired[list[float] | None]
    changes: NotRequired[list[Json]]
    found: NotRequired[int]
    page: NotRequired[int]
    next: NotRequired[str | None]
    items: NotRequired[list[Json]]


@get("models/<str:org>/<str:name>/training", group=RESULTS)
def training_json(request: HttpRequest, query: TrainingQuery, org: str, name: str) -> TrainingFacts:
    """Return a model at several steps of its training: all points, groups, and the questions learned and forgotten."""
    try:
        training = read_training(f"{org}/{name}", request.GET)
    except NoSeries as error:
        raise Http404(error.message) from error
    _refuse_unknown(training, query)
    answer = {
        "model": training.hub_id,
        "benchmark": about_benchmark(training.benchmark),
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
    page = page_of(request, query, read_from(rows), _name, place_in(map(_name, rows)))
    return {
        "from": changes.before.pk,
        "to": changes.after.pk,
        "percent": changes.percent,
        "changes": _rows(numbers),
        "found": len(rows),
        **page.facts,
        "items": as_json(items.table.columns, page.entries) if items.table else [],
    }


def _name(item: ChangedItem) -> str:
    return f"{item.relation}-{item.number}"


def _rows(section: Section) -> list[Json]:
    return as_json(section.table.columns, section.table.rows) if section.table else []
