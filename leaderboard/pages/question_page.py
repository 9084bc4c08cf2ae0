"""/benchmarks/<slug>/items/<question>/: a question with the answers of all models, or of one run.

With `?run=<number>` the page is about that run: what it answered, with everything that is stored of it.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from leaderboard.figures import item_rows
from leaderboard.figures.comparisons import ModelAnswer
from leaderboard.figures.item_rows import ItemsMissing
from leaderboard.figures.outcomes import NOT_COUNTED, RIGHT
from leaderboard.figures.questions import (
    BenchmarkQuestion,
    QuestionOutcomes,
    question_named,
    question_outcomes,
    question_url,
    questions_url,
    read_runs,
    run_outcomes,
)
from leaderboard.models import Benchmark, Run
from leaderboard.models.benchmark import named
from leaderboard.pages.items_page import items_missing
from leaderboard.pages.questions_page import question_missing
from leaderboard.probes import pages_of
from leaderboard.probes.items import ItemRow, RunAnswer, item_url
from leaderboard.probes.wording import AnswerWords, language_of, relation_name, tag_text
from leaderboard.tables import File, Row, download, filled, page_of
from leaderboard.ui import charts, labels
from leaderboard.ui.charts.basics import Chart, Point
from leaderboard.ui.links import link
from leaderboard.ui.spelled import parameters
from leaderboard.ui.visible import visible
from probing.errors import ProbingError
from probing.probes.probe import VERSION_TAGS

MODELS_EACH_PAGE = 10
NUMBER = re.compile("[0-9]{1,18}")  # of a run


def question_view(request: HttpRequest, name: str, question: str) -> HttpResponseBase:
    run = _chosen_run(request, name)
    benchmark = run.benchmark if run else get_object_or_404(Benchmark, named(name), current=True)
    try:
        item = question_named(benchmark, question)
        stored = item_rows.of_item(run, item.relation.label, item.item.index) if run else {}
    except ProbingError as error:
        if run and isinstance(error, ItemsMissing):
            return items_missing(request, run, error)
        return question_missing(request, benchmark, error)
    return _question_page(request, benchmark, item, run, stored)


def _question_page(
    request: HttpRequest, benchmark: Benchmark, question: BenchmarkQuestion, run: Run | None, stored: Mapping[int, Row]
) -> HttpResponse:
    """Show the question; `stored` has the chosen run's rows of it by template."""
    outcomes, words = question_outcomes(benchmark, question), pages_of(benchmark).words
    wordings = _wordings(request, benchmark, question, outcomes, sorted(stored))
    templates = [wording["template"] for wording in wordings]
    current = next(wording["template"] for wording in wordings if wording["current"])
    page = page_of([run.pk] if run else outcomes.by_share(), request, size=MODELS_EACH_PAGE)
    answered = run_outcomes(run, question) if run else outcomes
    rows = [answer_row(one, question, templates, answered.of(one.pk)) for one in read_runs(list(page))]
    judged = any(row["counted"] for row in rows)
    answer = _answer_of(run, question, stored.get(current)) if run else None
    files: dict[str, File] = {
        "answers": (answer_columns(templates, judged=judged), rows),
        **{table["name"]: (table["columns"], table["rows"]) for table in (answer["tables"] if answer else ())},
    }
    files = {name: file for name, file in files.items() if name == "answers" or file[1]}
    if file := download(request, files):
        return file
    sizes = None if run else sizes_chart(benchmark, question, outcomes, len(wordings))
    context = {
        **{table: of_table for table, (_, of_table) in files.items()},
        **_place(benchmark, question, run),
        "answer": answer,
        "prompt": stored.get(current, {}).get("prompt"),
        "wordings": wordings,
        "words": words,
        "verdict": verdict(outcomes, len(wordings), words),
        "charts": {"sizes": sizes} if sizes else {},
        "instead": [] if run or words.both_true else said_instead(rows),
        "page": page,
        "judged": judged,
        "filled": filled(rows, ("settings", "parameters")),
    }
    return render(request, "question.html", context)


def _answer_of(run: Run, question: BenchmarkQuestion, row: Row | None) -> RunAnswer | None:
    """Return everything that is stored of a run's answer to a wording, None if it was not asked that."""
    item = row and ItemRow(run, row, question.relation, question.item)
    return pages_of(run.benchmark).run_answer(item) if item else None


def _wordings(
    request: HttpRequest,
    benchmark: Benchmark,
    question: BenchmarkQuestion,
    outcomes: QuestionOutcomes,
    asked_of_run: Sequence[int],
) -> list[Row]:
    """Return the wordings that some run was asked, with the numbers of models that answered, and did so rightly.

    One is the current one, of a run the first that it was asked. Pages count wordings from 1 over all templates.
    """
    form = pages_of(benchmark).question_form
    templates = sorted({*outcomes.asked(benchmark, question), *asked_of_run})
    by_number = {str(template + 1): template for template in templates}
    current = by_number.get(request.GET.get("wording", ""), [*asked_of_run, *templates][0])
    return [
        {
            "template": template,
            "number": template + 1,
            "sentence": form.sentence(question.relation, question.item, template),
            "answered": len(counted),
            "right": counted.count(RIGHT),
            "share": counted.count(RIGHT) / len(counted) if counted else None,
            "href": link(request.GET, wording=str(template + 1)),
            "current": template == current,
        }
        for template in templates
        for counted in [outcomes.counted(template)]
    ]


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


def sizes_chart(
    benchmark: Benchmark, question: BenchmarkQuestion, outcomes: QuestionOutcomes, wordings: int
) -> Chart | None:
    """Return the models along a line of sizes by how often they are right; None for fewer than two of known size."""
    words, address = pages_of(benchmark).words, question_url(benchmark, question.relation, question.item)
    shares = {run: outcomes.share(run) for run in outcomes.sizes}
    points = [
        Point(outcomes.models[run], share, x=outcomes.sizes[run], href=f"{address}?run={run}")
        for run, share in shares.items()
        if share is not None
    ]
    if len(points) < 2:
        return None
    whole = [point for point in points if point.value == 1]
    smallest = min(whole, key=lambda point: point.x or 0, default=None)
    where = " in every wording" if wordings > 1 else ""
    if smallest is None:
        summary = f"None of the {len(points)} models of known size {words.one_prefers}{where}."
    else:
        size = parameters(int(smallest.x or 0))
        summary = f"The smallest model that {words.one_prefers}{where} is {smallest.label}, with {size} parameters."
    ends = (words.wrong, words.right) if wordings == 1 else ("no wording", "every wording")
    return Chart("sizes", "Models by size", summary, charts.by_size(points, ends))


def former_item_view(request: HttpRequest, pk: int, relation: str, template: int, index: int) -> HttpResponse:
    """Lead from the former page of one item of a run to that of its question."""
    run = get_object_or_404(Run.objects.select_related("benchmark"), pk=pk)
    row = {"relation": relation, "template": template, "index": index}
    return redirect(item_url(run, row), permanent=True)


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
        "run": run,
        "one_counts": pages_of(benchmark).question_form.one_counts,
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


# Every model's answer to each wording.


LONGEST, LONGEST_NOTE = 60, 500  # letters of an answer that a cell and its tooltip show
MOST_INSTEAD = 5  # wrong answers that are counted


def _rows(run: Run, question: BenchmarkQuestion) -> dict[int, Row]:
    """Return the stored rows of a question by template; a run without files has none."""
    columns = (*_model_answer(run).columns, "relation", "scores", "prediction")
    with suppress(ItemsMissing):
        rows = item_rows.answers(run, question.relation.label, [question.item.index], columns)
        return {row["template"]: row for row in rows}
    return {}


def _model_answer(run: Run) -> ModelAnswer:
    pages = pages_of(run.benchmark)
    return pages.question_form.answer or pages.model_answer


def answer_columns(templates: Sequence[int], *, judged: bool) -> list[str]:
    """Return the columns of the CSV; the number of right answers only where several wordings can be right or wrong."""
    of_templates = [name for template in templates for name in (f"answer_{template}", f"right_{template}")]
    right = ["right"] if judged and len(templates) > 1 else []
    return ["model", "settings", "parameters", *right, *of_templates]


def answer_row(run: Run, question: BenchmarkQuestion, templates: Sequence[int], outcomes: Sequence[int]) -> Row:
    """Return a run with its answer to each wording, which leads to everything that is stored of it."""
    stored = _rows(run, question)
    first = next(iter(stored.values()), None)
    counted = [outcome for outcome in outcomes if outcome != NOT_COUNTED]
    outcome_of = dict(enumerate(outcomes))
    given = {n: _given(run, question, n, stored.get(n), outcome_of.get(n, NOT_COUNTED)) for n in templates}
    return {
        "run": run,
        "href": item_url(run, first) if first else run.get_absolute_url(),
        "answers": list(given.values()),
        "counted": len(counted),
        "model": visible(run.model.hub_id),
        "settings": labels.variant(run),
        "parameters": run.model.parameters,
        "right": counted.count(RIGHT) if counted else None,
        **{f"answer_{template}": answer["text"] for template, answer in given.items()},
        **{f"right_{template}": answer["right"] for template, answer in given.items()},
    }


def _given(run: Run, question: BenchmarkQuestion, template: int, row: Row | None, outcome: int) -> Row:
    """Return an answer as it stands in the file and on the page, and whether it is right, None if not counted."""
    text = visible(" ".join(_model_answer(run).text(row).split())) if row else None
    tie = _tied(row, question.relation.options_of(question.item)) if row else ""
    whole = f"tie: {tie}" if tie else text or ""
    shown = shorten(whole, LONGEST)
    return {
        "number": template + 1,
        "text": text,
        "shown": shown,
        "note": "" if shown == whole else shorten(whole, LONGEST_NOTE),
        "right": None if outcome == NOT_COUNTED else outcome == RIGHT,
    }


def shorten(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


def _tied(row: Row, options: Sequence[str]) -> str:
    """Return the options that share the best score, of which the first counts as the answer; empty without a tie."""
    scores = row.get("scores") or []
    if len(scores) != len(options) or len(scores) < 2:
        return ""
    best = [option for option, score in zip(options, scores, strict=True) if score == max(scores)]
    return ", ".join(best) if len(best) > 1 else ""


def said_instead(rows: Sequence[Row]) -> list[Row]:
    """Return the most frequent answers that are not right, with how many of all answers they are."""
    judged = [answer for row in rows for answer in row["answers"] if answer["right"] is not None]
    wrong = Counter(answer["shown"] for answer in judged if not answer["right"] and answer["text"])
    frequent = wrong.most_common(MOST_INSTEAD)
    return [
        {"answer": answer, "number": number, "of": len(judged), "share": number / len(judged)}
        for answer, number in frequent
    ]
