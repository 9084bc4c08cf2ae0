"""Heatmaps of correlations."""

from leaderboard.ui import charts
from tests.leaderboard.ui.charts.plotted import plotted


def test_a_heatmap_has_its_first_row_at_the_top_and_zero_in_the_middle_of_its_colours() -> None:
    plot = plotted(charts.heatmap(["a", "b"], [[1.0, -0.5], [-0.5, 1.0]]))
    (trace,) = plot.data
    assert (trace.zmin, trace.zmax) == (-1, 1)
    assert plot.layout.yaxis.autorange == "reversed"
    assert plot.layout.height == 268


def test_a_grid_of_shares_is_coloured_by_the_distance_from_the_mean_of_the_row() -> None:
    shares = [[0.25, 0.75], [0.5, None]]
    plot = plotted(charts.deviations({"P1": "One", "P2": "Two"}, ["0", "1"], shares, ["/one/", "/two/"]))
    (trace,) = plot.data
    assert [list(row) for row in trace.z] == [[-0.25, 0.25], [0, None]]
    assert [list(row) for row in trace.text] == [["0.25", "0.75"], ["0.50", ""]]
    assert (trace.zmin, trace.zmax) == (-0.25, 0.25)
    assert list(plot.layout.yaxis.categoryarray) == ["P2", "P1"]
    assert [list(row) for row in trace.customdata] == [["/one/", "/one/"], ["/two/", "/two/"]]
