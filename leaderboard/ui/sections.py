"""Sections, which have a table or a chart, and folds of several sections."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from django.http import QueryDict

from leaderboard.ui.charts.basics import Chart, Plot
from leaderboard.ui.tables import Table

RowT = TypeVar("RowT")
Drawing = tuple[str, Plot]  # what a chart shows in words, and its figure


@dataclass(frozen=True)
class Section:
    """A part of a page with a table, a chart, or both.

    `name` is unique on the page; a run's section with the name of a dimension takes the place of its breakdown. The
    table's CSV is at `?table=<its name>&format=csv`.
    """

    name: str
    title: str
    table: Table[Any] | None = None
    chart: Chart | None = None
    note: str = ""


def section(table: Table[RowT], drawing: Drawing | None = None, note: str = "", *, title: str = "") -> Section:
    """Return the section of a table and of the chart of the same figures, which has the name of the table.

    `title` is that of section and chart where the caption of the table says more.
    """
    title = title or table.caption
    chart = Chart(table.name, title, *drawing) if drawing else None
    return Section(table.name, title, table, chart, note)


class Anchor(NamedTuple):
    """An entry of a page's contents: the id of a heading and a short title of what stands below it."""

    id: str
    title: str


@dataclass(frozen=True)
class Fold:
    """Sections behind a line that opens them.

    `lead` says in one or two sentences what was measured, and stands beside the title while the fold is closed.
    """

    name: str
    title: str
    lead: str
    sections: Sequence[Section] = ()

    def is_open(self, query: QueryDict) -> bool:
        """Tell whether the query string names the fold, or sorts or turns a page of one of its tables."""
        names = tuple(f"{section.table.name}-" for section in self.sections if section.table)
        return self.name in query or any(key.startswith(names) for key in query if names)
