"""How readers narrow lists of models: facets of both leaderboards, searches, and the names near to a search."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NamedTuple
from urllib.parse import unquote

from django.http import QueryDict
from django.urls import reverse

from leaderboard.figures.overview import ModelRow
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


# The facets by which the overview is narrowed, and what is left without each of them.


LEAST_COVERAGE = 2  # benchmarks with figures that a model must have where a reader asks for several


def _in_size(row: ModelRow, choice: str) -> bool:
    low, high = SIZES[choice]
    return row.parameters is not None and low <= row.parameters < high


def _has_figure(row: ModelRow, choice: str) -> bool:
    if choice == Provenance.PUBLISHED and row.published_apart:
        return True
    return any(figure.is_measured == (choice == Provenance.MEASURED) for figure in row.figures.values())


class OverviewFacet(NamedTuple):
    """A property by which rows are narrowed. `choices` maps values to titles; `holds` tests a row."""

    name: str
    title: str
    choices: Mapping[str, str]
    holds: Callable[[ModelRow, str], bool]


OVERVIEW_FACETS = (
    OverviewFacet(
        "kind",
        "Type",
        {kind: facts.title for kind, facts in KINDS.items()},
        lambda row, kind: row.kind == kind,
    ),
    OverviewFacet("size", "Size", SIZE_TITLES, _in_size),
    OverviewFacet(
        "provenance",
        "Source",
        {Provenance.MEASURED.value: "● measured here", Provenance.PUBLISHED.value: "○ published"},
        _has_figure,
    ),
)
SEVERAL_NAME, SEARCH_NAME = "several", "search"


def chosen_facets(query: QueryDict, facets: Sequence[RunFacet | OverviewFacet] = RUN_FACETS) -> dict[str, str]:
    """Return the choice of each facet in a query string; a choice that does not exist is left out."""
    chosen = {facet.name: query.get(facet.name, "") for facet in facets}
    return {facet.name: chosen[facet.name] for facet in facets if chosen[facet.name] in facet.choices}


@dataclass(frozen=True)
class OverviewFilter:
    """The models that a reader asked for. `chosen` maps a facet's name to the choice."""

    search: str = ""
    chosen: Mapping[str, str] = field(default_factory=dict)
    several: bool = False

    @property
    def active(self) -> dict[str, str]:
        """The names of the parameters that narrow the rows, each with its choice in words."""
        facets = {
            facet.name: facet.choices[self.chosen[facet.name]] for facet in OVERVIEW_FACETS if facet.name in self.chosen
        }
        search = {SEARCH_NAME: f"“{self.search}”"} if self.search else {}
        several = {SEVERAL_NAME: f"at least {LEAST_COVERAGE} benchmarks"} if self.several else {}
        return {**search, **facets, **several}

    def holds(self, row: ModelRow, without: str = "") -> bool:
        """Tell whether a row passes the search and all facets but the one named `without`."""
        if without != SEARCH_NAME and self.search.lower() not in row.hub_id.lower():
            return False
        if without != SEVERAL_NAME and self.several and row.coverage < LEAST_COVERAGE:
            return False
        facets = [facet for facet in OVERVIEW_FACETS if facet.name in self.chosen and facet.name != without]
        return all(facet.holds(row, self.chosen[facet.name]) for facet in facets)

    def left_without(self, rows: Sequence[ModelRow]) -> list[tuple[str, str, int]]:
        """Return for each active filter its name, its choice in words and how many rows would be left without it."""
        return [
            (name, words, sum(self.holds(row, without=name) for row in rows)) for name, words in self.active.items()
        ]

    def near(self, rows: Sequence[ModelRow]) -> list[str]:
        """Return the ids of models whose names are near to the search and that pass all facets, the nearest first."""
        passing = (row.hub_id for row in rows if self.holds(row, without=SEARCH_NAME))
        return near_models(self.search, passing) if self.search else []


def read_overview_filter(query: QueryDict) -> OverviewFilter:
    """Return what a query string asks for; a choice that does not exist is left out."""
    several = query.get(SEVERAL_NAME) == "yes"
    return OverviewFilter(query.get(SEARCH_NAME, "").strip(), chosen_facets(query, OVERVIEW_FACETS), several)


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
