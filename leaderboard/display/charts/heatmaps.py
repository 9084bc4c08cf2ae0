"""Heatmaps of correlations."""

from collections.abc import Sequence

import plotly.graph_objects as go

from leaderboard.display.charts.figures import ACCENT, MUTED, PAPER, ROW_HEIGHT, figure


def heatmap(labels: Sequence[str], values: Sequence[Sequence[float]]) -> go.Figure:
    """Plot a square matrix of correlations from -1 to 1, with the number in each field."""
    trace = go.Heatmap(
        z=values,
        x=labels,
        y=labels,
        zmin=-1,
        zmax=1,
        colorscale=[[0, MUTED], [0.5, PAPER], [1, ACCENT]],
        texttemplate="%{z:.2f}",
        showscale=False,
        xgap=2,
        ygap=2,
        hovertemplate="%{y}<br>%{x}: <b>%{z:.3f}</b><extra></extra>",
    )
    axis = {"showgrid": False, "tickvals": labels, "ticktext": labels}
    rows = {**axis, "autorange": "reversed"}
    return figure([trace], 200 + ROW_HEIGHT * len(labels), xaxis=axis, yaxis=rows)
