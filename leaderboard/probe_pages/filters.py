"""The columns that a leaderboard offers and the filter that a query string asks for, for the page and the API."""

from django.http import QueryDict

from leaderboard.lists.facets import chosen_facets
from leaderboard.lists.scores import OVERALL, Slice, slices
from leaderboard.lists.standings import LeaderboardFilter, chosen_slices
from leaderboard.models import Benchmark
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.culture.places import Place, chosen_place, places


def offered_slices(benchmark: Benchmark) -> list[Slice]:
    """Return the slices that can be columns of the benchmark's leaderboard."""
    pages = pages_of(benchmark)
    return slices(benchmark, pages.main_metric(benchmark), pages.fine_dimensions)


def place_of(query: QueryDict, benchmark: Benchmark, offered: list[Slice]) -> Place | None:
    """Return the part of the items that the rows are about, where a reader chooses one."""
    return chosen_place(query, places(pages_of(benchmark), offered))


def read_filter(query: QueryDict, benchmark: Benchmark, offered: list[Slice]) -> LeaderboardFilter:
    """Return what the query string asks for; what does not exist is left out."""
    pages, place = pages_of(benchmark), place_of(query, benchmark, offered)
    defaults = pages.default_dimensions if place is None else ()
    columns = pages.chosen_slices(chosen_slices(query, offered, defaults), offered)
    names = pages.split.options if pages.split else ()
    return LeaderboardFilter(
        benchmark,
        pages.ranking_metric(benchmark),
        [*pages.metrics_beside(benchmark), *pages.slice_metrics],
        chosen=chosen_facets(query),
        search=query.get("search", "").strip(),
        slices=columns,
        rank_published=query.get("published") == "ranked",
        part=place.part if place else OVERALL,
        sides=place.sides if place else (),
        limits=dict(zip(names, (place.pair, place.language), strict=True)) if place else {},
    )
