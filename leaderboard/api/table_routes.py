"""/api/v1/overview and /api/v1/benchmarks/<name>/… : the overview, questions and relations, as their CSV has them."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.http import Http404, HttpRequest
from ninja import P, PathEx, Query
from pydantic import Field
from typing_extensions import TypedDict

from leaderboard.api.interface import BenchmarkPath, Routes
from leaderboard.api.leaderboard_routes import SEARCH, SIZE, current_benchmark
from leaderboard.api.parameters import PagedQuery, PageFacts, choice, one_of, page_of_list
from leaderboard.api.run_routes import Json
from leaderboard.figures.filters import OVERVIEW_FACETS
from leaderboard.figures.questions import (
    ORDERS,
    PAIR_TAGS,
    difficulties,
    question_id,
    question_named,
    question_outcomes,
    read_questions,
    values_of_tag,
)
from leaderboard.pages.overview_page import matrix_table, selection
from leaderboard.pages.question_page import QuestionsForm, question_columns
from leaderboard.pages.relation_page import models_table, on_relation
from leaderboard.probes import pages_of
from leaderboard.ui.tables import Column
from probing.errors import BadInput

routes = Routes()
QuestionPath = PathEx[
    str, P(description="Id of the question: its relation and its number, with a hyphen between them.", pattern="^.+$")
]
RelationPath = PathEx[str, P(description="Id of the relation.", pattern="^[^/]+$")]
CHOICES = {facet.name: facet.choices for facet in OVERVIEW_FACETS}


class OverviewQuery(PagedQuery):
    """The filters and the order of the overview."""

    search: str = SEARCH
    kind: str = choice("Type of the model.", CHOICES["kind"])
    size: str = SIZE
    provenance: str = choice("Source of the figures.", CHOICES["provenance"])
    several: str = choice("yes: only models with figures on two benchmarks.", ["yes"])
    part: str = Field("", description="Part of the items that figures are about, where benchmarks have parts.")
    topic: str = Field("", description="Topic of the benchmarks, in small letters.")
    sort: str = Field("", description="Column by which rows are sorted; with a hyphen before it, from the largest.")


class QuestionsQuery(PagedQuery):
    """The filters and the order of the page of questions."""

    search: str = Field("", max_length=100, description="Part of the subject, the sentence or an answer.")
    relation: str = Field("", description="Name of the relation.")
    culture_pair: str = Field("", description="Culture pair, such as arab-west.")
    language: str = Field("", description="Code of the language in which the question is asked.")
    order: str = choice("Order of the questions.", ORDERS)


class RelationFacts(TypedDict):
    """A relation with its templates and tags, which a site without its questions lacks, and the models on it.

    `metric`: what `scores` are in; they have the columns of the page's CSV, the best first.
    """

    benchmark: str
    relation: str
    templates: list[str]
    tags: Json
    questions: int
    metric: str
    scores: list[Json]


class Outcome(TypedDict):
    """What a run made of a question: the share of wordings in which it is right, null where no answer counts."""

    run: int
    model: str
    right: float | None


class QuestionFacts(TypedDict):
    """A question with the sentence of each wording and what every run made of it, those that are right first.

    The answers themselves are among the items of each run.
    """

    benchmark: str
    relation: str
    subject: str
    answers: list[str]
    sentences: list[str]
    outcomes: list[Outcome]


class Overview(PageFacts):
    """A page of the overview's models with their figures, in the columns of its CSV: `found` on all pages."""

    found: int
    rows: list[Json]


class Questions(PageFacts):
    """A page of a benchmark's questions in the columns of their CSV: `found` on all pages."""

    benchmark: str
    found: int
    items: list[Json]


@routes.read("overview")
def overview_json(request: HttpRequest, query: Query[OverviewQuery]) -> Overview:
    """Return the models of the overview with their figures on all benchmarks, 200 per page: the columns of its CSV."""
    for facet in OVERVIEW_FACETS:
        one_of(facet.name, getattr(query, facet.name), facet.choices)
    chosen = selection(request.GET)
    one_of("part", query.part, [part.value for part in chosen.parts])
    topics = dict.fromkeys(column.measure.topic.lower() for column in chosen.everything.columns)
    one_of("topic", query.topic, topics)
    table = matrix_table(chosen)
    one_of("column", query.sort.removeprefix("-"), [column.name for column in table.columns])
    rows = table.ordered(request.GET)
    page, entries = page_of_list(request, query, rows, lambda row: " ".join(row.key).strip())
    return {**page, "found": len(rows), "rows": as_json(table.columns, entries)}


@routes.read("benchmarks/{benchmark:name}/items")
def questions_json(request: HttpRequest, name: BenchmarkPath, query: Query[QuestionsQuery]) -> Questions:
    """Return the questions of a benchmark, 200 per page, with how many answers to each were right."""
    benchmark = current_benchmark(name)
    judged = bool(benchmark.correctness.column)
    relations = read_questions(benchmark).relations
    one_of("relation", query.relation, dict.fromkeys(relation.label for relation in relations))
    for tag in PAIR_TAGS:
        one_of(tag, getattr(query, tag), sorted(filter(None, values_of_tag(relations, tag))))
    one_of("order", query.order, ORDERS)
    rows = difficulties(benchmark, QuestionsForm(request.GET, relations, judged).choice)
    page, entries = page_of_list(request, query, rows, lambda row: question_id(row.relation, row.item))
    return {
        **page,
        "benchmark": name,
        "found": len(rows),
        "items": as_json(question_columns(benchmark, judged), entries),
    }


@routes.read("benchmarks/{benchmark:name}/items/{path:question}")
def question_json(request: HttpRequest, name: BenchmarkPath, question: QuestionPath) -> QuestionFacts:
    """Return a question with its wordings, and in how many of them each run is right."""
    benchmark = current_benchmark(name)
    try:
        entry = question_named(benchmark, question)
    except BadInput as error:
        raise Http404(error.message) from error
    outcomes = question_outcomes(benchmark, entry)
    form = pages_of(benchmark).question_form
    templates = outcomes.asked(benchmark, entry)
    return {
        "benchmark": name,
        "relation": entry.relation.label,
        "subject": entry.item.subject,
        "answers": entry.answers,
        "sentences": [str(form.sentence(entry.relation, entry.item, template)) for template in templates],
        "outcomes": [
            {"run": run, "model": outcomes.models[run], "right": outcomes.share(run)} for run in outcomes.by_share()
        ],
    }


@routes.read("benchmarks/{benchmark:name}/relations/{str:relation}")
def relation_json(request: HttpRequest, name: BenchmarkPath, relation: RelationPath) -> RelationFacts:
    """Return a relation of a benchmark with the scores of all models on it, the best first."""
    benchmark = current_benchmark(name)
    content, _, scores = on_relation(benchmark, relation)
    if not content and not scores:
        raise Http404(f"{benchmark.title} has no relation {relation!r}.")
    table = models_table(benchmark, scores)
    return {
        "benchmark": name,
        "relation": relation,
        "templates": list(content.templates) if content else [],
        "tags": dict(content.tags) if content else {},
        "questions": len(content.items) if content else 0,
        "metric": pages_of(benchmark).ranking_metric(benchmark),
        "scores": as_json(table.columns, table.ordered(request.GET)),
    }


def as_json(columns: Sequence[Column[Any]], rows: Iterable[Any]) -> list[Json]:
    """Return an object for each row with the names and values of the CSV."""
    return [{column.name: column.cell(row).value for column in columns} for row in rows]
