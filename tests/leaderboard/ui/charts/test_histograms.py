"""Histograms."""

from leaderboard.ui import charts
from tests.leaderboard.ui.charts.plotted import plotted


def test_a_histogram_has_its_bars_in_the_given_order_and_begins_at_zero() -> None:
    plot = plotted(charts.histogram({"none": 3, "10": 0, "all": 5}, "share", "questions"))
    (trace,) = plot.data
    assert (list(trace.x), list(trace.y)) == (["none", "10", "all"], [3, 0, 5])
    assert plot.layout.xaxis.type == "category"
    assert plot.layout.yaxis.rangemode == "tozero"
    assert "questions" in trace.hovertemplate
