"""The picture above the standings: scores against sizes, or the two cultures of a pair."""

from collections.abc import Sequence

from leaderboard.display import charts, labels
from leaderboard.display.charts import Chart, SizedScore
from leaderboard.display.columns import best_and_largest
from leaderboard.lists.families import family_of
from leaderboard.lists.kept_lists import KeptLists
from leaderboard.lists.ranked_rows import Standing
from leaderboard.lists.standings import Leaderboard, LeaderboardFilter, made_of_rows
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.culture.places import Place, gaps_chart
from leaderboard.stored.chance import GUESSES

# The chart of a thousand models takes about 0.5 MB.
_CHARTS = KeptLists[list[Chart]](most=4)


def standings_charts(filters: LeaderboardFilter, board: Leaderboard, place: Place | None) -> list[Chart]:
    """Return the chart, if there is anything to draw. `place`: the part of the items that the rows are about."""
    return made_of_rows(_CHARTS, filters, board, lambda board: _charts(filters, board.standings, place))


def _charts(filters: LeaderboardFilter, rows: Sequence[Standing], place: Place | None) -> list[Chart]:
    """Draw the chart.

    Only runs of one group have places in it, and none that were asked only some of the items, as figures of different
    settings share no axis.
    """
    groups = [row.group for row in rows if not (row.is_baseline or row.some_items)]
    charted = [row for row in rows if groups and row.group == groups[0] and not row.some_items]
    title = pages_of(filters.benchmark).metric_label(filters.metric)
    chart = gaps_chart(place, charted, title) or _scatter(filters, rows, charted)
    return [chart] if chart else []


def _scatter(filters: LeaderboardFilter, rows: Sequence[Standing], charted: Sequence[Standing]) -> Chart | None:
    """Return the chart of scores against sizes, if the size of any model is known."""
    title = pages_of(filters.benchmark).metric_label(filters.metric)
    sized = [row for row in charted if row.run.model.parameters and row.main and row.main.value is not None]
    if not sized:
        return None
    models, scores = labels.counted([row.run for row in sized]), _sized_scores(sized)
    summary = f"{title} by model size, {models}. {best_and_largest(scores)}"
    if any(row.run.is_published for row in sized):
        summary += " Hollow markers are published figures."
    figure = charts.scaling_curve(scores, _chance(rows), labels.within(title))
    return Chart("scatter", f"{title} by model size", summary, figure)


def _chance(rows: Sequence[Standing]) -> float | None:
    """Return what guessing reaches, where a baseline says so."""
    by_id = {row.hub_id: row.main.value for row in rows if row.main}
    return next((by_id[name] for name in GUESSES if by_id.get(name) is not None), None)


def _sized_scores(rows: Sequence[Standing]) -> list[SizedScore]:
    return [
        SizedScore(
            row.hub_id.rpartition("/")[2],
            row.main.value,
            row.main.low,
            row.main.high,
            row.run.model.parameters,
            family_of(row.hub_id),
            not row.run.is_published,
            row.run.get_absolute_url(),
        )
        for row in rows
        if row.main and row.main.value is not None and row.run.model.parameters
    ]
