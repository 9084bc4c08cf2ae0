"""/api/v1/overview and /api/v1/benchmarks/<slug>/items : the rows and columns of two pages' CSV as JSON."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.http import Http404, HttpRequest

from leaderboard.display.tables import Column
from leaderboard.lists.overview_filter import FACETS
from leaderboard.lists.questions import ORDERS, difficulties, read_questions
from leaderboard.models import Benchmark
from leaderboard.models.benchmark import named
from leaderboard.views.api import READ, Json, answers, one_of, page_of
from leaderboard.views.overview import matrix_table, selection
from leaderboard.views.question_filters import QuestionsForm
from leaderboard.views.questions import question_columns


@answers(*READ)
def overview_json(request: HttpRequest) -> Json:
    """Return a page of the overview's models with their figures, filtered and sorted as on the HTML page."""
    query = request.GET
    for facet in FACETS:
        one_of(facet.name, query.get(facet.name), facet.choices)
    chosen = selection(query)
    one_of("part", query.get("part"), [part.value for part in chosen.parts])
    topics = dict.fromkeys(column.measure.topic.lower() for column in chosen.everything.columns)
    one_of("topic", query.get("topic"), topics)
    table = matrix_table(chosen)
    one_of("column", query.get("sort", "").removeprefix("-"), [column.name for column in table.columns])
    rows = table.ordered(query)
    page, entries = page_of(query, len(rows))
    return {"found": len(rows), "page": page, "rows": as_json(table.columns, rows[entries])}


@answers(*READ)
def questions_json(request: HttpRequest, name: str) -> Json:
    """Return a page of a benchmark's questions with how many answers were right, filtered as on the HTML page."""
    benchmark = Benchmark.objects.filter(named(name), current=True).first()
    if benchmark is None:
        raise Http404(f"There is no benchmark {name!r}.")
    judged = bool(benchmark.correctness.column)
    labels = {relation.label: relation.label for relation in read_questions(benchmark).relations}
    one_of("relation", request.GET.get("relation"), labels)
    one_of("order", request.GET.get("order"), ORDERS)
    rows = difficulties(benchmark, QuestionsForm(request.GET, labels, judged).choice)
    page, entries = page_of(request.GET, len(rows))
    columns = question_columns(benchmark, judged)
    return {"benchmark": name, "found": len(rows), "page": page, "items": as_json(columns, rows[entries])}


def as_json(columns: Sequence[Column[Any]], rows: Iterable[Any]) -> list[Json]:
    """Return an object for each row with the names and values of the CSV."""
    return [{column.name: column.cell(row).value for column in columns} for row in rows]
