"""/search/ and its suggestions, and the answer to an address that does not exist."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from leaderboard.figures.filters import near_names
from leaderboard.figures.questions import question_url, questions_with
from leaderboard.figures.runs import MODELS_NAMED, models_named
from leaderboard.models import Benchmark
from leaderboard.probes import pages_of
from leaderboard.probes.wording import read_relations, relation_name, usual_sentence
from leaderboard.serving.errors import API, problem, refusal
from probing.benchmark import Item, Relation

LEAST_LETTERS = 2  # of a text, so that not everything is suggested
MOST_BENCHMARKS, MOST_RELATIONS = 5, 8
MOST_QUESTIONS = 5  # of each benchmark; the list of its questions has all
Page = dict[str, str]  # its address, the kind of thing that it is about, and the name that is put into the field


# /search/?search=… : what a text names, the same from each page.


def search_view(request: HttpRequest) -> HttpResponseBase:
    """Open the page of exactly this name, or show the models, benchmarks, relations and questions that contain it."""
    text = request.GET.get("search", "").strip()
    named = pages_named(text)
    if len(pages := _exactly(named, text)) == 1:
        return HttpResponseRedirect(pages[0]["href"])
    questions = questions_named(text)
    kinds = {"model": "Models", "benchmark": "Benchmarks", "relation": "Relations"}
    context = {
        "text": text,
        "least": LEAST_LETTERS,
        "is_too_short": len(text) < LEAST_LETTERS,
        "kinds": [(title, [page for page in named if page["kind"] == kind]) for kind, title in kinds.items()],
        "more_models": sum(page["kind"] == "model" for page in named) == MODELS_NAMED,
        "questions": questions,
        "any_page": bool(named),
        "near": near_names(text) if text and not named and not questions else [],
    }
    return render(request, "search.html", context)


def pages_named(text: str) -> list[Page]:
    """Return models, then benchmarks and relations whose names contain a text, without regard to case."""
    if len(text.strip()) < LEAST_LETTERS:
        return []
    models = [_page(model.hub_id, "model", model.get_absolute_url()) for model in models_named(text.strip())]
    return [*models, *_benchmarks_and_relations(text)]


def _exactly(pages: Sequence[Page], text: str) -> list[Page]:
    """Return the pages with exactly this name; a model may be named without its owner, a relation without benchmark."""
    word = text.casefold()
    whole = [page for page in pages if page["name"].casefold() == word]
    return whole or [page for page in pages if _short_name(page).casefold() == word]


def _short_name(page: Page) -> str:
    """Return a model's name without its owner, and a relation's without its benchmark."""
    return page["name"].rpartition("/")[2] if page["kind"] == "model" else page["name"].partition(" (")[0]


def _page(name: str, kind: str, href: str) -> Page:
    return {"name": name, "kind": kind, "href": href}


def _benchmarks_and_relations(text: str) -> list[Page]:
    """Return the benchmarks and relations whose names contain a text; files are read once for each process."""
    word = text.strip().casefold()
    benchmarks = _benchmarks()
    titles = [
        _page(benchmark.title, "benchmark", benchmark.get_absolute_url())
        for benchmark in benchmarks
        if word in benchmark.title.casefold() or word in benchmark.slug
    ]
    relations = (
        relation
        for benchmark in benchmarks
        for relation in _relations(benchmark)
        if word in relation["name"].casefold()
    )
    return [*titles[:MOST_BENCHMARKS], *islice(relations, MOST_RELATIONS)]


def _benchmarks() -> list[Benchmark]:
    return list(Benchmark.objects.filter(current=True).order_by("title"))


def questions_named(text: str) -> list[dict[str, Any]]:
    """Return the questions with a text in them by benchmark: some, their number, and the list that has all."""
    if len(text) < LEAST_LETTERS:
        return []
    lists = ((benchmark, questions_with(benchmark, text)) for benchmark in _benchmarks() if benchmark.main)
    return [_questions(benchmark, questions, text) for benchmark, questions in lists if questions]


def _questions(benchmark: Benchmark, questions: Sequence[tuple[Relation, Item]], text: str) -> dict[str, Any]:
    form = pages_of(benchmark).question_form
    shown = [
        _page(usual_sentence(benchmark, form, relation, item), "question", question_url(benchmark, relation, item))
        for relation, item in questions[:MOST_QUESTIONS]
    ]
    href = f"{reverse('questions', args=[benchmark.name])}?{urlencode({'search': text})}"
    return {"benchmark": benchmark, "shown": shown, "number": len(questions), "href": href}


def _relations(benchmark: Benchmark) -> Iterator[Page]:
    """Yield the relations of a benchmark, each once, whatever the number of its languages and pairs."""
    by_label = {relation.label: relation_name(relation) for relation in reversed(read_relations(benchmark))}
    for label, name in by_label.items():
        if "/" not in label:
            address = reverse("relation", args=[benchmark.name, label])
            yield _page(f"{name} ({benchmark.title})", "relation", address)


# /suggestions/?search=… : what the search field of the header suggests while a reader types.


def suggestions_view(request: HttpRequest) -> HttpResponse:
    """Return the list that the field takes its suggestions from, as HTML."""
    pages = pages_named(request.GET.get("search", ""))
    return render(request, "parts/suggestions.html", {"suggestions": pages})


# The answers to addresses that do not exist, with a search and near names, and to those of what is no more.


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request for what does not exist (handler404): JSON below /api/v1/, and a page everywhere else."""
    if request.path.startswith(API):
        return problem(404, "not-found", "There is nothing at this address.", "See /api/ for the addresses that exist.")
    return render(request, "404.html", {"near": near_names(request.path)}, status=404)


def gone(request: HttpRequest, **parts: str | int) -> HttpResponse:
    """Answer a request for what this site had once and has no more, and which nothing replaces."""
    message = "This site no longer has what was at this address."
    return refusal(request, 410, "gone", message, "The pages of runs and benchmarks, and their CSV, have the figures.")
