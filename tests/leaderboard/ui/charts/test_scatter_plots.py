"""Scatter plots: groups, ranges and lines."""

import pytest

from leaderboard.ui import charts
from leaderboard.ui.charts.basics import Point
from tests.leaderboard.ui.charts.plotted import plotted


def grouped_points(*groups: str) -> list[Point]:
    return [Point(f"model {group}", 0.5, 0.4, 0.6, x=0.25, group=group) for group in groups]


def test_each_dot_links_to_its_run() -> None:
    (trace,) = plotted(charts.changes([Point("a", 0.1, x=0.2, href="/runs/1/")], "first", "second")).data
    assert trace.customdata == ("/runs/1/",)


def test_values_that_are_no_changes_have_lines_at_the_neutral_one_and_no_sign() -> None:
    plot = plotted(charts.changes([Point("a", 0.6, x=0.4)], "first", "second", neutral=0.5))
    assert [(line.x0, line.y0) for line in plot.layout.shapes] == [(0.5, 0), (0, 0.5)]
    assert "%{x:.3f}" in plot.data[0].hovertemplate


def test_changes_have_lines_at_zero_and_a_symbol_for_each_group_in_order() -> None:
    plot = plotted(charts.changes(grouped_points("z", "a", "z, published"), "first", "second"))
    symbols = {trace.name: trace.marker.symbol for trace in plot.data}
    assert symbols == {"z": "triangle-up", "a": "triangle-down", "z, published": "triangle-up-open"}
    assert [(line.x0, line.y0) for line in plot.layout.shapes] == [(0, 0), (0, 0)]


@pytest.mark.parametrize(
    ("groups", "symbols"), [(("",), ["circle"]), (("second", "third"), ["triangle-down", "cross"])]
)
def test_models_in_the_square_have_the_markers_of_the_plot_beside_it(
    groups: tuple[str, ...], symbols: list[str]
) -> None:
    plot = plotted(charts.square(grouped_points(*groups), "of the first", "of the others"))
    assert [trace.marker.symbol for trace in plot.data] == symbols
    (diagonal,) = plot.layout.shapes
    assert (diagonal.x0, diagonal.y0, diagonal.x1, diagonal.y1) == (0, 0, 1, 1)
