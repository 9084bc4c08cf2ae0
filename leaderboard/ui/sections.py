"""Sections, which are what a probe adds to a page, folds of several sections, and switches that readers turn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from django.http import QueryDict

from leaderboard.ui import labels
from leaderboard.ui.charts.basics import Chart, Plot
from leaderboard.ui.links import PageLink, link
from leaderboard.ui.tables import Table

RowT = TypeVar("RowT")
Drawing = tuple[str, Plot]  # what a chart shows in words, and its figure


@dataclass(frozen=True)
class Section:
    """A part of a page with a table, a chart, or both.

    `name` is unique on the page; a run's section with the name of a dimension takes the place of its breakdown. The
    table's CSV is at `?table=<its name>&format=csv`. `switched` tells that the section follows its probe's switches.
    `lead` is the sentence beside the title of the fold that a page has it in; empty where it is open.
    """

    name: str
    title: str
    table: Table[Any] | None = None
    chart: Chart | None = None
    note: str = ""
    switched: bool = False
    lead: str = ""


def section(
    table: Table[RowT], drawing: Drawing | None = None, note: str = "", *, title: str = "", switched: bool = False
) -> Section:
    """Return the section of a table and of the chart of the same figures, which has the name of the table.

    `title` is that of section and chart where the caption of the table says more.
    """
    title = title or table.caption
    chart = Chart(table.name, title, *drawing) if drawing else None
    return Section(table.name, title, table, chart, note, switched)


class Anchor(NamedTuple):
    """An entry of a page's contents: the id of a heading and a short title of what stands below it."""

    id: str
    title: str


def anchors(sections: Sequence[Section]) -> list[Anchor]:
    """Return the entries of sections in a page's contents."""
    return [Anchor(f"section-{part.name}", labels.sentence(part.title.removeprefix("By "))) for part in sections]


@dataclass(frozen=True)
class Fold:
    """Sections behind a line that opens them.

    `lead` says in one or two sentences what was measured, and stands beside the title while the fold is closed.
    """

    name: str
    title: str
    lead: str
    sections: Sequence[Section] = ()

    def is_open(self, query: QueryDict, switches: Sequence["Switch"] = ()) -> bool:
        """Tell whether the query string names the fold, or sorts or turns a page of one of its tables.

        It also opens a section that follows these switches, where one of them is on.
        """
        names = tuple(f"{section.table.name}-" for section in self.sections if section.table)
        follows = any(section.switched for section in self.sections) and any(switch.on(query) for switch in switches)
        return follows or self.name in query or any(key.startswith(names) for key in query if names)


def open_sections(sections: Sequence[Section]) -> list[Section]:
    """Return the sections that have no lead and are therefore in no fold."""
    return [section for section in sections if not section.lead]


def folds_of(sections: Sequence[Section]) -> list[Fold]:
    """Return a fold for each section with a lead."""
    return [Fold(section.name, section.title, section.lead, [section]) for section in sections if section.lead]


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
