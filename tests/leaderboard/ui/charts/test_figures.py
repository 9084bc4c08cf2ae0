"""What all charts share."""

import pytest

from leaderboard.ui import charts
from leaderboard.ui.charts.basics import Chart, Point, error_bars, plain
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
