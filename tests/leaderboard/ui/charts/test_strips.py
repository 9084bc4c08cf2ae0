"""Strip plots."""

from leaderboard.ui import charts
from leaderboard.ui.charts.models_in_rows import ModelDot, Strip
from tests.leaderboard.ui.charts.plotted import plotted

ROWS = [
    Strip("Arts", [ModelDot("a/one", 0.2, href="/runs/1/"), ModelDot("b/two", 0.4, hollow=True)], 0.3, 0.1),
    Strip("History", [ModelDot("a/one", 0.6)], 0.6),
]


def test_a_strip_plot_has_a_dot_for_each_model_and_ticks_at_the_median_and_at_chance() -> None:
    plot = plotted(charts.strips(ROWS, "accuracy"))
    traces = {trace.name: trace for trace in plot.data}
    assert list(traces) == ["chance", "measured here", "published", "median"]
    assert (list(traces["measured here"].x), list(traces["measured here"].y)) == ([0.2, 0.6], ["Arts", "History"])
    assert list(traces["measured here"].text) == ["a/one", "a/one"]
    assert list(traces["measured here"].customdata) == ["/runs/1/", ""]
    assert list(traces["median"].x) == [0.3, 0.6]
    assert (list(traces["chance"].x), list(traces["chance"].y)) == ([0.1], ["Arts"])


def test_published_figures_are_hollow_dots() -> None:
    symbols = {trace.name: trace.marker.symbol for trace in plotted(charts.strips(ROWS, "accuracy")).data}
    assert (symbols["measured here"], symbols["published"]) == ("circle", "circle-open")


def test_the_first_row_is_at_the_top() -> None:
    assert list(plotted(charts.strips(ROWS, "accuracy")).layout.yaxis.categoryarray) == ["History", "Arts"]
