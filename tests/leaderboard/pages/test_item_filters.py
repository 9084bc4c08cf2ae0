"""Filters of a run's items."""

import pytest
from django.http import QueryDict

from leaderboard.figures import item_rows
from leaderboard.figures.item_rows import ItemFilter
from leaderboard.pages.items_page import ItemsForm
from tests.leaderboard.conftest import Site


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        ("", ItemFilter(tags={})),
        ("correct=yes&template=1", ItemFilter(correct=True, template=1, tags={})),
        ("correct=no&relation=P36&search=norw", ItemFilter(correct=False, relation="P36", search="norw", tags={})),
        ("domain=Political", ItemFilter(tags={"domain": "Political"})),
        ("correct=maybe&template=9&relation=P99&domain=None", ItemFilter(tags={})),
    ],
)
def test_a_filter_of_items_leaves_out_what_is_not_valid(site: Site, query: str, filters: ItemFilter) -> None:
    form = ItemsForm(QueryDict(query), run=site.first, values=item_rows.ends(site.first))
    assert form.filter() == filters


def test_items_that_are_neither_right_nor_wrong_have_no_such_filter(site: Site) -> None:
    values = {name: both for name, both in item_rows.ends(site.first).items() if name != "correct"}
    assert "correct" not in ItemsForm(QueryDict("correct=yes"), run=site.first, values=values).fields
