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


def test_the_shares_of_a_bar_lie_one_behind_the_other() -> None:
    plot = plotted(charts.stacked({"all": [0.5, 0.3, 0.2], "Arts": [1.0, 0.0, 0.0]}, ["a", "b", "c"], "share"))
    assert plot.layout.barmode == "stack"
    assert [(trace.name, list(trace.x)) for trace in plot.data] == [
        ("a", [0.5, 1.0]),
        ("b", [0.3, 0.0]),
        ("c", [0.2, 0.0]),
    ]
    assert list(plot.layout.yaxis.categoryarray) == ["Arts", "all"]
