"""Models in rows: profiles, with what a model is compared with, and strip plots."""

from leaderboard.ui import charts
from leaderboard.ui.charts.dot_plots import Mark, ModelDot, Strip, profile
from tests.leaderboard.ui.charts.plotted import plotted

MEASURED = Mark("Facts", 0.5, 0.4, 0.6, href="/runs/1/", band=(0.2, 0.7), chance=0.1)
PUBLISHED = Mark("Cultures", 0.3, measured=False)
HEADS = {"Facts": "Knowledge", "Cultures": "Knowledge"}


def test_filled_dots_were_measured_here_and_hollow_ones_are_published() -> None:
    traces = {trace.name: trace for trace in plotted(profile([MEASURED, PUBLISHED], HEADS, "score")).data}
    assert list(traces["measured here"].y) == ["Facts"]
    assert list(traces["published"].y) == ["Cultures"]
    assert traces["measured here"].marker.color != traces["published"].marker.color


def test_a_hover_has_the_interval_and_a_point_leads_to_its_run() -> None:
    (dots,) = (trace for trace in plotted(profile([MEASURED], HEADS, "score")).data if trace.name == "measured here")
    assert list(dots.hovertext) == [" (0.400 to 0.600)"]
    assert list(dots.customdata) == ["/runs/1/"]


def test_bands_and_chance_are_drawn_where_they_are_known() -> None:
    names = [trace.name for trace in plotted(profile([PUBLISHED], HEADS, "score")).data]
    assert names == ["published"]
    names = [trace.name for trace in plotted(profile([MEASURED], HEADS, "score")).data]
    assert names == ["models of similar size", "chance", "measured here"]


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
