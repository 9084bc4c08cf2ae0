"""Dots in rows: under headings, several series side by side, and profiles."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from leaderboard.ui import charts
from leaderboard.ui.charts.basics import KIND_SYMBOLS, SERIES_MARKERS, Point, series_markers
from leaderboard.ui.charts.dot_plots import profile
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
    assert plot.layout.yaxis.ticktext == ("<b>Arab and West</b>", "ar", "<b>Asia and West</b>", "ar", "all")


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


# Models in rows: profiles, with what a model is compared with, and strip plots.


MEASURED = Point("Facts", 0.5, 0.4, 0.6, href="/runs/1/")
PUBLISHED = Point("Cultures", 0.3, group="published")
BANDS, CHANCE = {"Facts": (0.2, 0.7)}, {"Facts": 0.1}
PROFILE_HEADS = {"Facts": "Knowledge", "Cultures": "Knowledge"}


def test_filled_dots_were_measured_here_and_hollow_ones_are_published() -> None:
    traces = {trace.name: trace for trace in plotted(profile([MEASURED, PUBLISHED], PROFILE_HEADS, "score")).data}
    assert list(traces["measured here"].y) == ["Facts"]
    assert list(traces["published"].y) == ["Cultures"]
    assert traces["measured here"].marker.color != traces["published"].marker.color


def test_a_hover_has_the_interval_and_a_point_leads_to_its_run() -> None:
    (dots,) = (
        trace for trace in plotted(profile([MEASURED], PROFILE_HEADS, "score")).data if trace.name == "measured here"
    )
    assert list(dots.hovertext) == [" (0.400 to 0.600)"]
    assert list(dots.customdata) == ["/runs/1/"]


def test_bands_and_chance_are_drawn_where_they_are_known() -> None:
    names = [trace.name for trace in plotted(profile([PUBLISHED], PROFILE_HEADS, "score")).data]
    assert names == ["published"]
    shown = profile([MEASURED], PROFILE_HEADS, "score", bands=BANDS, chance=CHANCE)
    names = [trace.name for trace in plotted(shown).data]
    assert names == ["models of similar size", "chance", "measured here"]


# Several series in the same rows: room for each, and markers that everybody can tell apart.


PAPER = ("#fcfbf8", "#14161a")
# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB.
VISION = {
    "usual": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
CLEARLY = 20.0  # distance in CIELAB; 2.3 is a just noticeable difference


def linear(colour: str) -> np.ndarray:
    channels = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    xyz = XYZ @ rgb / np.array([0.9505, 1, 1.089])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def series_colours(scheme: int, use: str = "series") -> list[str]:
    """The colours of the stylesheet: 0 for the light scheme, 1 for the dark one; `use` may be "name" as well."""
    style = (Path(settings.BASE_DIR) / "static" / "style.css").read_text()
    pairs = re.findall(rf"--{use}-\d: light-dark\((#\w{{6}}), (#\w{{6}})\)", style)
    return [pair[scheme] for pair in pairs]


@pytest.mark.parametrize("scheme", [0, 1])
@pytest.mark.parametrize("vision", VISION)
def test_any_two_series_have_clearly_different_colours_for_everybody(vision: str, scheme: int) -> None:
    colours = series_colours(scheme)
    assert len(colours) == len(SERIES_MARKERS) == 8
    seen = [lab(np.clip(np.array(VISION[vision]) @ linear(colour), 0, 1)) for colour in colours]
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > CLEARLY


@pytest.mark.parametrize("scheme", [0, 1])
@pytest.mark.parametrize(("use", "least"), [("series", 3), ("name", 4.5)])
def test_every_series_and_its_name_stand_out_from_the_paper(use: str, least: float, scheme: int) -> None:
    """By 3 : 1, as WCAG 1.4.11 asks of graphical objects, and by 4.5 : 1, as WCAG 1.4.3 asks of text."""
    light = np.array([0.2126, 0.7152, 0.0722])
    for colour in series_colours(scheme, use):
        bright, dark = sorted([linear(colour) @ light, linear(PAPER[scheme]) @ light], reverse=True)
        assert (bright + 0.05) / (dark + 0.05) >= least


def test_hollow_markers_are_for_published_figures_only() -> None:
    assert not any(symbol.endswith("-open") for symbol, _ in SERIES_MARKERS)


def test_every_series_has_a_symbol_of_its_own_and_none_that_stands_for_a_type_of_models() -> None:
    symbols = {symbol for symbol, _ in series_markers(len(SERIES_MARKERS))}
    assert len(symbols) == len(SERIES_MARKERS)
    assert symbols.isdisjoint(KIND_SYMBOLS.values())
    assert [symbol for symbol, _ in series_markers(1)] == ["circle"], "there is nothing to tell apart"


def test_series_are_apart_in_the_same_rows_from_top_to_bottom() -> None:
    points = [Point(label, 0.5, group=group) for group in ("one", "two", "three") for label in HEADS]
    plot = plotted(charts.beside(points, HEADS, "P@1", NAMES))
    assert [trace.name for trace in plot.data] == ["one", "two", "three"]
    assert all(list(trace.y) == list(HEADS) for trace in plot.data)
    assert plot.layout.scattermode == "group" and {trace.orientation for trace in plot.data} == {"h"}
    assert plot.layout.yaxis.ticktext == ("<b>Arab and West</b><br>ar", "<b>Asia and West</b><br>ar", "all")
    assert plot.layout.yaxis.range[0] > plot.layout.yaxis.range[1], "the first row is at the top"


def test_chance_is_a_tick_in_the_middle_of_a_row_and_takes_no_marker_of_a_series() -> None:
    points = [Point(label, 0.5, group=str(place)) for place in range(len(SERIES_MARKERS)) for label in ("a", "b")]
    plot = plotted(charts.beside(points, {"a": "", "b": ""}, "P@1", chance={"b": 0.2, "c": 0.3}))
    (tick,) = plot.layout.shapes
    assert (tick.name, tick.x0, tick.x1, tick.showlegend) == ("chance", 0.2, 0.2, True)
    assert (tick.y0 + tick.y1) / 2 == 1
    assert [(trace.marker.symbol, trace.marker.color) for trace in plot.data] == list(SERIES_MARKERS)


def test_rows_have_room_for_all_their_series() -> None:
    heights = []
    for number in (1, 4, 8):
        points = [Point("all", 0.5, group=str(place)) for place in range(number)]
        heights.append(plotted(charts.beside(points, {"all": ""}, "P@1")).layout.height)
    assert heights == sorted(heights)
    assert heights[-1] - heights[0] > 8 * 10
