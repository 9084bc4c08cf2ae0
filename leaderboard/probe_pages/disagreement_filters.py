"""The filters of the answers on which compared runs disagree: by domain and by relation."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from django.http import QueryDict

from leaderboard.display import labels
from leaderboard.probe_pages.questions_in_words import Names, group_title
from leaderboard.stored.item_rows import Row

FILTERED_BY = ("domain", "relation")


class GroupChoice(NamedTuple):
    """A group that a reader may choose, with the number of its answers."""

    value: str
    title: str
    answers: int
    chosen: bool


class GroupFilter(NamedTuple):
    """A field of the form: the dimension, its title, and its groups by title."""

    name: str
    title: str
    choices: Sequence[GroupChoice]


def chosen_rows(rows: Sequence[Row], query: QueryDict) -> list[Row]:
    """Return the rows in the groups that the query string chooses."""
    chosen = {name: query[name] for name in FILTERED_BY if query.get(name)}
    return [row for row in rows if all(group in _groups(row, name) for name, group in chosen.items())]


def group_filters(rows: Sequence[Row], query: QueryDict, names: Names) -> list[GroupFilter]:
    """Return the fields of the form; a dimension with one group is none. `names`: those of relations in words.

    Relations are those of the chosen domain.
    """
    filters = []
    for place, name in enumerate(FILTERED_BY):
        wider = query.copy()
        for narrower in FILTERED_BY[place:]:
            wider.pop(narrower, None)
        counts = Counter(group for row in chosen_rows(rows, wider) for group in _groups(row, name))
        choices = [
            GroupChoice(group, group_title(name, group, names), count, group == query.get(name))
            for group, count in counts.items()
        ]
        if len(choices) > 1:
            filters.append(
                GroupFilter(name, labels.dimension(name), sorted(choices, key=lambda choice: choice.title.lower()))
            )
    return filters


def _groups(row: Row, name: str) -> Sequence[str]:
    """Return the groups of a dimension in which a row is; none where its items have no such tag."""
    value = row.get(name) or ()
    return [value] if isinstance(value, str) else [str(group) for group in value]
