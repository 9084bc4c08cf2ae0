"""Settings that differ from the usual ones, and those among them that choose the items."""

from typing import Any

import pytest

from leaderboard.changed_settings import asks_other_items, differences
from probing.settings import Settings

RANKING = Settings(probe="ranking", options={"pair": "arab-west"})


@pytest.mark.parametrize(
    ("values", "changed"),
    [
        ({}, {}),
        ({"templates": [0], "options": {"pair": "arab-west", "objects": "augmented"}}, {}),
        ({"templates": [0, 2], "pll": "original"}, {"templates": "0 2", "pll": "original"}),
        ({"language": "ar", "options": {"objects": "raw"}}, {"language": "ar", "objects": "raw"}),
        ({"options": {"trained_on": "arXiv"}}, {"trained on": "arXiv"}),
    ],
)
def test_changed_settings_and_options_are_named_with_their_values(
    values: dict[str, Any], changed: dict[str, str]
) -> None:
    assert differences(values, RANKING) == changed


@pytest.mark.parametrize(
    "values", [{"limit": 5}, {"relations": ["P30"]}, {"language": "ar"}, {"options": {"pair": ""}}]
)
def test_some_settings_and_options_choose_the_items_that_are_asked(values: dict[str, Any]) -> None:
    assert asks_other_items(values, RANKING)


@pytest.mark.parametrize("values", [{}, {"pll": "original"}, {"seed": 3}, {"options": {"trained_on": "arXiv"}}])
def test_other_settings_leave_the_items_as_they_are(values: dict[str, Any]) -> None:
    assert not asks_other_items(values, RANKING)
