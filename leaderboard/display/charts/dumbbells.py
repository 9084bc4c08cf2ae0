"""Dumbbells: two shares of each row, joined by a line, so that the gap between them is what is seen."""

from collections.abc import Sequence
from typing import NamedTuple

from leaderboard.display.charts.axes import row_axis, share_axis
from leaderboard.display.charts.figures import MUTED, SERIES_MARKERS, Plot, Trace, figure, marker_symbol, new_trace

ROW = 26  # pixels
MARGINS = 100  # of axis and legend, in pixels
# A hollow marker stands for a published figure, whatever the series.
SYMBOLS = ("circle", "diamond")


class Dumbbell(NamedTuple):
    """A row of the plot: a label, its two shares, and where a click on them leads."""

    label: str
    first: float
    second: float
    is_published: bool = False
    href: str = ""


def dumbbells(rows: Sequence[Dumbbell], names: tuple[str, str], title: str) -> Plot:
    """Plot the rows from top to bottom; `names` are what the legend calls the two sides."""
    lines = new_trace(
        "scatter",
        x=[x for row in rows for x in (row.first, row.second, None)],
        y=[y for row in rows for y in (row.label, row.label, None)],
        mode="lines",
        line={"color": MUTED, "width": 2},
        hoverinfo="skip",
        showlegend=False,
    )
    sides = [_side(rows, place, name) for place, name in enumerate(names)]
    axes = {"xaxis": share_axis(title), "yaxis": row_axis([row.label for row in rows])}
    return figure([lines, *sides], MARGINS + ROW * len(rows), **axes, showlegend=True)


def _side(rows: Sequence[Dumbbell], place: int, name: str) -> Trace:
    _, colour = SERIES_MARKERS[place]
    symbol = SYMBOLS[place]
    return new_trace(
        "scatter",
        x=[(row.first, row.second)[place] for row in rows],
        y=[row.label for row in rows],
        customdata=[row.href for row in rows],
        mode="markers",
        marker={
            "size": 10,
            "symbol": [marker_symbol(symbol, hollow=row.is_published) for row in rows],
            "color": colour,
        },
        cliponaxis=False,
        name=name,
        hovertemplate="%{y}, " + name.replace("%", "") + ": <b>%{x:.3f}</b><extra></extra>",
    )
