"""/api/v1/models/<org>/<name>/training : the tables of the page of a model's training, as JSON."""

from django.http import Http404, HttpRequest, QueryDict

from leaderboard.display.sections import Section
from leaderboard.lists.item_changes import AnswersMissing
from leaderboard.probe_pages.trajectory import NoSeries, Training, changes_between, read_training, trajectory_sections
from leaderboard.probe_pages.trajectory_words import headline
from leaderboard.views.api import READ, Json, about_benchmark, answers, one_of, page_of
from leaderboard.views.tables_api import as_json


@answers(*READ)
def training_json(request: HttpRequest, org: str, name: str) -> Json:
    """Return the points of a model's series with the choices of the page; lists of items have 200 per page.

    What became of the items is in the answer where the answers of both points are stored here.
    """
    query = request.GET
    try:
        training = read_training(f"{org}/{name}", query)
    except NoSeries as error:
        raise Http404(error.message) from error
    _refuse_unknown(training, query)
    sections = trajectory_sections(training)
    return {
        "model": training.hub_id,
        "benchmark": about_benchmark(training.benchmark),
        "settings": training.main.series.last.settings,
        "metric": training.benchmark.main_metric,
        "sentence": headline(training.metric, training.main.points),
        "by": training.dimension,
        **{section.name: _rows(section) for section in sections},
        **(_changes(training, query) if training.benchmark.correctness.column else {}),
    }


def _refuse_unknown(training: Training, query: QueryDict) -> None:
    """Refuse choices that the page leaves out; a program would take the answer for what it asked for."""
    one_of("benchmark", query.get("benchmark"), [series.benchmark.name for series in training.all_series])
    one_of("settings", query.get("settings"), training.settings_groups)
    one_of("dimension", query.get("by"), training.dimensions)
    if training.error:
        raise training.error


def _changes(training: Training, query: QueryDict) -> Json:
    """Return what became of the items between two points, and a page of the items."""
    try:
        changes = changes_between(training, query)
    except AnswersMissing:
        return {}
    numbers, items = changes.sections
    rows = items.table.rows if items.table else []
    page, entries = page_of(query, len(rows))
    return {
        "from": changes.before.pk,
        "to": changes.after.pk,
        "percent": changes.percent,
        "changes": _rows(numbers),
        "found": len(rows),
        "page": page,
        "items": as_json(items.table.columns, rows[entries]) if items.table else [],
    }


def _rows(section: Section) -> list[Json]:
    return as_json(section.table.columns, section.table.rows) if section.table else []
