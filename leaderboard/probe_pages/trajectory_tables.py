"""The tables of a trajectory: its points, its groups, and its differences from another one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.urls import reverse

from leaderboard.display import cells
from leaderboard.display.cells import Cell
from leaderboard.display.columns import interval_columns, source_column
from leaderboard.display.tables import Column, Table
from leaderboard.lists.item_changes import Difference, paired_differences
from leaderboard.lists.trajectories import StepScore
from leaderboard.probe_pages.breakdowns import titled_cell
from leaderboard.probe_pages.trajectory_words import interval_of_difference

SLACK = 1e-6  # by which two figures may differ that count the same answers
PAGE_SIZE = 25  # rows, as the page has several tables
ABOUT_TRAINING = "during-training"  # the heading of docs/methods.md that explains these tables
PERCENT = "% of first"
PERCENT_HELP = "The score in percent of that at the first step."


class PointRow(NamedTuple):
    """A point of a curve, and what the curve is called."""

    curve: str
    point: StepScore


class GroupRow(NamedTuple):
    """A group of items with its scores at the first and at the last step."""

    name: str
    title: str
    first: StepScore
    last: StepScore

    @property
    def change(self) -> float:
        return self.last.value - self.first.value


class StepDifference(NamedTuple):
    """The scores of two series at a step that both have."""

    first: StepScore
    second: StepScore

    @property
    def value(self) -> float:
        return self.second.value - self.first.value

    def interval(self, difference: Difference | None) -> tuple[float, float] | None:
        """Return the interval of the difference of the answers where it is also that of the figures, else None."""
        if difference is None or abs(difference.value - self.value) > SLACK:
            return None
        return difference.low, difference.high


def points_table(rows: Sequence[PointRow], metric: str) -> Table[PointRow]:
    """Return every point of the curves; the name of its curve stands above its rows where there are several."""
    has_headings = len({row.curve for row in rows}) > 1
    return Table(
        name="points",
        caption=f"{metric} at every step",
        columns=[
            _step_column(lambda row: row.point),
            Column("tokens", "Tokens read", lambda row: cells.parameters(_model(row).tokens), align="number"),
            Column("revision", "Revision", lambda row: cells.text(_model(row).revision)),
            Column("commit", "Commit", lambda row: cells.text(_model(row).commit[:7])),
            Column("score", metric, lambda row: marked_score(row.point), align="score"),
            *interval_columns(lambda row: row.point.score),
            *_percent_columns(),
            Column("n", "Questions", lambda row: cells.items(row.point.score.n), align="number"),
            Column("run", "", lambda row: cells.number(row.point.run.pk), shown=False),
            Column("model", "", lambda row: cells.text(_model(row).hub_id), shown=False),
            source_column(lambda row: row.point.run, shown=False),
        ],
        rows=rows,
        main=True,
        heading=lambda row: row.curve if has_headings else "",
        page_size=PAGE_SIZE,
        order="" if has_headings else "step",
    )


def _model(row: PointRow) -> Any:
    return row.point.run.model


def _step_column(point: Callable[[Any], StepScore]) -> Column[Any]:
    def cell(row: Any) -> Cell:
        step = point(row).step
        return Cell(step, f"{step:,}", point(row).run.get_absolute_url(), kind="number")

    return Column("step", "Step", cell, align="head")


def marked_score(point: StepScore) -> Cell:
    """Show a score as measured here (filled) or by a third party (hollow)."""
    return cells.of_run(cells.of_score(point.score), point.run)


def _percent_columns() -> list[Column[PointRow]]:
    def cell(row: PointRow) -> Cell:
        point = row.point
        shown = cells.number(point.percent, 1)
        half = "" if point.percent_low is None else f"± {((point.percent_high or 0) - point.percent_low) / 2:.1f}"
        return replace(shown, half=half) if point.percent is not None else shown

    return [
        Column("percent", PERCENT, cell, PERCENT_HELP, align="number", about=ABOUT_TRAINING),
        Column("percent_low", "", lambda row: cells.number(row.point.percent_low), shown=False),
        Column("percent_high", "", lambda row: cells.number(row.point.percent_high), shown=False),
    ]


def group_rows(groups: Mapping[str, Sequence[StepScore]], titles: Mapping[str, str]) -> list[GroupRow]:
    """Return a row for each group with several points, those that changed most first."""
    rows = [GroupRow(name, titles[name], points[0], points[-1]) for name, points in groups.items() if len(points) > 1]
    return sorted(rows, key=lambda row: -abs(row.change))


def groups_table(rows: Sequence[GroupRow], dimension: str) -> Table[GroupRow]:
    """Return the groups with their first and last scores and the change between them."""

    def last_percent(row: GroupRow) -> Cell:
        return cells.number(row.last.percent, 1)

    def change(row: GroupRow) -> Cell:
        low, high = interval_of_difference(row.last, row.first) or (None, None)
        return cells.signed(row.change, low=low, high=high)

    return Table(
        name="groups",
        caption=f"Change from the first to the last step by {dimension}",
        columns=[
            Column("group", dimension.capitalize(), lambda row: titled_cell(row.name, row.title), align="head"),
            Column("first_step", "", lambda row: cells.number(row.first.step), shown=False),
            Column("last_step", "", lambda row: cells.number(row.last.step), shown=False),
            Column("first", "First step", lambda row: cells.of_score(row.first.score), align="score"),
            Column("last", "Last step", lambda row: cells.of_score(row.last.score), align="score"),
            Column("change", "Change", change, align="number"),
            *_bounds(lambda row: interval_of_difference(row.last, row.first)),
            Column("percent", PERCENT, last_percent, PERCENT_HELP, align="number", about=ABOUT_TRAINING),
            Column("n", "Questions", lambda row: cells.items(row.last.score.n), align="number"),
        ],
        rows=rows,
        page_size=PAGE_SIZE,
    )


def _bounds(interval: Callable[[Any], tuple[float, float] | None]) -> list[Column[Any]]:
    """Return the columns of the CSV with the ends of the interval of a difference."""

    def column(place: int, name: str) -> Column[Any]:
        return Column(name, "", lambda row: cells.number((interval(row) or (None, None))[place]), shown=False)

    return [column(0, "low"), column(1, "high")]


def curves_table(groups: Mapping[str, Sequence[StepScore]], titles: Mapping[str, str]) -> Table[PointRow]:
    """Return every point of every group."""
    rows = [PointRow(name, point) for name, points in groups.items() for point in points]
    return Table(
        name="curves",
        caption="Every group at every step",
        columns=[
            Column("group", "Group", lambda row: titled_cell(row.curve, titles[row.curve]), align="head"),
            replace(_step_column(lambda row: row.point), align="number"),
            Column("value", "Score", lambda row: marked_score(row.point), align="score"),
            *interval_columns(lambda row: row.point.score),
            *_percent_columns(),
            Column("n", "Questions", lambda row: cells.items(row.point.score.n), align="number"),
            Column("run", "", lambda row: cells.number(row.point.run.pk), shown=False),
        ],
        rows=rows,
        page_size=PAGE_SIZE,
    )


def common_steps(first: Sequence[StepScore], second: Sequence[StepScore]) -> list[StepDifference]:
    """Return the scores of two series at the steps that both have."""
    by_step = {point.step: point for point in second}
    return [StepDifference(point, by_step[point.step]) for point in first if point.step in by_step]


def differences_table(rows: Sequence[StepDifference], names: tuple[str, str]) -> Table[StepDifference]:
    """Return the difference of the second series from the first at each common step.

    Its interval is that for the same items where the answers to these are stored, and that for two independent samples
    where they are not.
    """
    paired: dict[int, tuple[float, float] | None] = {}

    def prepare(shown: Sequence[StepDifference]) -> None:
        differences = paired_differences([(row.first.run, row.second.run) for row in shown])
        paired.update({row.first.step: row.interval(of) for row, of in zip(shown, differences, strict=True)})

    def interval(row: StepDifference) -> tuple[float, float] | None:
        return paired.get(row.first.step) or interval_of_difference(row.second, row.first)

    def cell(row: StepDifference) -> Cell:
        low, high = interval(row) or (None, None)
        return cells.signed(row.value, low=low, high=high)

    def compare(row: StepDifference) -> Cell:
        runs = [row.first.run.pk, row.second.run.pk]
        address = f"{reverse('compare')}?{urlencode({'m': runs}, doseq=True)}"
        return Cell(" ".join(map(str, runs)), "Compare", address)

    first, second = names
    return Table(
        name="differences",
        caption=f"{second} against {first} at the steps that both have",
        columns=[
            Column("step", "Step", lambda row: cells.number(row.first.step), align="head"),
            Column("first", first, lambda row: marked_score(row.first), align="score"),
            Column("second", second, lambda row: marked_score(row.second), align="score"),
            Column("difference", "Difference", cell, align="number", about=ABOUT_TRAINING),
            *_bounds(interval),
            Column("runs", "Question by question", compare),
        ],
        rows=rows,
        page_size=PAGE_SIZE,
        prepare=prepare,
        empty="They have no step in common.",
    )
