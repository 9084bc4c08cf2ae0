"""The section of a benchmark with the groups of models that cannot be told apart."""

from leaderboard.display import cells, charts, labels
from leaderboard.display.charts import Chart, Point
from leaderboard.display.columns import model_column
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.models import Benchmark, RunRank
from leaderboard.probe_pages.pages import ProbePages

SHOWN = 40  # models on one page of the table, and in the chart
NOTE = (
    "Each group is its best model with all others that cannot be told apart from it by paired comparisons on the "
    "questions that they share. All of this holds at once in 95 of 100 samples of questions. Only runs with the usual "
    "settings that were measured here are compared."
)


def ties(benchmark: Benchmark, pages: ProbePages, ranks: list[RunRank]) -> list[Section]:
    """Return the section, or nothing while fewer than two runs are ranked."""
    if len(ranks) < 2:
        return []
    title = "Models that cannot be told apart"
    metric = pages.metric_label(pages.main_metric(benchmark))
    groups = len({rank.tie_group for rank in ranks})
    models = labels.counted([rank.run for rank in ranks])
    summary = f"{models} in {groups} group{'s' if groups > 1 else ''}, compared on {ranks[0].n:,} questions."
    figure = charts.headed_dots(
        [_point(rank) for rank in ranks[:SHOWN]],
        {rank.run.name: _heading(rank) for rank in ranks[:SHOWN]},
        labels.within(metric),
    )
    return [Section("ties", title, _table(ranks, metric), Chart("ties", title, summary, figure), NOTE)]


def _table(ranks: list[RunRank], metric: str) -> Table[RunRank]:
    return Table(
        name="ties",
        caption="Groups of models that cannot be told apart",
        columns=[
            Column("tie_group", "Group", lambda rank: cells.number(rank.tie_group), align="number"),
            model_column(lambda rank: rank.run),
            Column("places", "Rank", lambda rank: cells.text(rank.places), align="rank"),
            Column("value", metric, lambda rank: cells.score(rank.value, rank.low, rank.high), align="score"),
            Column("low", "", lambda rank: cells.number(rank.low), shown=False),
            Column("high", "", lambda rank: cells.number(rank.high), shown=False),
            Column("n", "Common questions", lambda rank: cells.number(rank.n), align="number"),
        ],
        rows=ranks,
        page_size=SHOWN,
    )


def _heading(rank: RunRank) -> str:
    return f"Group {rank.tie_group}"


def _point(rank: RunRank) -> Point:
    return Point(rank.run.name, rank.value or 0.0, rank.low, rank.high, href=rank.run.get_absolute_url())
