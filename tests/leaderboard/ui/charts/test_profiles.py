"""Profiles: a model's figures in rows, with what they are compared with."""

from leaderboard.ui.charts.models_in_rows import Mark, profile
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
