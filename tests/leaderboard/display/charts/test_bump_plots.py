"""Bump plots: a line for each model, which the first rule puts in order."""

from leaderboard.display import charts
from leaderboard.display.charts.figures import ACCENT, MUTED
from tests.leaderboard.display.charts.plotted import plotted

ORDERS = {"sum": ["a", "b", "c"], "per token": ["b", "a", "c"]}


def test_each_label_has_a_line_through_its_places() -> None:
    lines = {trace.name: (list(trace.x), list(trace.y)) for trace in plotted(charts.bumps(ORDERS)).data}
    assert lines == {
        "a": (["sum", "per token"], [1, 2]),
        "b": (["sum", "per token"], [2, 1]),
        "c": (["sum", "per token"], [3, 3]),
    }


def test_lines_that_move_stand_out() -> None:
    colours = {trace.name: trace.line.color for trace in plotted(charts.bumps(ORDERS)).data}
    assert colours == {"a": ACCENT, "b": ACCENT, "c": MUTED}


def test_the_first_place_is_at_the_top_and_rows_are_named_by_the_first_rule() -> None:
    axis = plotted(charts.bumps(ORDERS)).layout.yaxis
    assert list(axis.ticktext) == ["a", "b", "c"]
    assert axis.range[0] > axis.range[1]
