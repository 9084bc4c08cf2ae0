"""Trajectories: scores over the steps of a training."""

from leaderboard.ui.charts.basics import Point
from leaderboard.ui.charts.plots import Scale, Trajectory, trajectories
from tests.leaderboard.ui.charts.plotted import plotted

STEPS = Scale("step", "step %{x:,}")
LOGARITHMIC = STEPS._replace(is_logarithmic=True)
POINTS = [Point("", 0.2, 0.1, 0.3, x=0, href="/runs/1/"), Point("", 0.5, 0.4, 0.6, x=1000, href="/runs/2/")]


def test_filled_markers_were_measured_here_and_hollow_ones_by_others() -> None:
    lines = [Trajectory("ours", POINTS, is_measured=True), Trajectory("theirs", POINTS, is_measured=False)]
    first, second = plotted(trajectories(lines, STEPS, "accuracy")).data
    assert (first.marker.symbol, second.marker.symbol) == ("triangle-up", "triangle-down-open")
    assert list(first.customdata) == ["/runs/1/", "/runs/2/"]
    assert list(first.error_y.array) == [0.1, 0.1]


def test_a_logarithmic_axis_leaves_out_the_step_0() -> None:
    plot = plotted(trajectories([Trajectory("", POINTS, is_measured=True)], LOGARITHMIC, "accuracy"))
    assert list(plot.data[0].x) == [1000]
    assert plot.layout.xaxis.type == "log"


def test_all_values_intervals_and_chance_are_in_view() -> None:
    plot = plotted(trajectories([Trajectory("", POINTS, is_measured=True)], STEPS, "accuracy", chance=0.05))
    low, high = plot.layout.yaxis.range
    assert low < 0.05
    assert high > 0.6


def test_a_hover_names_the_line_and_the_step_without_what_plotly_would_fill_in() -> None:
    (line,) = plotted(trajectories([Trajectory("50 %{x}", POINTS, is_measured=True)], STEPS, "accuracy")).data
    assert line.hovertemplate.startswith("50 {x}, step %{x:,}<br>")
