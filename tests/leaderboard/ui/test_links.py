"""Links of pages: numbers of pages, and addresses that keep what was chosen."""

import pytest
from django.core.paginator import Paginator
from django.http import QueryDict

from leaderboard.tables import page_in
from leaderboard.ui.links import link, page_links


def test_an_empty_list_has_one_page() -> None:
    page = page_in([], QueryDict("page=7"), "")
    assert page.number == 1
    assert page_links(QueryDict(), "page", page) == []


@pytest.mark.parametrize(
    ("pages", "current", "titles"),
    [
        (1, 1, ""),
        (2, 1, "[1] 2"),
        (6, 1, "[1] 2 3 4 5 6"),
        (7, 1, "[1] 2 3 … 7"),
        (20, 1, "[1] 2 3 … 20"),
        (20, 4, "1 2 3 [4] 5 6 … 20"),
        (20, 5, "1 2 3 4 [5] 6 7 … 20"),
        (20, 6, "1 … 4 5 [6] 7 8 … 20"),
        (20, 16, "1 … 14 15 [16] 17 18 19 20"),
        (20, 20, "1 … 18 19 [20]"),
    ],
)
def test_page_links_leave_out_two_pages_or_more(pages: int, current: int, titles: str) -> None:
    links = page_links(QueryDict(), "page", Paginator(range(pages * 10), 10).page(current))
    assert " ".join(f"[{link.title}]" if link.current else link.title for link in links) == titles


def test_page_links_keep_the_rest_of_the_query_string_and_an_ellipsis_links_nowhere() -> None:
    links = page_links(QueryDict("kind=causal&models-page=9"), "models-page", Paginator(range(200), 10).page(9))
    assert links[0] == ("1", "?kind=causal&models-page=1", False)
    assert links[1] == ("…", "", False)


def test_a_link_sets_and_removes_parameters_and_keeps_the_others() -> None:
    query = QueryDict("kind=causal&page=2&columns=a&columns=b")
    assert link(query, page=None, sort="name") == "?kind=causal&columns=a&columns=b&sort=name"
    assert query.urlencode() == "kind=causal&page=2&columns=a&columns=b"
