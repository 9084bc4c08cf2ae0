"""Plots as Plotly's own objects, which refuse properties and values that Plotly does not know."""

import json

import plotly.graph_objects as go
from django.core.serializers.json import DjangoJSONEncoder

from leaderboard.ui.charts.basics import Chart, Plot


def plotted(figure: Plot) -> go.Figure:
    """Return a plot as Plotly reads it from a page; raise `ValueError` where it would not understand it."""
    data = Chart("", "", "", figure).data
    return go.Figure(json.loads(json.dumps(data, cls=DjangoJSONEncoder, allow_nan=False)))
