"""/api/v1/overview and /api/v1/benchmarks/<name>/items : the rows and columns of two pages' CSV as JSON."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpRequest
from pydantic import Field
from typing_extensions import TypedDict

from leaderboard.api.answers import Json
from leaderboard.api.leaderboards import SEARCH, SIZE, current_benchmark
from leaderboard.api.paging import page_of, place_in
from leaderboard.api.parameters import PagedQuery, choice, one_of
from leaderboard.api.routes import RESULTS, get
from leaderboard.display.tables import Column
from leaderboard.lists.overview_filter import FACETS
from leaderboard.lists.overview_rows import ModelRow
from leaderboard.lists.questions import ORDERS, RatedQuestion, difficulties, question_id, read_questions
from leaderboard.views.overview import matrix_table, selection
from leaderboard.views.question_filters import QuestionsForm
from leaderboard.views.questions import question_columns

CHOICES = {facet.name: facet.choices for facet in FACETS}


class OverviewQuery(PagedQuery):
    """The filters and the order of the overview."""

    search: str = SEARCH
    kind: str = choice("Type of the model.", CHOICES["kind"])
    size: str = SIZE
    weights: str = choice("Weights of the model.", CHOICES["weights"])
    provenance: str = choice("Source of the figures.", CHOICES["provenance"])
    several: str = choice("yes: only models with figures on two benchmarks.", ["yes"])
    part: str = Field("", description="Part of the items that figures are about, where benchmarks have parts.")
    topic: str = Field("", description="Topic of the benchmarks, in small letters.")
    sort: str = Field("", description="Column by which rows are sorted; with a hyphen before it, from the largest.")


class QuestionsQuery(PagedQuery):
    """The filters and the order of the page of questions."""

    search: str = Field("", max_length=100, description="Part of the subject, the sentence or an answer.")
    relation: str = Field("", description="Name of the relation.")
    order: str = choice("Order of the questions.", ORDERS)


class Overview(TypedDict):
    """A page of the overview's models with their figures, in the columns of its CSV: `found` on all pages."""

    found: int
    page: int
    next: str | None
    rows: list[Json]


class Questions(TypedDict):
    """A page of a benchmark's questions in the columns of their CSV: `found` on all pages."""

    benchmark: str
    found: int
    page: int
    next: str | None
    items: list[Json]


@get("overview", group=RESULTS)
def overview_json(request: HttpRequest, query: OverviewQuery) -> Overview:
    """Return the models of the overview with their figures on all benchmarks, 200 per page: the columns of its CSV."""
    for facet in FACETS:
        one_of(facet.name, getattr(query, facet.name), facet.choices)
    chosen = selection(request.GET)
    one_of("part", query.part, [part.value for part in chosen.parts])
    topics = dict.fromkeys(column.measure.topic.lower() for column in chosen.everything.columns)
    one_of("topic", query.topic, topics)
    table = matrix_table(chosen)
    one_of("column", query.sort.removeprefix("-"), [column.name for column in table.columns])
    rows = table.ordered(request.GET)
    page = page_of(request, query, rows, len(rows), _row_name, place_in(map(_row_name, rows)))
    return {
        "found": len(rows),
        "page": page.page,
        "next": page.next,
        "rows": as_json(table.columns, page.entries),
    }


def _row_name(row: ModelRow) -> str:
    return " ".join(row.key).strip()


@get("benchmarks/<benchmark:name>/items", group=RESULTS)
def questions_json(request: HttpRequest, query: QuestionsQuery, name: str) -> Questions:
    """Return the questions of a benchmark, 200 per page, with how many answers to each were right."""
    benchmark = current_benchmark(name)
    judged = bool(benchmark.correctness.column)
    labels = {relation.label: relation.label for relation in read_questions(benchmark).relations}
    one_of("relation", query.relation, labels)
    one_of("order", query.order, ORDERS)
    rows = difficulties(benchmark, QuestionsForm(request.GET, labels, judged).choice)
    page = page_of(request, query, rows, len(rows), _question_name, place_in(map(_question_name, rows)))
    return {
        "benchmark": name,
        "found": len(rows),
        "page": page.page,
        "next": page.next,
        "items": as_json(question_columns(benchmark, judged), page.entries),
    }


def _question_name(row: RatedQuestion) -> str:
    return question_id(row.relation, row.item)


def as_json(columns: Sequence[Column[Any]], rows: Iterable[Any]) -> list[Json]:
    """Return an object for each row with the names and values of the CSV."""
    return [{column.name: column.cell(row).value for column in columns} for row in rows]
