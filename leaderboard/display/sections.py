"""Sections, which are what a probe adds to a page, and the switches that some of them follow."""

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from leaderboard.display.charts import Chart
from leaderboard.display.tables import PageLink, Table, link


@dataclass(frozen=True)
class Section:
    """A part of a page with a table, a chart, or both.

    `name` is unique on the page; a run's section with the name of a dimension takes the place of its breakdown. The
    table's CSV is at `?table=<its name>&format=csv`. `switched` tells that the section follows its probe's switches.
    """

    name: str
    title: str
    table: Table[Any] | None = None
    chart: Chart | None = None
    note: str = ""
    switched: bool = False


@dataclass(frozen=True)
class Switch:
    """A choice between everything and a part of it; `name=value` in the query string chooses the part."""

    name: str
    value: str
    everything: str
    less: str

    def on(self, query: QueryDict) -> bool:
        """Tell whether the query string chooses the part."""
        return query.get(self.name) == self.value

    def links(self, query: QueryDict) -> list[PageLink]:
        """Return the links to both choices."""
        on = self.on(query)
        return [
            PageLink(self.everything, link(query, **{self.name: None}), not on),
            PageLink(self.less, link(query, **{self.name: self.value}), on),
        ]
