"""/benchmarks/<slug>/items/: the questions of a benchmark, the hardest or the easiest first."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from leaderboard.figures.questions import (
    ORDERS,
    PAIR_TAGS,
    difficulties,
    question_id,
    question_url,
    read_questions,
    values_of_tag,
)
from leaderboard.models import Benchmark
from leaderboard.models.benchmark import named
from leaderboard.probes import pages_of
from leaderboard.probes.wording import STATEMENT, relation_name, tag_text, usual_sentence
from leaderboard.tables import Row, download, filled, page_of
from leaderboard.ui import labels
from leaderboard.ui.table_files import wants_file
from probing.benchmark import TRUTH_VALUES, Relation
from probing.errors import ProbingError


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


def _choice_field(label: str, titles: Mapping[str, str]) -> forms.ChoiceField:
    """Return a field that chooses one of several values, which pages call by their titles, or all of them."""
    return forms.ChoiceField(required=False, choices=[("", "all"), *titles.items()], label=label)


def question_missing(request: HttpRequest, benchmark: Benchmark, error: ProbingError) -> HttpResponse:
    """Return the page that says why there is no such question, with the way to those that there are."""
    return render(request, "question_missing.html", {"benchmark": benchmark, "error": error}, status=404)


def questions_view(request: HttpRequest, name: str) -> HttpResponse:
    benchmark = get_object_or_404(Benchmark, named(name), current=True)
    judged = bool(benchmark.correctness.column)
    try:
        form = QuestionsForm(request.GET, read_questions(benchmark).relations, judged)
        chosen = difficulties(benchmark, form.cleaned_data)
    except ProbingError as error:
        return question_missing(request, benchmark, error)
    page = page_of(chosen, request)
    is_whole_file = wants_file(request) and "page" not in request.GET
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
        "has_shares": any(question["answered"] for question in chosen),
    }
    return render(request, "questions.html", context)


def question_columns(benchmark: Benchmark, judged: bool) -> list[str]:
    """Return the columns of the CSV; those on right answers only where answers are right or wrong."""
    truth = ["truth"] if pages_of(benchmark).question_form is STATEMENT else []
    answer, counts = (["answer"], ["answered", "right", "share"]) if judged else ([], [])
    return ["id", "question", *truth, *answer, "relation", *PAIR_TAGS, *counts]


def _question_row(benchmark: Benchmark, question: Row) -> Row:
    """Return a question (`difficulties`) in words, with what its relation is called."""
    relation, item = question["of_relation"], question["item"]
    options = relation.options_of(item)
    return {
        **question,
        "id": question_id(relation, item),
        "question": usual_sentence(benchmark, pages_of(benchmark).question_form, relation, item),
        "href": question_url(benchmark, relation, item),
        "truth": "" if item.is_true is None else TRUTH_VALUES[item.is_true],
        "answer": "; ".join(options[number] for number in item.answers),
        "relation": relation_name(relation),
        **{tag: str(relation.tags.get(tag, "")) for tag in PAIR_TAGS},
    }
