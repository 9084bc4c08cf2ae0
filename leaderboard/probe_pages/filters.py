"""The columns that a leaderboard offers and the filter that a query string asks for, for the page and the API."""

from django.http import QueryDict

from leaderboard.lists.scores import Slice, slices
from leaderboard.lists.standings import LeaderboardFilter, chosen_facets, chosen_slices
from leaderboard.models import Benchmark
from leaderboard.probe_pages import pages_of


def offered_slices(benchmark: Benchmark) -> list[Slice]:
    """Return the slices that can be columns of the benchmark's leaderboard."""
    pages = pages_of(benchmark)
    return slices(benchmark, pages.main_metric(benchmark), pages.fine_dimensions)


def read_filter(query: QueryDict, benchmark: Benchmark, offered: list[Slice]) -> LeaderboardFilter:
    """Return what the query string asks for; what does not exist is left out."""
    pages = pages_of(benchmark)
    chosen = chosen_slices(query, offered, pages.default_dimensions)
    return LeaderboardFilter(
        benchmark,
        pages.main_metric(benchmark),
        [*pages.metrics_beside(benchmark), *pages.slice_metrics],
        chosen=chosen_facets(query),
        search=query.get("search", "").strip(),
        slices=pages.chosen_slices(chosen, offered),
        rank_published=query.get("published") == "ranked",
    )
