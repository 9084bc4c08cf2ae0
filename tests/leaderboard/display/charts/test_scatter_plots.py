"""Scatter plots: groups, ranges and lines."""

import pytest

from leaderboard.display import charts
from leaderboard.display.charts import Point


def sized(*parameters: int) -> list[Point]:
    return [Point(f"model {size}", 0.5, x=size) for size in parameters]


def grouped_points(*groups: str) -> list[Point]:
    return [Point(f"model {group}", 0.5, 0.4, 0.6, x=0.25, group=group) for group in groups]


def test_chance_has_its_name_also_where_it_is_the_highest() -> None:
    plot = charts.against_parameters(sized(10**8, 10**9), 0.9, "accuracy")
    (name,) = plot.layout.annotations
    assert (name.text, name.x, name.xref, name.xanchor) == ("chance", 1, "paper", "left")
    assert plot.layout.yaxis.range[0] < 0 < 0.9 < plot.layout.yaxis.range[1]


def test_the_axis_of_scores_reaches_around_all_intervals() -> None:
    points = [Point("a", 0.5, 0.2, 0.95, x=10**8), Point("b", -0.25, x=10**9)]
    low, high = charts.against_parameters(points, None, "accuracy").layout.yaxis.range
    assert (low, high) == pytest.approx((-0.298, 0.998))


def test_dots_at_the_ends_of_the_axis_are_whole() -> None:
    assert charts.against_parameters(sized(10**8), None, "accuracy").data[0].cliponaxis is False


def test_markers_show_the_kind_of_model_and_whether_its_score_is_published() -> None:
    points = [
        point._replace(x=1e9) for point in grouped_points("masked", "causal, published", "causal", "masked, published")
    ]
    traces = charts.against_parameters(points, None, "accuracy").data
    assert [(trace.name, trace.marker.symbol) for trace in traces] == [
        ("causal", "circle"),
        ("causal, published", "circle-open"),
        ("masked", "diamond"),
        ("masked, published", "diamond-open"),
    ]


def test_each_dot_links_to_its_run() -> None:
    (trace,) = charts.changes([Point("a", 0.1, x=0.2, href="/runs/1/")], "first", "second").data
    assert trace.customdata == ("/runs/1/",)


def test_changes_have_lines_at_zero_and_a_symbol_for_each_group_in_order() -> None:
    plot = charts.changes(grouped_points("z", "a"), "first", "second")
    assert [(trace.name, trace.marker.symbol) for trace in plot.data] == [("z", "circle"), ("a", "diamond")]
    assert [(line.x0, line.y0) for line in plot.layout.shapes] == [(0, 0), (0, 0)]


@pytest.mark.parametrize(
    ("groups", "symbols"), [(("",), ["circle"]), (("second", "third"), ["diamond-open", "square"])]
)
def test_models_in_the_square_have_the_markers_of_the_plot_beside_it(
    groups: tuple[str, ...], symbols: list[str]
) -> None:
    plot = charts.square(grouped_points(*groups), "of the first", "of the others")
    assert [trace.marker.symbol for trace in plot.data] == symbols
    (diagonal,) = plot.layout.shapes
    assert (diagonal.x0, diagonal.y0, diagonal.x1, diagonal.y1) == (0, 0, 1, 1)
