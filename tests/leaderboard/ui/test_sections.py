"""Switches between everything and a part of it."""

import pytest
from django.http import QueryDict

from leaderboard.ui.sections import Switch

SWITCH = Switch("types", "major", "All fact types", "Major only")


@pytest.mark.parametrize(("query", "on"), [("types=major", True), ("types=all", False), ("", False)])
def test_a_switch_is_on_where_the_query_string_has_its_value(query: str, on: bool) -> None:
    assert SWITCH.on(QueryDict(query)) is on


@pytest.mark.parametrize(("query", "current"), [("sort=n", "All fact types"), ("sort=n&types=major", "Major only")])
def test_its_links_keep_the_rest_of_the_address_and_mark_the_current_choice(query: str, current: str) -> None:
    links = SWITCH.links(QueryDict(query))
    assert [(link.title, link.href) for link in links] == [
        ("All fact types", "?sort=n"),
        ("Major only", "?sort=n&types=major"),
    ]
    assert [link.title for link in links if link.current] == [current]
