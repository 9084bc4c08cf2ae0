"""Dot plots: rows, headings and series."""

import pytest

from leaderboard.ui import charts
from leaderboard.ui.charts.basics import Point
from tests.leaderboard.ui.charts.plotted import plotted

HEADS = {"Arab and West, ar": "Arab and West", "Asia and West, ar": "Asia and West", "all": ""}
NAMES = {"Arab and West, ar": "ar", "Asia and West, ar": "ar"}


def test_a_label_has_a_tick_at_its_chance_level_if_there_is_one() -> None:
    chance, scores = plotted(charts.dots([Point("a", 0.5), Point("b", 0.6)], {"b": 0.25, "c": 0.5})).data
    assert (chance.x, chance.y) == ((0.25,), ("b",))
    assert (scores.x, scores.y) == ((0.5, 0.6), ("a", "b"))


def test_without_chance_levels_there_is_only_the_trace_of_scores() -> None:
    assert len(plotted(charts.dots([Point("a", 0.5)], {})).data) == 1


def test_dots_at_the_ends_of_the_axis_are_whole() -> None:
    assert all(trace.cliponaxis is False for trace in plotted(charts.dots([Point("none", 0.0)], {"none": 0.0})).data)


def test_labels_stand_under_their_headings_with_their_short_names() -> None:
    plot = plotted(charts.headed_dots([Point(label, 0.5) for label in HEADS], HEADS, "P@1", NAMES))
    assert plot.layout.yaxis.ticktext[::-1] == ("<b>Arab and West</b>", "ar", "<b>Asia and West</b>", "ar", "all")


@pytest.mark.parametrize(("groups", "legend"), [(["one"], False), (["one", "two"], True)])
def test_headed_dots_have_a_legend_where_there_are_several_groups(groups: list[str], legend: bool) -> None:
    points = [Point("all", 0.5, group=group) for group in groups]
    plot = plotted(charts.headed_dots(points, {"all": ""}, "P@1"))
    assert [trace.name for trace in plot.data] == groups
    assert plot.layout.showlegend is legend


def test_a_forest_plot_has_hollow_dots_for_published_figures_only_and_a_mark_of_its_own_for_significance() -> None:
    points = [Point("a", -0.2, -0.3, -0.1), Point("b", 0.1, group="published")]
    plot = plotted(charts.forest(points, {"a": "", "b": ""}, "second minus first", certain=["a"]))
    measured, published, marks = plot.data
    assert [trace.marker.symbol for trace in (measured, published)] == ["circle", "circle-open"]
    assert (marks.mode, marks.x, marks.y, marks.text) == ("text", (-0.1,), ("a",), (" ✱",))
    (zero,) = plot.layout.shapes
    assert (zero.x0, zero.x1) == (0, 0)
