"""Plotly figures of the pages: one function for each kind of plot, and `Chart`, which gives a figure its words."""

from leaderboard.display.charts.distributions import boxes, violins
from leaderboard.display.charts.dot_plots import dots, forest, grouped, headed_dots
from leaderboard.display.charts.figures import Chart, Point
from leaderboard.display.charts.heatmaps import heatmap
from leaderboard.display.charts.scatter_plots import (
    against_parameters,
    changes,
    powers,
    powers_against_parameters,
    square,
)
from leaderboard.display.charts.series import beside

__all__ = [
    "Chart",
    "Point",
    "against_parameters",
    "beside",
    "boxes",
    "changes",
    "dots",
    "forest",
    "grouped",
    "headed_dots",
    "heatmap",
    "powers",
    "powers_against_parameters",
    "square",
    "violins",
]
