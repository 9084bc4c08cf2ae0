"""Violins and boxes of base-10 logarithms, heatmaps of correlations, and histograms."""

from leaderboard.ui import charts
from tests.leaderboard.ui.charts.plotted import plotted


def test_violins_have_a_row_and_a_colour_each() -> None:
    plot = plotted(charts.violins({"true": [1.0, 2.0], "false": [1.5, 3.0]}, "perplexity"))
    assert [(trace.name, trace.line.color) for trace in plot.data] == [
        ("true", "var(--accent)"),
        ("false", "var(--muted)"),
    ]
    assert plot.layout.xaxis.ticktext == ("10", "20", "50", "100", "200", "500", "1,000")


def test_a_box_has_every_value_as_a_dot_and_the_line_is_in_view() -> None:
    plot = plotted(charts.boxes({"a": [-9.0, -7.0, -8.0], "b": [-6.0]}, "p-value", line=-1.3))
    assert [(trace.type, len(trace.x)) for trace in plot.data] == [
        ("box", 3),
        ("scatter", 3),
        ("box", 1),
        ("scatter", 1),
    ]
    assert [list(trace.y) for trace in plot.data[::2]] == [["a", "a", "a"], ["b"]], "not by names, which are shortened"
    assert plot.layout.xaxis.range[0] < -9 < -1.3 < plot.layout.xaxis.range[1]
    assert (plot.layout.shapes[0].x0, plot.layout.shapes[0].x1) == (-1.3, -1.3)


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
