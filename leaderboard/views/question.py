"""/benchmarks/<slug>/items/<id>/ : one question with its difficulty and the answer of every model."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from leaderboard.display import cells
from leaderboard.display.cells import Cell
from leaderboard.display.exports import table_response, wants_csv
from leaderboard.display.links import link, page_links, page_number
from leaderboard.display.tables import Table, TableView, views
from leaderboard.lists.question_outcomes import QuestionOutcomes, question_outcomes, read_runs
from leaderboard.lists.questions import BenchmarkQuestion, question_named, question_url
from leaderboard.models import Benchmark
from leaderboard.models.benchmark import named
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.question_forms import ShownSentence
from leaderboard.probe_pages.question_pages import answers_table, options_table, read_answers
from leaderboard.probe_pages.question_statements import contrasts, statements_table
from leaderboard.probe_pages.questions_in_words import language_of, relation_name, tag_text
from leaderboard.stored.outcomes import RIGHT
from leaderboard.views.question_filters import AnswersForm
from probing.errors import ProbingError
from probing.probes.columns import VERSION_TAGS

MODELS_EACH_PAGE = 10


class Wording(NamedTuple):
    """A sentence of the question with the numbers of models that answered it, and that did so rightly."""

    number: int
    template: int
    sentence: ShownSentence
    answered: int
    right: int
    href: str
    current: bool

    @property
    def share(self) -> Cell:
        return cells.share(self.right / self.answered)


def question_view(request: HttpRequest, name: str, question: str) -> HttpResponseBase:
    benchmark = get_object_or_404(Benchmark, named(name), current=True)
    try:
        item = question_named(benchmark, question)
    except ProbingError as error:
        return question_missing(request, benchmark, error)
    outcomes, form = question_outcomes(benchmark, item), AnswersForm(request.GET, bool(benchmark.correctness.column))
    wordings = _wordings(request, benchmark, item, outcomes)
    runs = [run for run in outcomes.by_share() if form.passes(outcomes.models[run], outcomes.share(run))]
    tables = _tables(request, benchmark, item, outcomes, runs, wordings)
    if wants_csv(request):
        return _csv(request, tables)
    context = {
        **_place(benchmark, item),
        "form": form,
        "wordings": wordings,
        "verdict": outcomes.in_words(len(wordings)),
        "tables": _views(request, tables, len(runs)),
    }
    return render(request, "question.html", context)


def question_missing(request: HttpRequest, benchmark: Benchmark, error: ProbingError) -> HttpResponse:
    """Return the page that says why there is no such question, with the way to those that there are."""
    return render(request, "question_missing.html", {"benchmark": benchmark, "error": error}, status=404)


def _place(benchmark: Benchmark, question: BenchmarkQuestion) -> dict[str, Any]:
    """Return what a page says about where a question stands."""
    relation, item = question.relation, question.item
    tags = relation.tags_of(item)
    near = {"before": question.before, "after": question.after}
    return {
        "benchmark": benchmark,
        "question": question,
        "lang": language_of(relation),
        "relation_name": relation_name(relation),
        "relation_url": reverse("relation", args=[benchmark.name, relation.id]),
        "tags": [(name, tag_text(name, value)) for name, value in tags.items() if name not in VERSION_TAGS],
        **{name: question_url(benchmark, relation, other) if other else "" for name, other in near.items()},
    }


def _wordings(
    request: HttpRequest, benchmark: Benchmark, question: BenchmarkQuestion, outcomes: QuestionOutcomes
) -> list[Wording]:
    form = pages_of(benchmark).question_form
    templates = outcomes.asked(benchmark, question)
    chosen = page_number(request.GET.get("wording", ""), len(templates), 1)
    return [
        Wording(
            number,
            template,
            form.sentence(question.relation, question.item, template),
            len(counted),
            counted.count(RIGHT),
            link(request.GET, wording=str(number)),
            number == chosen,
        )
        for number, template in enumerate(templates, 1)
        for counted in [outcomes.counted(template)]
    ]


def _tables(
    request: HttpRequest,
    benchmark: Benchmark,
    question: BenchmarkQuestion,
    outcomes: QuestionOutcomes,
    runs: Sequence[int],
    wordings: list[Wording],
) -> list[Table[Any]]:
    """Return the answers of one page of models, and their scores of options or of other statements beside this one."""
    start = (page_number(request.GET.get("page", ""), len(runs), MODELS_EACH_PAGE) - 1) * MODELS_EACH_PAGE
    beside = contrasts(question)
    answers = read_answers(read_runs(runs[start : start + MODELS_EACH_PAGE]), question, outcomes, beside)
    shown = next(wording.template for wording in wordings if wording.current)
    table = answers_table(question, answers, [wording.template for wording in wordings])
    further = [
        options_table(question, answers, shown),
        statements_table(benchmark, question, beside, answers, shown),
    ]
    return [table, *filter(None, further)]


def _views(request: HttpRequest, tables: Sequence[Table[Any]], models: int) -> dict[str, TableView]:
    """Return the tables as the page shows them; CSV has the same page of models."""
    shown = views(tables, request.GET)
    pages = page_links(request.GET, "page", models, MODELS_EACH_PAGE)
    csv = link(request.GET, format="csv", table=None)
    return {**shown, "answers": replace(shown["answers"], total=models, pages=pages, csv=csv)}


def _csv(request: HttpRequest, tables: Sequence[Table[Any]]) -> HttpResponse:
    by_name = {table.name: table for table in tables}
    return table_response(by_name.get(request.GET.get("table", ""), tables[0]), request)
