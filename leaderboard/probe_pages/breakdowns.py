"""The breakdowns that every probe has: one section per dimension, with a table and a chart of its groups."""

from collections.abc import Sequence

from leaderboard.display import cells, charts, labels
from leaderboard.display.charts import Chart
from leaderboard.display.columns import interval_columns, score_points, summary
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.lists.scores import Group, group_url
from leaderboard.models import Run
from leaderboard.probe_pages.pages import ProbePages

FRACTIONS = "An item of several groups counts in equal parts in each, so that numbers of items can be fractions."


def dimension_section(run: Run, pages: ProbePages, dimension: str, groups: Sequence[Group]) -> Section:
    """Return the section of one dimension; its groups come in the order in which the table has them."""
    title = f"By {labels.dimension(dimension).lower()}"
    macro = run.benchmark.correctness.macro and dimension != "relation"
    notes = ["Each score is the macro-average over the relations that have items in the group."] if macro else []
    if any(group.main and group.main.n % 1 for group in groups):
        notes.append(FRACTIONS)
    table, chart = _groups_table(run, pages, dimension, groups), _groups_chart(run, pages, dimension, groups)
    return Section(dimension, title, table, chart, " ".join(notes))


def _groups_table(run: Run, pages: ProbePages, dimension: str, groups: Sequence[Group]) -> Table[Group]:
    """Return a table with a row per group: the main metric with its interval, then every other metric.

    The main metric is left out, of the caption as well, where no group has it.
    """
    main = pages.main_metric(run.benchmark)
    shown = pages.metric_label(main) if any(group.main for group in groups) else "Scores"
    others = dict.fromkeys(metric for group in groups for metric in group.scores if metric != main)
    return Table(
        name=dimension,
        caption=f"{shown} by {labels.dimension(dimension).lower()}",
        columns=[
            *_group_columns(run, pages, dimension, groups),
            *(_metric_column(metric, pages.metric_label(metric)) for metric in others),
        ],
        rows=groups,
    )


def _group_columns(run: Run, pages: ProbePages, dimension: str, groups: Sequence[Group]) -> list[Column[Group]]:
    def name(group: Group) -> cells.Cell:
        return cells.text(group.name, href=group_url(run.benchmark, dimension, group.name))

    head = Column("group", labels.dimension(dimension), name, align="head")
    if not any(group.main for group in groups):
        return [head]
    title = pages.metric_label(pages.main_metric(run.benchmark))
    return [
        head,
        Column("value", title, lambda group: cells.of_score(group.main), align="score"),
        *interval_columns(lambda group: group.main),
        Column("n", "Items", lambda group: cells.items(group.main.n if group.main else None), align="number"),
    ]


def _metric_column(metric: str, title: str) -> Column[Group]:
    def cell(group: Group) -> cells.Cell:
        return cells.number(group.scores[metric].value if metric in group.scores else None)

    return Column(metric, title, cell, align="number")


def _groups_chart(run: Run, pages: ProbePages, dimension: str, groups: Sequence[Group]) -> Chart | None:
    """Return a chart of the main metric; None where it has a value in fewer than two groups."""
    main = pages.metric_label(pages.main_metric(run.benchmark))
    points = score_points(
        ((group.name, group.main) for group in groups), lambda name: group_url(run.benchmark, dimension, name)
    )
    if len(points) < 2:
        return None
    by_chance = score_points((group.name, group.scores.get("chance")) for group in groups)
    chance = {point.label: point.value for point in by_chance}
    title = f"{main} by {labels.dimension(dimension).lower()}"
    return Chart(dimension, title, summary(title, points), charts.dots(points, chance, labels.within(main)))
