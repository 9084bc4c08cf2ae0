"""The columns and charts that every section about culture pairs shares."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from leaderboard.display import cells, charts, labels
from leaderboard.display.charts import Plot, Point
from leaderboard.display.columns import interval_columns
from leaderboard.display.tables import Column
from leaderboard.models import Run, Score
from leaderboard.probe_pages.culture.sides import Sides


class ChartLine(NamedTuple):
    """A row of a chart: its name under its heading, `detail` that only its label on hover has, and where it leads.

    Without an address of its own it leads to its run.
    """

    row: Sides
    head: str
    name: str
    detail: str | None = None
    address: str = ""

    @property
    def label(self) -> str:
        return comma_separated(self.head, self.name, self.detail)

    @property
    def href(self) -> str:
        return self.address or self.row.run.get_absolute_url()


def comma_separated(*texts: str | None) -> str:
    """Join the texts that are not empty."""
    return ", ".join(filter(None, texts))


def languages_cell(codes: Sequence[str]) -> cells.Cell:
    """Return languages by their English names; the CSV has their codes."""
    return replace(cells.text(", ".join(codes)), text=", ".join(map(labels.language, codes)))


def legend(runs: Iterable[Run]) -> str:
    """Return what the summary of a chart with figures of these runs says about hollow markers, with a space first."""
    return " Hollow markers are published figures." if any(run.is_published for run in runs) else ""


def culture_names(rows: Sequence[Sides]) -> tuple[str, str]:
    """Return what the two sides are called, which is the names of the cultures where all rows have the same two."""
    names = {row.ordered[0][0] for row in rows}
    return names.pop() if len(names) == 1 else "First culture", "West"


def side_columns(rows: Sequence[Sides]) -> list[Column[Sides]]:
    """Return the columns of both cultures' scores and their gap, then intervals and numbers of items.

    They are called after the cultures where all rows have the same two.
    """
    first, second = culture_names(rows)

    def side(place: int) -> Callable[[Sides], Score]:
        return lambda row: row.ordered[place][1]

    return [
        Column("first", first, lambda row: cells.of_score(side(0)(row)), align="score"),
        Column("second", second, lambda row: cells.of_score(side(1)(row)), align="score"),
        Column("gap", "Gap", _gap, f"{first} minus {second}.", align="number"),
        Column("p", "p", _p_value, "Two-sided z-test of the gap.", align="number"),
        *interval_columns(lambda row: row.gap, "gap"),
        *interval_columns(side(0), "first"),
        *interval_columns(side(1), "second"),
        _items_column("first", first, side(0)),
        _items_column("second", second, side(1)),
    ]


def _items_column(name: str, title: str, score: Callable[[Sides], Score]) -> Column[Sides]:
    return Column(f"{name}_n", f"{title}, questions", lambda row: cells.items(score(row).n), align="number")


def _gap(row: Sides) -> cells.Cell:
    low, high = (row.gap.low, row.gap.high) if row.gap else (None, None)
    return cells.signed(row.difference, low=low, high=high)


def _p_value(row: Sides) -> cells.Cell:
    return cells.p_value(row.p.value) if row.p and row.p.value is not None else cells.number(None)


def both_sides(lines: Sequence[ChartLine], names: Sequence[str]) -> Plot:
    """Draw the figures of both cultures in each line, filled where they were measured here.

    `names` are what the legend calls the two sides.
    """
    points = [
        Point(
            *(line.label, float("nan") if score.value is None else score.value, score.low, score.high),
            group=name,
            href=line.href,
        )
        for line in lines
        for name, (_, score) in zip(names, line.row.ordered, strict=True)
    ]
    published = [line.label for line in lines if line.row.run.is_published]
    return charts.beside(points, _heads(lines), _metric(lines), _short_names(lines), published)


def gaps_forest(lines: Sequence[ChartLine]) -> Plot:
    """Draw the gap of each line, filled where it was measured here."""
    points = [
        Point(
            *(line.label, gap.value, gap.low, gap.high),
            group="" if line.row.run.is_published else "measured",
            href=line.href,
        )
        for line in lines
        if (gap := line.row.gap) and gap.value is not None
    ]
    return charts.forest(points, _heads(lines), f"gap in {_metric(lines)} to the West", _short_names(lines))


def _metric(lines: Sequence[ChartLine]) -> str:
    """Return the metric of the lines as the title of an axis, which is the same for all of them."""
    return labels.within(lines[0].row.metric)


def _heads(lines: Sequence[ChartLine]) -> dict[str, str]:
    return {line.label: line.head for line in lines}


def _short_names(lines: Sequence[ChartLine]) -> dict[str, str]:
    return {line.label: line.name for line in lines}
