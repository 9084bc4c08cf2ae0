"""Lines over whole steps."""

from leaderboard.ui import charts
from leaderboard.ui.charts.basics import Point
from tests.leaderboard.ui.charts.plotted import plotted


def test_each_group_is_a_line_over_its_steps_with_hollow_markers() -> None:
    points = [Point(f"{name} {x}", y, x=x, group=name) for name in ("one", "two") for x, y in ((0, 1.0), (1, 0.5))]
    plot = plotted(charts.lines(points, "step", "share kept"))
    assert [(trace.name, list(trace.x), list(trace.y)) for trace in plot.data] == [
        ("one", [0, 1], [1.0, 0.5]),
        ("two", [0, 1], [1.0, 0.5]),
    ]
    assert all(trace.marker.symbol.endswith("-open") for trace in plot.data)
    assert plot.layout.xaxis.title.text == "step"
