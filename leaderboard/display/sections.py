"""What a probe adds to a page: a chart with its table beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from leaderboard.display.charts import Chart
from leaderboard.display.tables import PageLink, Table, link
from leaderboard.models import Run


@dataclass(frozen=True)
class Section:
    """`name` is unique on the page; a run's section with the name of a dimension takes the place of its breakdown.

    The table's CSV is at `?table=<its name>&format=csv`, as everywhere. `switched`: it follows its probe's switches.
    """

    name: str
    title: str
    table: Table[Any] | None = None
    chart: Chart | None = None
    note: str = ""
    switched: bool = False


@dataclass(frozen=True)
class Switch:
    """A choice between everything and less, which stands in the query string as `name=value` when it is less."""

    name: str
    value: str
    everything: str
    less: str

    def on(self, query: QueryDict) -> bool:
        return query.get(self.name) == self.value

    def links(self, query: QueryDict) -> list[PageLink]:
        on = self.on(query)
        return [
            PageLink(self.everything, link(query, **{self.name: None}), not on),
            PageLink(self.less, link(query, **{self.name: self.value}), on),
        ]


@dataclass(frozen=True)
class Sections:
    """What one probe shows of a finished run, of a benchmark over all its runs, of runs beside each other.

    The first two take one more argument for each of the switches: whether it is on.
    """

    run: Callable[..., list[Section]] = lambda run: []
    benchmark: Callable[..., list[Section]] = lambda benchmark: []
    comparison: Callable[[Sequence[Run]], list[Section]] = lambda runs: []
    switches: Sequence[Switch] = ()

    def chosen(self, query: QueryDict) -> list[bool]:
        return [switch.on(query) for switch in self.switches]
