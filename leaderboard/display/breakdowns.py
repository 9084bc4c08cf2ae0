"""What several pages show of a run: its dimensions as tables and charts, where its figures come from."""

from collections.abc import Callable, Sequence
from typing import Any

from leaderboard.display import cells, charts, labels
from leaderboard.display.charts import Chart, Point
from leaderboard.display.tables import Column, Table
from leaderboard.lists import queries
from leaderboard.lists.queries import Group
from leaderboard.models import Run, Score


def dimension_table(run: Run, dimension: str, groups: Sequence[Group]) -> Table[Group]:
    """One line per group: the main metric with its interval, if it has any, then every other one of the dimension."""
    main = queries.headline(run.benchmark)
    others = dict.fromkeys(metric for group in groups for metric in group.scores if metric != main)
    return Table(
        name=dimension,
        caption=f"{labels.metric(main)} by {labels.dimension(dimension).lower()}",
        columns=[*_group_columns(run, dimension, main, groups), *map(_metric_column, others)],
        rows=groups,
    )


def _group_columns(run: Run, dimension: str, main: str, groups: Sequence[Group]) -> list[Column[Group]]:
    def name(group: Group) -> cells.Cell:
        return cells.text(group.name, href=queries.group_url(run.benchmark, dimension, group.name))

    head = Column("group", labels.dimension(dimension), name, align="head")
    if not any(group.main for group in groups):
        return [head]
    return [
        head,
        Column("value", labels.metric(main), lambda group: cells.of_score(group.main), align="score"),
        *bounds(lambda group: group.main),
        Column("n", "Items", lambda group: cells.items(group.main and group.main.n), align="number"),
    ]


def bounds(score: Callable[[Any], Score | None]) -> list[Column[Any]]:
    """The ends of the interval of a row's score."""
    return [
        Column("low", "95 % low", lambda row: cells.bound(getattr(score(row), "low", None)), align="number bound"),
        Column("high", "95 % high", lambda row: cells.bound(getattr(score(row), "high", None)), align="number bound"),
    ]


def settings_column(rows: Sequence[Any], run: Callable[[Any], Run]) -> list[Column[Any]]:
    """What sets runs of one model apart, where there is such a thing."""
    if not any(run(row).variant for row in rows):
        return []
    return [Column("settings", "Settings", lambda row: cells.text(run(row).variant))]


def _metric_column(metric: str) -> Column[Group]:
    def cell(group: Group) -> cells.Cell:
        return cells.number(group.scores[metric].value if metric in group.scores else None)

    return Column(metric, labels.metric(metric), cell, align="number")


def dimension_chart(run: Run, dimension: str, groups: Sequence[Group]) -> Chart | None:
    """Nothing where the main metric has a value in fewer than two groups: there is nothing to compare."""
    main = labels.metric(queries.headline(run.benchmark))
    known = [group.main for group in groups if group.main and group.main.value is not None]
    if len(known) < 2:
        return None
    points = [Point(score.group, score.value, score.low, score.high) for score in known]
    chance = {group.name: group.scores["chance"].value for group in groups if "chance" in group.scores}
    title = f"{main} by {labels.dimension(dimension).lower()}"
    return Chart(dimension, title, summary(title, points), charts.dots(points, chance, labels.within(main)))


def summary(title: str, points: Sequence[Point]) -> str:
    """In words: how many groups, the lowest, the highest."""
    if not points:
        return f"{title}: nothing was measured."
    if len(points) == 1:
        return f"{title}: {points[0].value:.3f} ({points[0].label})."
    low, high = min(points, key=lambda p: p.value), max(points, key=lambda p: p.value)
    return f"{title}: from {low.value:.3f} ({low.label}) to {high.value:.3f} ({high.label}) over {len(points)} groups."


def provenance(run: Run) -> cells.Cell:
    """Measured here, or the source in short; in full it is in the CSV and on the run's page."""
    label = run.get_provenance_display().lower()
    if not run.reference:
        return cells.text(label)
    return cells.Cell(f"{label}: {run.reference}", f"{label}: {_cited(run)}", run.reference_url, run.reference)


def _cited(run: Run) -> str:
    """The source as people cite it: first author and year, where they are known."""
    about = run.provenance_record.get("source", {})
    first, *others = about.get("authors", "").split(", ")
    if not first:
        return run.reference
    return " ".join(filter(None, [first.split()[-1], "et al." if others else "", str(about.get("year") or "")]))
