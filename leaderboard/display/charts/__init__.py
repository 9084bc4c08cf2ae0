"""Plotly figures of the pages: one function for each kind of plot, and `Chart`, which gives a figure its words."""

from leaderboard.display.charts.distributions import boxes, violins
from leaderboard.display.charts.dot_plots import dots, forest, grouped, headed_dots
from leaderboard.display.charts.dumbbells import Dumbbell, dumbbells
from leaderboard.display.charts.figures import Chart, Plot, Point
from leaderboard.display.charts.heatmaps import deviations, heatmap
from leaderboard.display.charts.histograms import histogram
from leaderboard.display.charts.lines import lines
from leaderboard.display.charts.scaling import SizedScore, scaling_curve
from leaderboard.display.charts.scatter_plots import calibration, changes, square
from leaderboard.display.charts.series import beside, favoured
from leaderboard.display.charts.strips import ModelDot, Strip, strips

__all__ = [
    "Chart",
    "Dumbbell",
    "ModelDot",
    "Plot",
    "Point",
    "SizedScore",
    "Strip",
    "beside",
    "boxes",
    "calibration",
    "changes",
    "deviations",
    "dots",
    "dumbbells",
    "favoured",
    "forest",
    "grouped",
    "headed_dots",
    "heatmap",
    "histogram",
    "lines",
    "scaling_curve",
    "square",
    "strips",
    "violins",
]
