"""/benchmarks/<slug>/try/ : ten questions of a benchmark for a reader, and how many models answer each rightly."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from secrets import token_hex
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from leaderboard.figures.outcomes import NOT_COUNTED, RIGHT, answers_of, measured_on
from leaderboard.figures.questions import question_url, read_questions
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
from probing.benchmark import Benchmark as Content
from probing.benchmark import Item, Relation
from probing.errors import ProbingError

QUESTIONS = 10
OPTIONS = 6  # the right one, and wrong ones that are drawn at random
OWN_LANGUAGE = "en"  # that of the pages
SEED = re.compile(r"[0-9a-z]{1,12}")
LONGEST_ANSWER = 100
NAMES_SHOWN, NAMES_LISTED = 2, 20  # models that a cell, and its tooltip, name


@dataclass(frozen=True)
class QuizQuestion:
    """A drawn question with the wording that is shown, and the numbers of the options in the order that is shown."""

    relation: Relation
    item: Item
    template: int
    options: Sequence[int]

    @property
    def answers(self) -> list[str]:
        """The right answers."""
        return [self.label(answer) for answer in self.item.answers]

    def label(self, option: int) -> str:
        return self.relation.options_of(self.item)[option]

    @property
    def choices(self) -> list[tuple[int, str]]:
        """The options with their numbers."""
        return [(option, self.label(option)) for option in self.options]


class Marked(NamedTuple):
    """A question with a reader's answer, and the runs whose answer counts, with whether it is right."""

    question: QuizQuestion
    answer: str
    right: bool
    runs: Mapping[int, bool]

    @property
    def right_runs(self) -> list[int]:
        """The runs that are right."""
        return [run for run, right in self.runs.items() if right]


class QuizScore(NamedTuple):
    """A model that answered all questions, and how many of them rightly."""

    run: int
    model: str
    right: int


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


def drawn_questions(benchmark: Benchmark, seed: str) -> list[QuizQuestion]:
    """Return ten questions, the same for the same seed, of as many relations as possible."""
    chance = Random(f"{benchmark.slug} {seed}")
    relations = [relation for relation in _readable(read_questions(benchmark)) if relation.items]
    rounds = [chance.sample(relations, len(relations)) for _ in range(QUESTIONS)] if relations else []
    questions: dict[tuple[str, int], QuizQuestion] = {}
    for relation in (relation for one_round in rounds for relation in one_round):
        item = chance.choice(relation.items)
        if len(questions) < QUESTIONS and (relation.label, item.index) not in questions:
            questions[relation.label, item.index] = _question(benchmark, relation, item, chance)
    return list(questions.values())


def _readable(content: Content) -> list[Relation]:
    """Return the relations with the usual tags, in the language of the pages where there are any."""
    usual = content.select(tags=content.usual_tags).relations
    own = [relation for relation in usual if relation.tags.get("language", OWN_LANGUAGE) == OWN_LANGUAGE]
    return own or list(usual)


def _question(benchmark: Benchmark, relation: Relation, item: Item, chance: Random) -> QuizQuestion:
    right = chance.choice(item.answers)
    wrong = [option for option in range(len(relation.options_of(item))) if option not in item.answers]
    options = [right, *chance.sample(wrong, min(len(wrong), OPTIONS - 1))]
    usual = next(iter(benchmark.settings.get("templates") or [0]))
    template = usual if usual < len(relation.templates) else 0
    return QuizQuestion(relation, item, template, chance.sample(options, len(options)))


def mark(benchmark: Benchmark, questions: Sequence[QuizQuestion], answers: Sequence[str], typed: bool) -> list[Marked]:
    """Mark a reader's answers, and look up the answers of the models. One query."""
    outcomes = answers_of(benchmark, {question.relation.label for question in questions})
    marked = []
    for question, answer in zip(questions, answers, strict=True):
        text = answer if typed else _chosen_label(question, answer)
        right = _same(text, question.answers) if typed else text in question.answers
        runs = {
            run: of_item[question.template] == RIGHT
            for run, of_run in outcomes[question.relation.label].items()
            for of_item in [of_run.of(question.item.index)]
            if question.template < len(of_item) and of_item[question.template] != NOT_COUNTED
        }
        marked.append(Marked(question, text, right, runs))
    return marked


def _chosen_label(question: QuizQuestion, answer: str) -> str:
    """Return the option that a reader chose; empty where the number is none of those that were offered."""
    return next((label for option, label in question.choices if str(option) == answer), "")


def _same(text: str, answers: Sequence[str]) -> bool:
    """Tell whether a typed text is one of the answers, whatever its case, accents and spaces."""
    return _plain(text) in map(_plain, answers)


def _plain(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(letter for letter in letters if not unicodedata.combining(letter)).split())


def model_names(benchmark: Benchmark) -> dict[int, str]:
    """Map the number of each run that was measured here to its model's id. One query."""
    return dict(measured_on(benchmark).order_by("model__hub_id").values_list("pk", "model__hub_id"))


def quiz_scores(names: Mapping[int, str], marked: Sequence[Marked]) -> list[QuizScore]:
    """Return the runs that answered all questions, the best first."""
    rows = [
        QuizScore(run, name, sum(question.runs[run] for question in marked))
        for run, name in names.items()
        if all(run in question.runs for question in marked)
    ]
    return sorted(rows, key=lambda row: (-row.right, row.model))


def describe_rank(scores: Sequence[QuizScore], right: int, questions: int) -> str:
    """Say between which models a reader with this many right answers stands on these questions."""
    if not scores:
        return "No model that was measured here has answered all of these questions, so there is none to compare with."
    better = [row for row in scores if row.right > right]
    equal = [row for row in scores if row.right == right]
    worse = [row for row in scores if row.right < right]
    if equal:
        others = f" and {len(equal) - 1} more" if len(equal) > 1 else ""
        return f"You stand level with {equal[0].model}{others} on these {questions}."
    above = f"{better[-1].model} ({better[-1].right} right)" if better else ""
    below = f"{worse[0].model} ({worse[0].right} right)" if worse else ""
    if above and below:
        return f"You would stand between {above} and {below} on these {questions}."
    whose = "the best model here" if below else "the last model here"
    return f"You would stand {'above' if below else 'below'} {below or above}, {whose}, on these {questions}."
