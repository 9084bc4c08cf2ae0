"""Plotly figures of the pages: one function for each kind of plot, and `Chart`, which gives a figure its words."""

from leaderboard.ui.charts.basics import Chart, Plot, Point
from leaderboard.ui.charts.dot_plots import beside, dots, favoured, forest, headed_dots
from leaderboard.ui.charts.plots import boxes, by_size, changes, square, violins

__all__ = [
    "Chart",
    "Plot",
    "Point",
    "beside",
    "boxes",
    "by_size",
    "changes",
    "dots",
    "favoured",
    "forest",
    "headed_dots",
    "square",
    "violins",
]
