"""Charts: the labels of their axes, and that no mark is cut off."""

import pytest

from leaderboard.display import charts
from leaderboard.display.charts import Point


def sized(*parameters: int) -> list[Point]:
    return [Point(f"model {size}", 0.5, x=size) for size in parameters]


@pytest.mark.parametrize(
    ("parameters", "ticks"),
    [
        ((124_000_000, 1_700_000_000), ("200 M", "500 M", "1 B")),
        ((109_000_000, 125_000_000), ("50 M", "100 M", "200 M")),
        ((10**9,), ("500 M", "1 B", "2 B")),
        ((60_000_000, 70_000_000_000), ("100 M", "1 B", "10 B")),
    ],
)
def test_an_axis_of_sizes_has_a_few_round_ones(parameters: tuple[int, ...], ticks: tuple[str, ...]) -> None:
    assert charts.against_parameters(sized(*parameters), None, "accuracy").layout.xaxis.ticktext == ticks


@pytest.mark.parametrize(
    ("logarithms", "ticks"),
    [
        ((-0.6, -0.1), ("0.2", "0.5", "1")),
        ((-2.9, -0.1), ("0.001", "0.01", "0.1", "1")),
        ((-43.1, -22.4), ("10<sup>−40</sup>", "10<sup>−35</sup>", "10<sup>−30</sup>", "10<sup>−25</sup>")),
        ((-5000.0, float("-inf")), ("5·10<sup>−5001</sup>", "10<sup>−5000</sup>", "2·10<sup>−5000</sup>")),
        ((), ("0.5", "1", "2")),
    ],
)
def test_an_axis_of_p_values_has_them_or_whole_powers(logarithms: tuple[float, ...], ticks: tuple[str, ...]) -> None:
    points = [Point("a run", value, x=value) for value in logarithms]
    assert charts.powers(points, "mean", "deviation").layout.yaxis.ticktext == ticks


def test_chance_has_its_name_also_where_it_is_the_highest() -> None:
    figure = charts.against_parameters(sized(10**8, 10**9), 0.9, "accuracy")
    (name,) = figure.layout.annotations
    assert (name.text, name.x, name.xref, name.xanchor) == ("chance", 1, "paper", "left")
    assert figure.layout.yaxis.range[0] < 0 < 0.9 < figure.layout.yaxis.range[1]


def test_dots_at_the_ends_of_an_axis_are_not_cut_off() -> None:
    figures = [
        charts.dots([Point("none", 0.0)], {"none": 0.0}),
        charts.against_parameters(sized(10**8), None, "accuracy"),
    ]
    assert all(trace.cliponaxis is False for figure in figures for trace in figure.data)


def test_a_label_has_its_name_on_the_axis_and_no_heading_where_there_is_none() -> None:
    labels = {"Arab and West, ar": "Arab and West", "Asia and West, ar": "Asia and West", "all": ""}
    points = [Point(label, 0.5) for label in labels]
    axis = charts.headed_dots(points, labels, "P@1", dict.fromkeys(list(labels)[:2], "ar")).layout.yaxis
    assert axis.ticktext[::-1] == ("<b>Arab and West</b>", "ar", "<b>Asia and West</b>", "ar", "all")
