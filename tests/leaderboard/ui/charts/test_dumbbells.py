"""Dumbbells: both ends of each row, joined by a line."""

from leaderboard.ui import charts
from leaderboard.ui.charts.dot_plots import Dumbbell
from tests.leaderboard.ui.charts.plotted import plotted


def test_each_row_has_two_ends_and_a_line_between_them() -> None:
    rows = [Dumbbell("a", 0.6, 0.2, href="/runs/1/"), Dumbbell("b", 0.1, 0.3, is_published=True)]
    line, first, second = plotted(charts.dumbbells(rows, ("Arab", "West"), "P@1")).data
    assert list(line.x) == [0.6, 0.2, None, 0.1, 0.3, None]
    assert (list(first.x), list(second.x)) == ([0.6, 0.1], [0.2, 0.3])
    assert list(first.customdata) == ["/runs/1/", ""]
    assert list(second.marker.symbol) == ["triangle-down", "triangle-down-open"], "hollow is published"
