"""How readers narrow lists of models: facets of a leaderboard, and the names near to a search."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from urllib.parse import unquote

from django.http import QueryDict
from django.urls import reverse

from leaderboard.models import Benchmark, Model, Run
from probing.kinds import KINDS

Provenance = Run.Provenance
REPORTED = (Provenance.PUBLISHED, Provenance.ELSEWHERE)
SIZES = {"100m": (0, 10**8), "1b": (10**8, 10**9), "10b": (10**9, 10**10), "more": (10**10, 10**16)}
SIZE_TITLES = {"100m": "below 100 M", "1b": "100 M to 1 B", "10b": "1 B to 10 B", "more": "10 B and more"}


@dataclass(frozen=True)
class RunFacet:
    """A property by which the leaderboard is narrowed.

    `choices` maps values to titles; `value` returns the one that a run has, or a text that is none of them.
    """

    name: str
    title: str
    choices: Mapping[str, str]
    value: Callable[[Run], str]


def _size(run: Run) -> str:
    parameters = run.model.parameters or -1
    return next((name for name, (low, high) in SIZES.items() if low <= parameters < high), "")


RUN_FACETS = (
    RunFacet("kind", "Type", {kind: kind for kind in KINDS}, lambda run: run.model.kind),
    RunFacet("size", "Size", SIZE_TITLES, _size),
    RunFacet(
        "provenance",
        "Source",
        {choice.value: choice.label.lower() for choice in (Provenance.MEASURED, *REPORTED)},
        lambda run: run.provenance,
    ),
)


def chosen_facets(query: QueryDict) -> dict[str, str]:
    """Return the choice of each facet in a query string; a choice that does not exist is left out."""
    chosen = {facet.name: query.get(facet.name, "") for facet in RUN_FACETS}
    return {facet.name: chosen[facet.name] for facet in RUN_FACETS if chosen[facet.name] in facet.choices}


# Models and benchmarks whose names are near to a text, for pages that do not exist and searches without a result.


SUGGESTIONS = 5
NEAR = 0.6  # the least similarity, as difflib counts it
LONGEST = 200  # letters of an address that are compared
PREFIXES = ("models/", "benchmarks/")


def near_names(path: str) -> list[tuple[str, str]]:
    """Return the names and addresses of models and benchmarks to which an address is near, the nearest first.

    Names are compared without regard to case, models with and without their owner.
    """
    text = unquote(path).strip("/").lower()[:LONGEST]
    for prefix in PREFIXES:
        text = text.removeprefix(prefix)
    addresses = _addresses()
    near = get_close_matches(text, addresses, n=3 * SUGGESTIONS, cutoff=NEAR)
    return list(dict.fromkeys(addresses[name] for name in near))[:SUGGESTIONS]


def near_models(text: str, hub_ids: Iterable[str]) -> list[str]:
    """Return the ids of models to which a text is near, with or without their owner, the nearest first."""
    ids = {text: hub_id for hub_id in hub_ids for text in (hub_id.lower(), hub_id.rpartition("/")[2].lower())}
    near = get_close_matches(text.lower()[:LONGEST], ids, n=2 * SUGGESTIONS, cutoff=NEAR)
    return list(dict.fromkeys(ids[name] for name in near))[:SUGGESTIONS]


def models_of(benchmark: Benchmark) -> Iterable[str]:
    """Return the ids of models with runs on a benchmark. One query."""
    return Model.objects.filter(runs__benchmark=benchmark).values_list("hub_id", flat=True).distinct()


def _addresses() -> dict[str, tuple[str, str]]:
    """Map every text under which a model or a benchmark may be sought to its name and its address."""
    pages = {}
    for hub_id in Model.objects.order_by("hub_id").values_list("hub_id", flat=True).distinct():
        org, _, name = hub_id.partition("/")
        if name:
            page = (hub_id, reverse("model", args=[org, name]))
            pages[hub_id.lower()] = page
            pages.setdefault(name.lower(), page)
    for benchmark in Benchmark.objects.filter(current=True).order_by("slug"):
        page = (benchmark.title, benchmark.get_absolute_url())
        pages[benchmark.slug.lower()] = pages[benchmark.title.lower()] = page
    return pages
