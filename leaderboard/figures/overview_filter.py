"""The facets by which the overview is narrowed, and what is left without each of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.http import QueryDict

from leaderboard.figures.facets import SIZE_TITLES, SIZES
from leaderboard.figures.near_names import near_models
from leaderboard.figures.overview import ModelRow, Provenance
from probing.kinds import KINDS

SEVERAL = 2  # benchmarks with figures that a model must have where a reader asks for several


def _in_size(row: ModelRow, choice: str) -> bool:
    low, high = SIZES[choice]
    return row.parameters is not None and low <= row.parameters < high


def _has_weights(row: ModelRow, choice: str) -> bool:
    """Tell whether a model's weights are of a kind; quantised weights with an adapter are of two."""
    kinds = {"quantised": row.key.is_quantised, "adapter": row.key.has_adapter}
    return kinds.get(choice, not any(kinds.values()))


def _has_figure(row: ModelRow, choice: str) -> bool:
    if choice == Provenance.PUBLISHED and row.published_apart:
        return True
    return any(figure.is_measured == (choice == Provenance.MEASURED) for figure in row.figures.values())


class RowFacet(NamedTuple):
    """A property by which rows are narrowed. `choices` maps values to titles; `holds` tests a row."""

    name: str
    title: str
    choices: Mapping[str, str]
    holds: Callable[[ModelRow, str], bool]


FACETS = (
    RowFacet(
        "kind",
        "Type",
        {kind: facts.title for kind, facts in KINDS.items()},
        lambda row, kind: row.kind == kind,
    ),
    RowFacet("size", "Size", SIZE_TITLES, _in_size),
    RowFacet(
        "weights",
        "Weights",
        {"full": "full precision", "quantised": "quantised", "adapter": "with an adapter"},
        _has_weights,
    ),
    RowFacet(
        "provenance",
        "Source",
        {Provenance.MEASURED.value: "● measured here", Provenance.PUBLISHED.value: "○ published"},
        _has_figure,
    ),
)
SEVERAL_NAME, SEARCH_NAME = "several", "search"


@dataclass(frozen=True)
class OverviewFilter:
    """The models that a reader asked for. `chosen` maps a facet's name to the choice."""

    search: str = ""
    chosen: Mapping[str, str] = field(default_factory=dict)
    several: bool = False

    @property
    def active(self) -> dict[str, str]:
        """The names of the parameters that narrow the rows, each with its choice in words."""
        facets = {facet.name: facet.choices[self.chosen[facet.name]] for facet in FACETS if facet.name in self.chosen}
        search = {SEARCH_NAME: f"“{self.search}”"} if self.search else {}
        several = {SEVERAL_NAME: f"at least {SEVERAL} benchmarks"} if self.several else {}
        return {**search, **facets, **several}

    def holds(self, row: ModelRow, without: str = "") -> bool:
        """Tell whether a row passes the search and all facets but the one named `without`."""
        if without != SEARCH_NAME and self.search.lower() not in row.hub_id.lower():
            return False
        if without != SEVERAL_NAME and self.several and row.coverage < SEVERAL:
            return False
        facets = [facet for facet in FACETS if facet.name in self.chosen and facet.name != without]
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
    chosen = {facet.name: query.get(facet.name, "") for facet in FACETS}
    return OverviewFilter(
        query.get(SEARCH_NAME, "").strip(),
        {facet.name: chosen[facet.name] for facet in FACETS if chosen[facet.name] in facet.choices},
        query.get(SEVERAL_NAME) == "yes",
    )
