"""Tables: rows and columns that a page shows as HTML and hands out as CSV, and columns that several share."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

from django.http import QueryDict

from leaderboard.models import Run, Score
from leaderboard.ui import cells, labels
from leaderboard.ui.cells import Cell, figure_with_uncertainty
from leaderboard.ui.charts.basics import Point
from leaderboard.ui.charts.scaling_chart import PARAMETERS, ScalingAxis, SizedScore
from leaderboard.ui.links import PageLink, link, page_links, page_number

RowT = TypeVar("RowT")
PAGE_SIZE = 50
FITTING = 3  # columns that fit side by side on a narrow screen


@dataclass(frozen=True)
class Column(Generic[RowT]):
    """A column of a table, named `name` in CSV and in the query string and `title` on the page.

    `cell` makes a row's cell. Rows are sorted by `key`, or else by the cell's value. `help` explains the heading in a
    sentence, and `methods_heading` is the heading of the methods that says more, as an address below /methods/; without
    one, the column's name decides. `align` holds the CSS classes: "head" for what names the row, "number" and "score"
    for figures. Only CSV has a column that is not `shown`, and a page has it only where its rows are `worth` it. Narrow
    screens show the values of a `folded` column only to readers who ask for all values.
    """

    name: str
    title: str
    cell: Callable[[RowT], Cell]
    help: str = ""
    key: Callable[[RowT], Any] | None = None
    align: str = ""
    shown: bool = True
    methods_heading: str = ""
    folded: bool = False
    worth: Callable[[Sequence[RowT]], bool] = lambda rows: True

    @property
    def paragraph(self) -> str:
        """The heading of the methods that explains the column, as an address below /methods/; empty where none does."""
        return self.methods_heading or labels.METHODS_HEADINGS.get(self.name, "")

    @property
    def is_head(self) -> bool:
        """Tell whether the column names the rows."""
        return "head" in self.align.split()

    def order(self, row: RowT) -> Any:
        """Return the value by which the row is sorted, None if it is missing."""
        return self.key(row) if self.key else self.cell(row).value


@dataclass(frozen=True)
class Table(Generic[RowT]):
    """A table whose `rows` come in their default order.

    `name` prefixes the table's parameters in the query string, unless it is the `main` table of its page. `band`
    names the group that a row belongs to: the rows of a band stand together, and sorting keeps the order of the bands.
    `heading` is the text above the rows that share it, empty where they need none; these stand together as well.
    The band `pinned` is on every page. `order` names the column by which the rows come sorted, as in the query string,
    so that its heading shows the direction. Narrow screens show each row as a card unless `cards` is off or the table
    has few columns. CSV gets `export` instead, where a row of the page stands for several. `prepare` reads what
    only the cells of some rows need, for all of these rows at once.
    """

    name: str
    caption: str
    columns: Sequence[Column[RowT]]
    rows: Sequence[RowT]
    main: bool = False
    band: Callable[[RowT], str] = lambda row: ""
    heading: Callable[[RowT], str] = lambda row: ""
    pinned: str | None = None
    empty: str = "There is nothing here yet."
    page_size: int | None = None
    cards: bool = True
    order: str = ""
    sortable: bool = True
    export: "Table[Any] | None" = None
    prepare: Callable[[Sequence[RowT]], object] = lambda rows: None

    def parameter(self, word: str) -> str:
        """Return the query string's name of this table's `sort` or `page`."""
        return word if self.main else f"{self.name}-{word}"

    def ordered(self, query: QueryDict) -> list[RowT]:
        """Return all rows, sorted within their bands as the query string asks, rows without a value last."""
        column, descending = self._column(query.get(self.parameter("sort"), ""))
        if column is None:
            return list(self.rows)
        if not column.key:  # the cells of all rows are compared
            self.prepare(self.rows)
        bands = groupby(self.rows, lambda row: (self.heading(row), self.band(row)))
        return [row for _, rows in bands for row in _missing_last(rows, column.order, descending)]

    def sorting(self, query: QueryDict) -> tuple[Column[RowT] | None, bool]:
        """Return the column that the rows are sorted by, if any, and whether they are in descending order."""
        column, descending = self._column(query.get(self.parameter("sort"), ""))
        return (column, descending) if column else self._column(self.order)

    def _column(self, sort: str) -> tuple[Column[RowT] | None, bool]:
        columns = [column for column in self.columns if self.sortable and column.name == sort.removeprefix("-")]
        return (columns[0] if columns else None, sort.startswith("-"))

    def cells(self, rows: Sequence[RowT]) -> Iterator[list[Cell]]:
        """Yield the cells of each row in all columns, including those that only CSV has."""
        for row in rows:
            yield [column.cell(row) for column in self.columns]

    def is_pinned(self, row: RowT) -> bool:
        return self.pinned is not None and self.band(row) == self.pinned


def _missing_last(rows: Iterable[RowT], order: Callable[[RowT], Any], descending: bool) -> list[RowT]:
    """Sort the rows; those without a value come last in either direction."""
    keyed = [(order(row), row) for row in rows]
    present = sorted((pair for pair in keyed if pair[0] is not None), key=itemgetter(0), reverse=descending)
    return [row for _, row in present] + [row for key, row in keyed if key is None]


class Header(NamedTuple):
    """The heading of a column; its link sorts by the column, or the other way round if the table is sorted by it.

    `scale`: from where to where the bars of its cells run, with chance where it is one for all of them; empty without
    bars.
    """

    column: Column[Any]
    href: str
    direction: str
    scale: str = ""


class TableLine(NamedTuple):
    """A row as a page shows it: the heading that begins with it, its band, and the cell of each column of pages."""

    heading: str
    band: str
    cells: list[tuple[Column[Any], Cell]]


@dataclass(frozen=True)
class TableView:
    """One page of a table with the links that change the view.

    `head` is the column that names the rows. Narrow screens show a card for each row if `cards` is set. `total` is the
    number of rows on all pages. `empty` tells that the table has no rows but pinned ones. `csv` is the address
    of the table as CSV.
    """

    table: Table[Any]
    head: Column[Any]
    cards: bool
    headers: list[Header]
    lines: list[TableLine]
    total: int
    empty: bool
    csv: str
    pages: list[PageLink] = field(default_factory=list)

    @property
    def is_folded(self) -> bool:
        """Tell whether narrow screens fold some of the columns."""
        return self.cards and any(head.column.folded for head in self.headers)


def view(table: Table[Any], query: QueryDict) -> TableView:
    """Return the page of the table that the query string asks for."""
    return views([table], query)[table.name]


def views(tables: Sequence[Table[Any]], query: QueryDict) -> dict[str, TableView]:
    """Return the pages of several tables by name; what their cells need is read at once for tables of one `prepare`."""
    pages = [(table, select(table, query, all_pages=False)) for table in tables]
    by_function: dict[Callable[[Sequence[Any]], object], list[Any]] = {}
    for table, rows in pages:
        by_function.setdefault(table.prepare, []).extend(rows)
    for prepare, prepared in by_function.items():
        prepare(prepared)
    return {table.name: _view(table, rows, query) for table, rows in pages}


def _view(table: Table[Any], rows: Sequence[Any], query: QueryDict) -> TableView:
    columns = _filled(table, rows)
    name = {"table": None if table.main else table.name, table.parameter("page"): None}
    return TableView(
        table,
        head=next((column for column, _ in columns if column.is_head), columns[0][0]),
        cards=table.cards and (len(columns) > FITTING or any(column.folded for column, _ in columns)),
        headers=[_header(table, query, column)._replace(scale=_scale(cells)) for column, cells in columns],
        lines=list(_lines(table, rows, columns)),
        total=len(table.rows),
        empty=all(table.is_pinned(row) for row in table.rows),
        csv=link(query, format="csv", **name),
        pages=_page_links(table, query),
    )


def _filled(table: Table[Any], rows: Sequence[Any]) -> list[tuple[Column[Any], list[Cell]]]:
    """Return the columns that a page has, with their cells: not those that are empty in all its rows.

    A column with a key, which no cell is made for, stays on every page where any row of the table has a value in it.
    """
    columns = [
        (column, [column.cell(row) for row in rows]) for column in table.columns if column.shown and column.worth(rows)
    ]
    return [(column, cells) for column, cells in columns if _has_values(table, column, cells)] or columns


def _has_values(table: Table[Any], column: Column[Any], cells: Sequence[Cell]) -> bool:
    key = column.key
    return any(not cell.is_empty for cell in cells) or (
        key is not None and any(key(row) is not None for row in table.rows)
    )


def _lines(
    table: Table[Any], rows: Sequence[Any], columns: Sequence[tuple[Column[Any], Sequence[Cell]]]
) -> Iterator[TableLine]:
    """Yield the lines of the rows; the first row under a heading comes with it."""
    above = ""
    for number, row in enumerate(rows):
        heading = table.heading(row)
        yield TableLine(
            heading if heading != above else "", table.band(row), [(column, cells[number]) for column, cells in columns]
        )
        above = heading


def select(table: Table[Any], query: QueryDict, all_pages: bool) -> list[Any]:
    """Return the rows in order, pinned rows first: one page of them, or all if `all_pages` and no page is asked for."""
    rows = table.ordered(query)
    page = query.get(table.parameter("page"), "")
    if not table.page_size or (all_pages and not page):
        return rows
    pinned = [row for row in rows if table.is_pinned(row)]
    others = [row for row in rows if not table.is_pinned(row)]
    start = (page_number(page, len(others), table.page_size) - 1) * table.page_size
    return [*pinned, *others[start : start + table.page_size]]


def _header(table: Table[Any], query: QueryDict, column: Column[Any]) -> Header:
    """Make a heading whose link first sorts numbers from the highest, words from A to Z."""
    if not table.sortable:
        return Header(column, "", "")
    sorted_by, descending = table.sorting(query)
    if column is not sorted_by:
        direction, prefix = "", "-" if {"number", "score"} & set(column.align.split()) else ""
    else:
        direction, prefix = ("descending", "") if descending else ("ascending", "-")
    href = link(query, **{table.parameter("sort"): prefix + column.name, table.parameter("page"): None})
    return Header(column, href, direction)


def _scale(cells: Sequence[Cell]) -> str:
    """Say from where to where the bars of a column run, and where chance is if it is the same for all of them."""
    bars = [cell.bar for cell in cells if cell.bar]
    if not bars:
        return ""
    ticks = {bar.chance for bar in bars}
    (only,) = ticks if len(ticks) == 1 else (None,)
    return "0 to 1" if only is None else f"0 to 1, chance {only / 100:.2f}"


def _page_links(table: Table[Any], query: QueryDict) -> list[PageLink]:
    """Return the page links of a table; its pinned rows do not count."""
    if not table.page_size:
        return []
    rows = sum(not table.is_pinned(row) for row in table.rows)
    return page_links(query, table.parameter("page"), rows, table.page_size)


# What stands above groups of rows; the name of a publication follows.
MEASURED, PUBLISHED = "● Measured here", "○ Published"


def model_column(run: Callable[[Any], Run]) -> Column[Any]:
    """Return the column with the model of a row's run; it links to the run."""

    def cell(row: Any) -> Cell:
        return cells.text(run(row).model.title, href=run(row).get_absolute_url())

    return Column("model", "Model", cell, align="head")


def interval_columns(score: Callable[[Any], object], name: str = "") -> list[Column[Any]]:
    """Return the columns of the CSV with the ends of the 95 % intervals of a row's score.

    A page has the interval behind the score instead. `name` tells the columns of several scores apart.
    """

    def column(end: str) -> Column[Any]:
        named = f"{name}_{end}" if name else end
        return Column(named, "", lambda row: cells.number(getattr(score(row), end, None)), shown=False)

    return [column(end) for end in ("low", "high", "cluster_low", "cluster_high")]


def score_columns(
    name: str,
    title: str,
    score: Callable[[Any], Any],
    cell: Callable[[Any], Cell] | None = None,
    help_text: str = "",
    align: str = "score",
) -> list[Column[Any]]:
    """Return the column of a score, and those of the CSV with the ends of its intervals, named after it.

    `cell` shows it where `cells.of_score` would not do.
    """
    shown = cell or (lambda row: cells.of_score(score(row)))
    return [Column(name, title, shown, help_text, align=align), *interval_columns(score, name)]


def settings_column(run: Callable[[Any], Run]) -> Column[Any]:
    """Return the column that tells runs of one model apart, which pages drop where all have the usual settings.

    A run that stands for earlier steps of its training leads to them.
    """

    def cell(row: Any) -> Cell:
        return cells.text(labels.variant(run(row)), run(row).model.training_url if run(row).earlier_in_words else "")

    return Column("settings", "Settings", cell)


def source_column(run: Callable[[Any], Run], align: str = "", shown: bool = True) -> Column[Any]:
    """Return the column that tells where a row's figures come from."""
    return Column("provenance", "Source", lambda row: source(run(row)), align=align, shown=shown)


def source(run: Run) -> Cell:
    """Say that a run was measured here, or cite its source in short; the CSV and the run's page have the full text."""
    label = cells.PROVENANCES[run.provenance].lower()
    if not run.reference:
        return cells.text(label)
    return Cell(
        f"{label}: {run.reference}", f"{label}: {citation(run)}", run.reference_url, run.reference, kind="source"
    )


def citation(run: Run) -> str:
    """Return first author and year of a paper, the title of what has no year, else the whole reference."""
    publication = run.provenance_record.get("source", {})
    first, *others = publication.get("authors", "").split(", ")
    if not first:
        return run.reference
    if publication.get("title") and not publication.get("year"):
        return str(publication["title"])
    return " ".join(filter(None, [first.split()[-1], "et al." if others else "", str(publication.get("year") or "")]))


def score_cell(run: Run, score: Score | None, chance: float | None = None) -> Cell:
    """Show a score of a run, whose bar has a tick at chance.

    A figure that a publication does not have may have been measured, but was not reported.
    """
    if not run.is_published:
        return cells.of_score(score, chance)
    return cells.not_reported() if score is None else cells.of_run(cells.of_score(score, chance), run)


def score_points(
    scores: Iterable[tuple[str, Score | None]], href: Callable[[str], str] = lambda label: ""
) -> list[Point]:
    """Return the points of a chart, given pairs of label and score; scores without a value have none.

    `href` gives the address to which the point of a label leads, the same as in the table.
    """
    return [
        Point(label, score.value, score.low, score.high, href=href(label))
        for label, score in scores
        if score and score.value is not None
    ]


def summary(title: str, points: Sequence[Point]) -> str:
    """Return a sentence with the lowest and the highest of the points and their number."""
    if not points:
        return f"{title}: nothing was measured."
    if len(points) == 1:
        return f"{title}: {points[0].value:.3f} ({points[0].label})."
    low, high = min(points, key=lambda p: p.value), max(points, key=lambda p: p.value)
    if f"{low.value:.3f}" == f"{high.value:.3f}":
        return f"{title}: {low.value:.3f} in all {len(points)} groups."
    return f"{title}: from {low.value:.3f} ({low.label}) to {high.value:.3f} ({high.label}) over {len(points)} groups."


def best_and_largest(scores: Sequence[SizedScore], axis: ScalingAxis = PARAMETERS) -> str:
    """Return a sentence with the highest of several scores, and with that of the largest model where it is another."""
    best = max(scores, key=lambda score: score.value)
    largest = max(scores, key=lambda score: (score.size, score.value))
    if best.value == largest.value:
        return f"Best and {axis.most}: {_sized(largest, axis)}."
    return f"Best: {_sized(best, axis)}. {axis.most.capitalize()}: {_sized(largest, axis)}."


def _sized(score: SizedScore, axis: ScalingAxis) -> str:
    figure = figure_with_uncertainty(score.value, score.low, score.high)
    return f"{score.label} ({axis.text(score.size)}), {figure}"
