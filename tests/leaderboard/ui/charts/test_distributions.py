"""Violins and boxes of base-10 logarithms, and stacked bars."""

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


def test_the_shares_of_a_bar_lie_one_behind_the_other() -> None:
    plot = plotted(charts.stacked({"all": [0.5, 0.3, 0.2], "Arts": [1.0, 0.0, 0.0]}, ["a", "b", "c"], "share"))
    assert plot.layout.barmode == "stack"
    assert [(trace.name, list(trace.x)) for trace in plot.data] == [
        ("a", [0.5, 1.0]),
        ("b", [0.3, 0.0]),
        ("c", [0.2, 0.0]),
    ]
    assert list(plot.layout.yaxis.categoryarray) == ["Arts", "all"]
