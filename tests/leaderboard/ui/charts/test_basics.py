"""What all charts share, and the ticks and ranges of axes."""

import pytest

from leaderboard.models import Score
from leaderboard.ui import charts
from leaderboard.ui.charts.basics import (
    Chart,
    Point,
    error_bars,
    parameter_axis,
    plain,
    power_axis,
    row_axis,
    score_points,
    share_axis,
    summary,
)
from tests.leaderboard.ui.charts.plotted import plotted


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("Arabic", "Arabic"),
        ("العربية", "\u2068العربية\u2069"),
        ("in עברית", "\u2068in עברית\u2069"),
        ({"a": None, "b": 0}, {"b": 0}),
        ([1.5, float("nan"), float("inf"), None], [1.5, None, None, None]),
        (("x", "y"), ["x", "y"]),
        ({"a": ["x", "العربية"], "b": 1.5}, {"a": ["x", "\u2068العربية\u2069"], "b": 1.5}),
    ],
)
def test_values_are_as_json_has_them_with_right_to_left_text_isolated(text: object, result: object) -> None:
    assert plain(text) == result


def test_error_bars_reach_from_the_value_to_the_bounds() -> None:
    bars = error_bars([Point("a", 0.5, 0.25, 1.0), Point("b", 0.5)])
    assert (bars["arrayminus"], bars["array"]) == ([0.25, 0], [0.5, 0])


def test_a_chart_has_an_address_a_height_and_plain_data() -> None:
    chart = Chart("languages", "Languages", "One language.", charts.dots([Point("Arabic", 0.5)]))
    assert (chart.id, chart.height) == ("chart-languages", 104)
    assert chart.data["data"][0]["y"] == ["Arabic"]


def test_colours_are_the_tokens_of_the_stylesheet() -> None:
    layout = plotted(charts.dots([Point("Arabic", 0.5)])).layout.template.layout
    assert (layout.font.color, layout.colorway[0]) == ("var(--ink)", "var(--accent)")


def test_the_script_of_a_chart_has_its_data_without_spaces_and_closes_no_element() -> None:
    chart = Chart("one", "One", "", charts.dots([Point("</script>", 0.5)]))
    assert chart.script.startswith(
        '<script id="chart-one" type="application/json">{"data":[{"type":"scatter","x":[0.5]'
    )
    assert chart.script.count("</script>") == 1


@pytest.mark.parametrize(
    ("parameters", "ticks"),
    [
        ((124_000_000, 1_700_000_000), ["200 M", "500 M", "1 B"]),
        ((109_000_000, 125_000_000), ["50 M", "100 M", "200 M"]),
        ((10**9,), ["500 M", "1 B", "2 B"]),
        ((60_000_000, 70_000_000_000), ["100 M", "1 B", "10 B"]),
    ],
)
def test_an_axis_of_parameters_has_a_few_round_numbers(parameters: tuple[int, ...], ticks: list[str]) -> None:
    axis = parameter_axis([Point("a model", 0.5, x=size) for size in (*parameters, None)])
    assert (axis["type"], axis["ticktext"]) == ("log", ticks)


def test_an_axis_of_powers_shows_numbers_or_whole_powers() -> None:
    ticks: dict[tuple[float, ...], list[str]] = {
        (-0.6, -0.1): ["0.2", "0.5", "1"],
        (2.0, 3.0): ["100", "200", "500", "1,000"],
        (-2.9, -0.1): ["0.001", "0.01", "0.1", "1"],
        (-43.1, -22.4): ["10<sup>−40</sup>", "10<sup>−35</sup>", "10<sup>−30</sup>", "10<sup>−25</sup>"],
        (-5000.0, float("-inf")): ["5·10<sup>−5001</sup>", "10<sup>−5000</sup>", "2·10<sup>−5000</sup>"],
        (): ["0.5", "1", "2"],
    }
    assert {logarithms: power_axis(logarithms, "p-value")["ticktext"] for logarithms in ticks} == ticks


@pytest.mark.parametrize("length", [0.1, 1, 2.5, 2.6, 7, 30, 90, 400, 900])
def test_an_axis_of_powers_has_few_ticks_within_its_range(length: float) -> None:
    axis = power_axis([-length, 0.0], "p-value")
    low, high = axis["range"]
    assert low < -length < 0 < high
    assert 2 <= len(axis["tickvals"]) <= 9
    assert all(low <= tick <= high for tick in axis["tickvals"])


def test_rows_start_at_the_top_and_each_label_has_one() -> None:
    axis = row_axis(["a", "b", "a", "c"], {"b": "short"})
    assert axis["categoryarray"] == ["a", "b", "c"]
    assert axis["ticktext"] == ["a", "short", "c"]
    assert axis["range"] == [2.7, -0.7]


def test_an_axis_of_shares_is_whole_with_room_for_dots_at_its_ends() -> None:
    low, high = share_axis("accuracy")["range"]
    assert low < 0 < 1 < high


SCORE = Score(metric="accuracy", value=0.5, low=0.4, high=0.6, n=10)


def test_a_point_leads_where_its_label_does() -> None:
    (point,) = score_points([("a", SCORE)], href=lambda label: f"/{label}/")
    assert point.href == "/a/"


def test_scores_without_a_value_are_no_points() -> None:
    points = score_points([("a", SCORE), ("b", None), ("c", Score(value=None, n=0))])
    assert points == [Point("a", 0.5, 0.4, 0.6)]


def test_a_summary_has_the_lowest_and_the_highest_value() -> None:
    points = [Point("b", 0.5), Point("a", 0.25), Point("c", 0.75)]
    assert summary("Accuracy", points) == "Accuracy: from 0.250 (a) to 0.750 (c) over 3 groups."
    assert summary("Accuracy", points[:1]) == "Accuracy: 0.500 (b)."
    assert summary("Accuracy", []) == "Accuracy: nothing was measured."
