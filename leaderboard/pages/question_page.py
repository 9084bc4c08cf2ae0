"""/benchmarks/<slug>/items/ and the page of each question below it, with the answers of all models, or of one run.

With `?run=<number>` the page of a question is about that run: what it answered, with everything that is stored of it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from leaderboard.figures import item_rows
from leaderboard.figures.item_rows import ItemsMissing, Row
from leaderboard.figures.outcomes import RIGHT, outcomes_of
from leaderboard.figures.questions import (
    HARDEST,
    ORDERS,
    PAIR_TAGS,
    BenchmarkQuestion,
    Choice,
    QuestionOutcomes,
    RatedQuestion,
    difficulties,
    question_id,
    question_named,
    question_outcomes,
    question_url,
    questions_url,
    read_questions,
    read_runs,
    values_of_tag,
)
from leaderboard.models import Benchmark, Run
from leaderboard.models.benchmark import named
from leaderboard.pages.items_page import items_missing
from leaderboard.pages.question_answers import answers_table, contrasts, options_table, read_answers, statements_table
from leaderboard.probes import pages_of
from leaderboard.probes.items import ItemRow, RunAnswer, item_url
from leaderboard.probes.wording import (
    STATEMENT,
    AnswerWords,
    ShownSentence,
    language_of,
    relation_name,
    tag_text,
    usual_sentence,
)
from leaderboard.tables import FORMATS, download, filled, page_of
from leaderboard.ui import cells, labels
from leaderboard.ui.cells import Cell
from leaderboard.ui.links import link, page_links, page_number
from leaderboard.ui.table_files import table_response, wants_file
from leaderboard.ui.tables import Table, TableView, views
from probing.benchmark import TRUTH_VALUES, Relation
from probing.errors import ProbingError
from probing.probes.probe import VERSION_TAGS

MODELS_EACH_PAGE = 10
NUMBER = re.compile("[0-9]{1,18}")  # of a run
EVERY, NONE = "right", "wrong"


class AnswersForm(forms.Form):
    """Filters over the models that answered a question."""

    model = forms.CharField(required=False, max_length=100, label="Model")

    def __init__(self, data: Any, judged: bool, right: str) -> None:
        super().__init__(data, label_suffix="")
        every, none = f"{right} in every wording", f"{right} in none"
        choices = [("", "all"), (EVERY, every), (NONE, none)]
        if judged:
            self.fields["outcome"] = forms.ChoiceField(required=False, label="Answers", choices=choices)
        self.full_clean()

    def passes(self, name: str, share: float | None) -> bool:
        """Tell whether a run is chosen, given its name and the share of wordings in which it is right."""
        outcome = self.cleaned_data.get("outcome", "")
        part = self.cleaned_data.get("model", "").casefold()
        return part in name.casefold() and share == {EVERY: 1, NONE: 0}.get(outcome, share)


@dataclass(frozen=True)
class Wording:
    """A sentence of the question with the numbers of models that answered it, and that did so rightly.

    `number` is what pages call it, which counts from 1 over all templates of the relation.
    """

    template: int
    sentence: ShownSentence
    answered: int
    right: int
    href: str
    current: bool

    @property
    def number(self) -> int:
        return self.template + 1

    @property
    def share(self) -> Cell:
        return cells.share(self.right / self.answered)


@dataclass(frozen=True)
class RunRows:
    """A run that the reader has chosen, with its stored rows of the question by template."""

    run: Run
    rows: dict[int, Row]

    def outcomes(self, question: BenchmarkQuestion) -> QuestionOutcomes:
        """Return what the run made of the question, wherever it was measured and at whichever step."""
        of_relation = outcomes_of(self.run).get(question.relation.label)
        own = {self.run.pk: of_relation.of(question.item.index)} if of_relation else {}
        return QuestionOutcomes({self.run.pk: self.run.model.hub_id}, own)

    def answer(self, question: BenchmarkQuestion, template: int) -> RunAnswer | None:
        """Return everything that is stored of the run's answer to a wording, None if it was not asked that."""
        if template not in self.rows:
            return None
        item = ItemRow(self.run, self.rows[template], question.relation, question.item)
        return pages_of(self.run.benchmark).run_answer(item)


def question_view(request: HttpRequest, name: str, question: str) -> HttpResponseBase:
    run = _chosen_run(request, name)
    benchmark = run.benchmark if run else get_object_or_404(Benchmark, named(name), current=True)
    try:
        item = question_named(benchmark, question)
        own = RunRows(run, item_rows.of_item(run, item.relation.label, item.item.index)) if run else None
    except ProbingError as error:
        if run and isinstance(error, ItemsMissing):
            return items_missing(request, run, error)
        return question_missing(request, benchmark, error)
    outcomes, words = question_outcomes(benchmark, item), pages_of(benchmark).words
    form = AnswersForm(request.GET, bool(benchmark.correctness.column), words.right)
    wordings = _wordings(request, benchmark, item, outcomes, own)
    passing = [number for number in outcomes.by_share() if form.passes(outcomes.models[number], outcomes.share(number))]
    tables, answer = _parts(request, benchmark, item, own, outcomes, passing, wordings)
    if wants_file(request):
        return _file(request, tables)
    context = {
        **_place(benchmark, item, run),
        "form": form,
        "run": run,
        "answer": answer,
        "wordings": wordings,
        "words": words,
        "one_counts": pages_of(benchmark).question_form.one_counts,
        "verdict": verdict(outcomes, len(wordings), words),
        "tables": _views(request, tables, 1 if run else len(passing)),
    }
    return render(request, "question.html", context)


def verdict(outcomes: QuestionOutcomes, wordings: int, words: AnswerWords) -> str:
    """Say in a sentence how many models are right; empty where no answer counts as right or wrong."""
    shares = [share for run in outcomes.outcomes if (share := outcomes.share(run)) is not None]
    if not shares:
        return ""
    always, never = shares.count(1), shares.count(0)
    if len(shares) == 1:
        return f"The only model that was asked {_of_one(shares[0], wordings, words)}."
    models = "models" if len(set(outcomes.models.values())) == len(outcomes.models) else "runs"
    number = f"{always} of {len(shares)} {models} {words.one_prefers if always == 1 else words.several_prefer}"
    if wordings == 1:
        return f"{number}."
    if never == len(shares):
        return f"None of {never} {models} {words.one_prefers} in any wording."
    if always == len(shares):
        return f"All {always} {models} {words.several_prefer} in every wording."
    return f"{number} in every wording, {len(shares) - always - never} in some and {never} in none."


def _of_one(share: float, wordings: int, words: AnswerWords) -> str:
    """Say in how many of its wordings one model is right, given their share."""
    if wordings == 1:
        return words.one_prefers if share else words.other
    return f"{words.one_prefers} in {'every wording' if share == 1 else 'some wordings' if share else 'no wording'}"


def former_item_view(request: HttpRequest, pk: int, relation: str, template: int, index: int) -> HttpResponse:
    """Lead from the former page of one item of a run to that of its question."""
    run = get_object_or_404(Run.objects.select_related("benchmark"), pk=pk)
    row = {"relation": relation, "template": template, "index": index}
    return redirect(item_url(run, row), permanent=True)


def question_missing(request: HttpRequest, benchmark: Benchmark, error: ProbingError) -> HttpResponse:
    """Return the page that says why there is no such question, with the way to those that there are."""
    return render(request, "question_missing.html", {"benchmark": benchmark, "error": error}, status=404)


def _chosen_run(request: HttpRequest, name: str) -> Run | None:
    """Return the run that the reader has chosen, which may be on a former version of the benchmark."""
    number = request.GET.get("run", "")
    if not number:
        return None
    runs = Run.objects.select_related("model", "benchmark")
    run = runs.filter(pk=number).first() if NUMBER.fullmatch(number) else None
    if run is None or run.benchmark.name != name:
        raise Http404(f"There is no run {number!r:.40} on this benchmark.")
    return run


def _place(benchmark: Benchmark, question: BenchmarkQuestion, run: Run | None) -> dict[str, Any]:
    """Return what a page says about where a question stands; its neighbours are about the same run."""
    relation, item = question.relation, question.item
    tags = relation.tags_of(item)
    near = {"before": question.before, "after": question.after}
    same_run = f"?run={run.pk}" if run else ""
    return {
        "benchmark": benchmark,
        "question": question,
        "lang": language_of(relation),
        "relation_name": relation_name(relation),
        "questions_url": questions_url(benchmark, relation),
        "relation_url": reverse("relation", args=[benchmark.name, relation.id]),
        "tags": [(name, tag_text(name, value)) for name, value in tags.items() if name not in VERSION_TAGS],
        **{
            name: f"{question_url(benchmark, relation, other)}{same_run}" if other else ""
            for name, other in near.items()
        },
    }


def _wordings(
    request: HttpRequest,
    benchmark: Benchmark,
    question: BenchmarkQuestion,
    outcomes: QuestionOutcomes,
    own: RunRows | None,
) -> list[Wording]:
    """Return the wordings that some run was asked, the chosen one among them; of a run the first that it was asked."""
    form, asked_of_run = pages_of(benchmark).question_form, sorted(own.rows) if own else []
    templates = sorted({*outcomes.asked(benchmark, question), *asked_of_run})
    by_number = {str(template + 1): template for template in templates}
    chosen = by_number.get(request.GET.get("wording", ""), [*asked_of_run, *templates][0])
    return [
        Wording(
            template,
            form.sentence(question.relation, question.item, template),
            len(counted),
            counted.count(RIGHT),
            link(request.GET, wording=str(template + 1)),
            template == chosen,
        )
        for template in templates
        for counted in [outcomes.counted(template)]
    ]


def _parts(
    request: HttpRequest,
    benchmark: Benchmark,
    question: BenchmarkQuestion,
    own: RunRows | None,
    outcomes: QuestionOutcomes,
    passing: Sequence[int],
    wordings: list[Wording],
) -> tuple[list[Table[Any]], RunAnswer | None]:
    """Return the tables of the page, that of the answers first, and what is stored of the chosen run's answer.

    Without a run, they are about one page of models.
    """
    template, words = next(wording.template for wording in wordings if wording.current), pages_of(benchmark).words
    start = (page_number(request.GET.get("page", ""), len(passing), MODELS_EACH_PAGE) - 1) * MODELS_EACH_PAGE
    runs = [own.run] if own else read_runs(passing[start : start + MODELS_EACH_PAGE])
    beside = contrasts(question)
    answers = read_answers(runs, question, own.outcomes(question) if own else outcomes, beside)
    answer = own.answer(question, template) if own else None
    further: list[Table[Any] | None] = [
        *(answer.tables if answer else [None if own else options_table(question, answers, template, words)]),
        statements_table(benchmark, question, beside, answers, template),
    ]
    table = answers_table(question, answers, [wording.template for wording in wordings], words)
    return [table, *filter(None, further)], answer


def _views(request: HttpRequest, tables: Sequence[Table[Any]], models: int) -> dict[str, TableView]:
    """Return the tables as the page shows them; CSV has the same page of models."""
    shown = views(tables, request.GET)
    pages = page_links(request.GET, "page", models, MODELS_EACH_PAGE)
    csv = link(request.GET, format="csv", table=None)
    return {**shown, "answers": replace(shown["answers"], total=models, pages=pages, csv=csv)}


def _file(request: HttpRequest, tables: Sequence[Table[Any]]) -> HttpResponse:
    by_name = {table.name: table for table in tables}
    return table_response(by_name.get(request.GET.get("table", ""), tables[0]), request)


# The list of the questions of a benchmark, the hardest or the easiest first.


class QuestionsForm(forms.Form):
    """Filters over the questions of a benchmark, and their order."""

    search = forms.CharField(required=False, max_length=100, label="Subject, sentence or answer")

    def __init__(self, data: Any, relations: Sequence[Relation], judged: bool) -> None:
        super().__init__(data, label_suffix="")
        names = {relation.label: relation_name(relation) for relation in relations}
        self.fields["relation"] = _choice_field("Relation", names)
        for tag in PAIR_TAGS:
            values = values_of_tag(relations, tag)
            if len(values) > 1:
                self.fields[tag] = _choice_field(
                    labels.dimension(tag), {value: tag_text(tag, value) for value in values if value}
                )
        if judged:
            self.fields["order"] = forms.ChoiceField(required=False, choices=list(ORDERS.items()), label="Order")
        self.full_clean()

    @property
    def choice(self) -> Choice:
        """The choice of the reader; values that are not valid are left out."""
        chosen = {name: value for name, value in self.cleaned_data.items() if value}
        return Choice(**{"order": HARDEST, **chosen})


def _choice_field(label: str, titles: Mapping[str, str]) -> forms.ChoiceField:
    """Return a field that chooses one of several values, which pages call by their titles, or all of them."""
    return forms.ChoiceField(required=False, choices=[("", "all"), *titles.items()], label=label)


def questions_view(request: HttpRequest, name: str) -> HttpResponse:
    benchmark = get_object_or_404(Benchmark, named(name), current=True)
    judged = bool(benchmark.correctness.column)
    try:
        form = QuestionsForm(request.GET, read_questions(benchmark).relations, judged)
        chosen = difficulties(benchmark, form.choice)
    except ProbingError as error:
        return question_missing(request, benchmark, error)
    page = page_of(chosen, request)
    is_whole_file = request.GET.get("format") in FORMATS and "page" not in request.GET
    rows = [_question_row(benchmark, question) for question in (chosen if is_whole_file else page)]
    columns = question_columns(benchmark, judged)
    if file := download(request, {"questions": (columns, rows)}):
        return file
    context = {
        "benchmark": benchmark,
        "form": form,
        "questions": rows,
        "page": page,
        "filled": filled(rows, columns),
        "judged": judged,
        "words": pages_of(benchmark).words,
        "has_shares": any(question.answered for question in chosen),
    }
    return render(request, "questions.html", context)


def question_columns(benchmark: Benchmark, judged: bool) -> list[str]:
    """Return the columns of the CSV; those on right answers only where answers are right or wrong."""
    truth = ["truth"] if pages_of(benchmark).question_form is STATEMENT else []
    answer, counts = (["answer"], ["answered", "right", "share"]) if judged else ([], [])
    return ["id", "question", *truth, *answer, "relation", *PAIR_TAGS, *counts]


def _question_row(benchmark: Benchmark, question: RatedQuestion) -> dict[str, Any]:
    relation, item = question.relation, question.item
    options = relation.options_of(item)
    return {
        "id": question_id(relation, item),
        "question": usual_sentence(benchmark, pages_of(benchmark).question_form, relation, item),
        "href": question_url(benchmark, relation, item),
        "language": language_of(relation),
        "truth": "" if item.is_true is None else TRUTH_VALUES[item.is_true],
        "answer": "; ".join(options[number] for number in item.answers),
        "relation": relation_name(relation),
        **{tag: str(relation.tags.get(tag, "")) for tag in PAIR_TAGS},
        "answered": question.answered,
        "right": question.right if question.answered else None,
        "share": question.share,
    }
