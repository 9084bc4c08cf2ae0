"""The search of the header, its suggestions, and the answer to an address that does not exist."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from leaderboard.figures.near_names import near_names
from leaderboard.figures.runs import models_named
from leaderboard.models import Benchmark
from leaderboard.probes.wording import read_relations, relation_name
from leaderboard.serving.errors import API, problem, refusal

LEAST_LETTERS = 2  # of a text, so that not everything is suggested
MOST_BENCHMARKS, MOST_RELATIONS = 5, 8


class Suggestion(NamedTuple):
    """A page with the name that is put into the field, and with the kind of thing that it is about."""

    name: str
    kind: str
    href: str


def pages_named(text: str) -> list[Suggestion]:
    """Return models, then benchmarks and relations whose names contain a text, without regard to case."""
    if len(text.strip()) < LEAST_LETTERS:
        return []
    models = [Suggestion(model.hub_id, "model", model.get_absolute_url()) for model in models_named(text.strip())]
    return [*models, *benchmarks_and_relations(text)]


def benchmarks_and_relations(text: str) -> list[Suggestion]:
    """Return the benchmarks and relations whose names contain a text; files are read once for each process."""
    word = text.strip().casefold()
    if len(word) < LEAST_LETTERS:
        return []
    benchmarks = list(Benchmark.objects.filter(current=True).order_by("title"))
    titles = [
        Suggestion(benchmark.title, "benchmark", benchmark.get_absolute_url())
        for benchmark in benchmarks
        if word in benchmark.title.casefold() or word in benchmark.slug
    ]
    relations = (
        relation for benchmark in benchmarks for relation in _relations(benchmark) if word in relation.name.casefold()
    )
    return [*titles[:MOST_BENCHMARKS], *islice(relations, MOST_RELATIONS)]


def page_named(text: str) -> str:
    """Return the address of the benchmark or relation with exactly this name, empty if there is none."""
    word = text.strip().casefold()
    return next((page.href for page in benchmarks_and_relations(text) if page.name.casefold() == word), "")


def _relations(benchmark: Benchmark) -> Iterator[Suggestion]:
    """Yield the relations of a benchmark, each once, whatever the number of its languages and pairs."""
    by_label = {relation.label: relation_name(relation) for relation in reversed(read_relations(benchmark))}
    for label, name in by_label.items():
        if "/" not in label:
            address = reverse("relation", args=[benchmark.name, label])
            yield Suggestion(f"{name} ({benchmark.title})", "relation", address)


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
    message = "This site no longer has badges and frames."
    return refusal(request, 410, "gone", message, "Link to the page of the run or benchmark; its CSV has the figures.")
