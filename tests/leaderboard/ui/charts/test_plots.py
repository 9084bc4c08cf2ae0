"""Scatter plots, distributions of base-10 logarithms, and trajectories over the steps of a training."""

import pytest

from leaderboard.ui import charts
from leaderboard.ui.charts.basics import Point
from leaderboard.ui.charts.plots import trajectories
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


# Scatter plots: groups, ranges and lines.


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


def test_no_label_in_the_square_covers_a_mark_or_another_label() -> None:
    left, right = Point("Official language", 0.25, x=0.6), Point("Shares border with", 0.25, x=0.0)
    below = Point("Capital of a country", 0.1, x=0.3)

    def named(*points: Point) -> list[str]:
        return [note.text for note in plotted(charts.square(points, "first", "second")).layout.annotations]

    assert named(left) == ["Official language"]
    assert named(left, right) == ["Official language"], "as they would cover each other"
    assert named(left, right, below) == ["Official language", "Capital of a country"]
    assert named(right, Point("on the diagonal", 0.25, x=0.25)) == [], "whose mark would be covered"


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


# Trajectories: scores over the steps of a training.


STEPS = ("step", "step %{x:,}")
POINTS = [Point("", 0.2, 0.1, 0.3, x=0, href="/runs/1/"), Point("", 0.5, 0.4, 0.6, x=1000, href="/runs/2/")]


def named(*names: str) -> list[Point]:
    return [point._replace(group=name) for name in names for point in POINTS]


def test_filled_markers_were_measured_here_and_hollow_ones_by_others() -> None:
    first, second = plotted(trajectories(named("ours", "theirs"), STEPS, "accuracy", hollow=["theirs"])).data
    assert (first.name, first.marker.symbol) == ("ours", "triangle-up")
    assert (second.name, second.marker.symbol) == ("theirs", "triangle-down-open")
    assert list(first.customdata) == ["/runs/1/", "/runs/2/"]
    assert list(first.error_y.array) == [0.1, 0.1]


def test_all_values_intervals_and_chance_are_in_view() -> None:
    plot = plotted(trajectories(POINTS, STEPS, "accuracy", chance=0.05))
    low, high = plot.layout.yaxis.range
    assert low < 0.05
    assert high > 0.6


def test_a_hover_names_the_line_and_the_step_without_what_plotly_would_fill_in() -> None:
    (line,) = plotted(trajectories(named("50 %{x}"), STEPS, "accuracy")).data
    assert line.hovertemplate.startswith("50 {x}, step %{x:,}<br>")
