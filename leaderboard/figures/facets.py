"""Facets of a leaderboard: properties of runs by which its rows are narrowed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.http import QueryDict

from leaderboard.models import Run
from probing.kinds import KINDS

Provenance = Run.Provenance
REPORTED = (Provenance.PUBLISHED, Provenance.THIRD_PARTY)
SIZES = {"100m": (0, 10**8), "1b": (10**8, 10**9), "10b": (10**9, 10**10), "more": (10**10, 10**16)}
SIZE_TITLES = {"100m": "below 100 M", "1b": "100 M to 1 B", "10b": "1 B to 10 B", "more": "10 B and more"}


@dataclass(frozen=True)
class Facet:
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


FACETS = (
    Facet("kind", "Type", {kind: kind for kind in KINDS}, lambda run: run.model.kind),
    Facet("size", "Size", SIZE_TITLES, _size),
    Facet(
        "provenance",
        "Source",
        {choice.value: choice.label.lower() for choice in (Provenance.MEASURED, *REPORTED)},
        lambda run: run.provenance,
    ),
)


def chosen_facets(query: QueryDict) -> dict[str, str]:
    """Return the choice of each facet in a query string; a choice that does not exist is left out."""
    chosen = {facet.name: query.get(facet.name, "") for facet in FACETS}
    return {facet.name: chosen[facet.name] for facet in FACETS if chosen[facet.name] in facet.choices}
