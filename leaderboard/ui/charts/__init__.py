"""Plotly figures of the pages: one function for each kind of plot, and `Chart`, which gives a figure its words."""

from leaderboard.ui.charts.basics import Chart, Plot, Point
from leaderboard.ui.charts.dot_plots import beside, dots, favoured, forest, headed_dots
from leaderboard.ui.charts.plots import boxes, by_size, changes, square, violins
from leaderboard.ui.charts.scaling_chart import SizedScore, scaling_curve

__all__ = [
    "Chart",
    "Plot",
    "Point",
    "SizedScore",
    "beside",
    "boxes",
    "by_size",
    "changes",
    "dots",
    "favoured",
    "forest",
    "headed_dots",
    "scaling_curve",
    "square",
    "violins",
]
