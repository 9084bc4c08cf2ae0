"""Heatmaps: correlations, and shares by row and column."""

from collections.abc import Mapping, Sequence

from leaderboard.display.charts.axes import row_axis
from leaderboard.display.charts.figures import (
    ACCENT,
    GROUND,
    INK,
    MUTED,
    PAPER,
    ROW_HEIGHT,
    WRONG,
    Plot,
    figure,
    new_trace,
)

GRID_ROW_HEIGHT = 24  # pixels
LEAST_SPAN = 0.05  # a smaller deviation than this is never drawn in full colour


def heatmap(labels: Sequence[str], values: Sequence[Sequence[float]]) -> Plot:
    """Plot a square matrix of correlations from -1 to 1, with the number in each field."""
    trace = new_trace(
        "heatmap",
        z=values,
        x=labels,
        y=labels,
        zmin=-1,
        zmax=1,
        colorscale=[[0, MUTED], [0.5, PAPER], [1, ACCENT]],
        text=[[f"{value:.2f}".replace("-", "\N{MINUS SIGN}") for value in row] for row in values],
        texttemplate="%{text}",
        showscale=False,
        xgap=2,
        ygap=2,
        hovertemplate="%{y}<br>%{x}: <b>%{z:.3f}</b><extra></extra>",
    )
    axis = {"showgrid": False, "tickvals": labels, "ticktext": labels}
    rows = {**axis, "autorange": "reversed"}
    return figure([trace], 200 + ROW_HEIGHT * len(labels), xaxis=axis, yaxis=rows)


def deviations(
    rows: Mapping[str, str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    addresses: Sequence[str],
) -> Plot:
    """Plot shares in a grid of rows and columns, each field coloured by its deviation from the mean of its row.

    `rows` maps the names of rows to shorter texts for the axis. A field without a value is empty. The fields of a row
    lead to its address.
    """
    means = [_mean([value for value in row if value is not None]) for row in values]
    shades = [
        [None if value is None else value - mean for value in row] for row, mean in zip(values, means, strict=True)
    ]
    span = max([LEAST_SPAN, *(abs(shade) for row in shades for shade in row if shade is not None)])
    trace = new_trace(
        "heatmap",
        z=shades,
        text=[["" if value is None else f"{value:.2f}" for value in row] for row in values],
        x=columns,
        y=list(rows),
        customdata=[[address] * len(columns) for address in addresses],
        zmin=-span,
        zmax=span,
        colorscale=[[0, WRONG], [0.5, GROUND], [1, ACCENT]],
        opacity=0.6,  # so that the numbers can be read on every field
        texttemplate="%{text}",
        textfont={"color": INK},
        showscale=False,
        xgap=2,
        ygap=2,
        hovertemplate="%{y}, %{x}: <b>%{text}</b>, %{z:+.3f} from the mean of the row<extra></extra>",
    )
    top = {"showgrid": False, "side": "top", "type": "category"}
    return figure([trace], 60 + GRID_ROW_HEIGHT * len(rows), xaxis=top, yaxis=row_axis(list(rows), rows))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
