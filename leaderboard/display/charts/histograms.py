"""Histograms: how many items there are in each class."""

from collections.abc import Mapping

from leaderboard.display.charts.figures import ACCENT, Plot, figure, new_trace

BARS_HEIGHT = 300  # pixels


def histogram(bars: Mapping[str, int], title: str, unit: str) -> Plot:
    """Plot the number of items of each bar upwards; `title` names the bars, and `unit` what is counted."""
    trace = new_trace(
        "bar",
        x=list(bars),
        y=list(bars.values()),
        marker={"color": ACCENT},
        hovertemplate="%{x}: <b>%{y:,}</b> " + unit + "<extra></extra>",
    )
    across = {"type": "category", "title": {"text": title}, "showgrid": False}
    return figure([trace], BARS_HEIGHT, xaxis=across, yaxis={"rangemode": "tozero", "tickformat": ",d"}, bargap=0.15)
