"""Heatmaps of shares."""

from leaderboard.ui import charts
from tests.leaderboard.ui.charts.plotted import plotted


def test_a_grid_of_shares_is_coloured_by_the_distance_from_the_mean_of_the_row() -> None:
    shares = [[0.25, 0.75], [0.5, None]]
    plot = plotted(charts.deviations({"P1": "One", "P2": "Two"}, ["0", "1"], shares, ["/one/", "/two/"]))
    (trace,) = plot.data
    assert [list(row) for row in trace.z] == [[-0.25, 0.25], [0, None]]
    assert [list(row) for row in trace.text] == [["0.25", "0.75"], ["0.50", ""]]
    assert (trace.zmin, trace.zmax) == (-0.25, 0.25)
    assert list(plot.layout.yaxis.categoryarray) == ["P2", "P1"]
    assert [list(row) for row in trace.customdata] == [["/one/", "/one/"], ["/two/", "/two/"]]
