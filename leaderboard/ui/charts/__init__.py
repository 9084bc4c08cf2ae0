"""Plotly figures of the pages: one function for each kind of plot, and `Chart`, which gives a figure its words."""

from leaderboard.ui.charts.basics import Chart, Plot, Point
from leaderboard.ui.charts.distributions import boxes, stacked, violins
from leaderboard.ui.charts.dot_plots import beside, dots, favoured, forest, headed_dots
from leaderboard.ui.charts.models_in_rows import ModelDot, Strip, strips
from leaderboard.ui.charts.scaling_chart import SizedScore, scaling_curve
from leaderboard.ui.charts.scatter_plots import calibration, changes, square

__all__ = [
    "Chart",
    "ModelDot",
    "Plot",
    "Point",
    "SizedScore",
    "Strip",
    "beside",
    "boxes",
    "calibration",
    "changes",
    "dots",
    "favoured",
    "forest",
    "headed_dots",
    "scaling_curve",
    "square",
    "stacked",
    "strips",
    "violins",
]
