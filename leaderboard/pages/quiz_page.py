"""/benchmarks/<slug>/try/ : ten questions of a benchmark for a reader, and which models answer them."""

import re
from collections.abc import Mapping
from secrets import token_hex
from typing import Any

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from leaderboard.figures.questions import question_url
from leaderboard.figures.quiz import (
    Marked,
    QuizQuestion,
    describe_rank,
    drawn_questions,
    mark,
    model_names,
    quiz_scores,
)
from leaderboard.models import Benchmark
from leaderboard.models.benchmark import named
from leaderboard.pages.question_page import question_missing
from leaderboard.probes import pages_of
from leaderboard.probes.wording import QuestionForm
from leaderboard.ui import cells
from leaderboard.ui.cells import Cell
from leaderboard.ui.csv_files import table_response, wants_csv
from leaderboard.ui.tables import Column, Table, view
from leaderboard.ui.visible import visible
from probing.errors import ProbingError

SEED = re.compile(r"[0-9a-z]{1,12}")
LONGEST_ANSWER = 100
NAMES_SHOWN, NAMES_LISTED = 2, 20  # models that a cell, and its tooltip, name


def quiz_view(request: HttpRequest, name: str) -> HttpResponseBase:
    """Show ten drawn questions, or with answers in the query string how many of them are right."""
    benchmark = get_object_or_404(Benchmark, named(name), current=True)
    form = pages_of(benchmark).question_form
    if form.unplayable:
        return render(request, "quiz.html", {"benchmark": benchmark, "unplayable": form.unplayable})
    seed = request.GET.get("draw", "")
    if not SEED.fullmatch(seed):
        return HttpResponseRedirect(f"{reverse('quiz', args=[name])}?draw={token_hex(3)}")
    try:
        questions = drawn_questions(benchmark, seed)
    except ProbingError as error:
        return question_missing(request, benchmark, error)
    context: dict[str, Any] = {"benchmark": benchmark, "form": form, "seed": seed, "new": reverse("quiz", args=[name])}
    if "done" not in request.GET:
        return render(request, "quiz.html", {**context, "questions": _shown(questions, form)})
    answers = [request.GET.get(f"q{number}", "")[:LONGEST_ANSWER] for number in range(1, len(questions) + 1)]
    marked = mark(benchmark, questions, answers, form.typed)
    names = model_names(benchmark)
    table = results_table(benchmark, marked, form, names)
    if wants_csv(request):
        return table_response(table, request)
    right = sum(row.right for row in marked)
    result = {
        "right": right,
        "asked": len(marked),
        "rank": describe_rank(quiz_scores(names, marked), right, len(marked)),
        "results": view(table, request.GET),
    }
    return render(request, "quiz_result.html", {**context, **result})


def _shown(questions: list[QuizQuestion], form: QuestionForm) -> list[tuple[QuizQuestion, Any]]:
    return [(question, form.sentence(question.relation, question.item, question.template)) for question in questions]


def results_table(
    benchmark: Benchmark, marked: list[Marked], form: QuestionForm, names: Mapping[int, str]
) -> Table[Marked]:
    """Return the questions with the reader's answer, the right one, and how many models were right."""

    def sentence(row: Marked) -> Cell:
        question = row.question
        text = str(form.sentence(question.relation, question.item, question.template))
        return cells.text(text, question_url(benchmark, question.relation, question.item))

    def own(row: Marked) -> Cell:
        text = f"{'✓' if row.right else '✗'} {visible(row.answer) or 'no answer'}"
        spoken = "right" if row.right else "wrong"
        return Cell(visible(row.answer), text, kind="yes" if row.right else "no", spoken=spoken)

    def models(row: Marked) -> Cell:
        right = len(row.right_runs)
        words = f"{right} of {len(row.runs)}" if row.runs else "not asked"
        return Cell(right if row.runs else None, words, kind="number" if row.runs else "missing")

    def which(row: Marked) -> Cell:
        right = sorted({visible(names[run]) for run in row.right_runs if run in names})
        short = ", ".join(name.rpartition("/")[-1] for name in right[:NAMES_SHOWN])
        more = f" and {len(right) - NAMES_SHOWN} more" if len(right) > NAMES_SHOWN else ""
        return Cell("; ".join(right), (short + more) or "none", note=", ".join(right[:NAMES_LISTED]) if more else "")

    return Table(
        name="results",
        caption="Your answers and those of the models",
        columns=[
            Column("question", "Question", sentence, align="head"),
            Column("own", "Your answer", own),
            Column("answer", "Right answer", lambda row: cells.text(", ".join(row.question.answers))),
            Column("models_right", "Models right", models, align="number"),
            Column("right_models", "Which", which, align="wide"),
            Column("models", "Models asked", lambda row: cells.number(len(row.runs)), shown=False),
        ],
        rows=marked,
        main=True,
        sortable=False,
    )
