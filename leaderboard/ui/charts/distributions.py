"""Heatmaps, histograms and distributions."""

from collections.abc import Mapping, Sequence
from typing import Any

from leaderboard.ui.charts.basics import (
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
    power_axis,
    row_axis,
    share_axis,
)

# Heatmaps of shares by row and column.


GRID_ROW_HEIGHT = 24  # pixels
LEAST_SPAN = 0.05  # a smaller deviation than this is never drawn in full colour


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


# Histograms: how many items there are in each class.


BARS_HEIGHT = 300  # pixels


def histogram(bars: Mapping[str, int], title: str, unit: str) -> Plot:
    """Plot the number of items of each bar upwards; `title` names the bars, and `unit` what is counted."""
    trace = new_trace(
        "bar",
        x=list(bars),
        y=list(bars.values()),
        marker={"color": ACCENT},
        hovertemplate="%{x}: <b>%{y:,}</b> " + unit + "<extra></extra>",
    )
    across = {"type": "category", "title": {"text": title}, "showgrid": False}
    return figure([trace], BARS_HEIGHT, xaxis=across, yaxis={"rangemode": "tozero", "tickformat": ",d"}, bargap=0.15)


def stacked(bars: Mapping[str, Sequence[float]], names: Sequence[str], title: str) -> Plot:
    """Plot a row for each bar, whose shares lie one behind the other; `names` are those of the shares."""
    rows = list(bars)
    traces = [
        new_trace(
            "bar",
            orientation="h",
            x=[bars[row][place] for row in rows],
            y=rows,
            name=name,
            marker={"color": f"var(--series-{place + 1})"},
            hovertemplate="%{y}: <b>%{x:.3f}</b> " + name + "<extra></extra>",
        )
        for place, name in enumerate(names)
    ]
    axes = {"xaxis": {**share_axis(title), "range": [0, 1]}, "yaxis": row_axis(rows)}
    return figure(traces, 140 + GRID_ROW_HEIGHT * len(rows), **axes, barmode="stack", showlegend=True)


# Distributions of base-10 logarithms: violins and boxes, one group above the other.


def violins(groups: Mapping[str, Sequence[float]], title: str) -> Plot:
    """Plot two distributions of base-10 logarithms, each with its quartiles."""
    traces = [
        new_trace(
            "violin",
            x=list(values),
            name=label,
            line={"color": colour, "width": 1.5},
            box={"visible": True},
            points=False,
            hoverinfo="name",
            spanmode="hard",
        )
        for (label, values), colour in zip(groups.items(), (ACCENT, MUTED), strict=True)
    ]
    rows = {"type": "category", "showgrid": False, "autorange": "reversed"}
    return figure(traces, 300, xaxis=power_axis(_all_values(groups), title), yaxis=rows)


def boxes(
    groups: Mapping[str, Sequence[float]], title: str, line: float, addresses: Mapping[str, str] | None = None
) -> Plot:
    """Plot base-10 logarithms as one box per group with a dot for every value, and a vertical line at `line`.

    A box's whiskers end at the lowest and the highest value. `addresses`: by label, where its dots lead.
    """
    hrefs = addresses or {}
    traces = [
        trace for label, values in groups.items() for trace in _box_with_dots(label, values, hrefs.get(label, ""))
    ]
    axis = power_axis([line, *_all_values(groups)], title)
    plot = figure(traces, 90 + 2 * ROW_HEIGHT * len(groups), xaxis=axis, yaxis=row_axis(groups))
    plot.add_vline(x=line, line={"color": MUTED, "width": 1, "dash": "dot"})
    return plot


def _box_with_dots(label: str, values: Sequence[float], address: str) -> list[Any]:
    # Plotly ends the whiskers at the extremes only where the box draws no points itself, so the dots are a trace.
    box = new_trace(
        "box",
        x=list(values),
        y=[label] * len(values),  # and not the name, which narrow charts shorten
        orientation="h",
        name=label,
        boxpoints=False,
        line={"color": ACCENT, "width": 1.5},
        fillcolor=PAPER,
        hoverinfo="x",
    )
    dots = new_trace(
        "scatter",
        x=list(values),
        y=[label] * len(values),
        customdata=[address] * len(values),
        mode="markers",
        marker={"size": 5, "color": MUTED, "opacity": 0.7},
        hovertemplate="%{x}<extra></extra>",
    )
    return [box, dots]


def _all_values(groups: Mapping[str, Sequence[float]]) -> list[float]:
    return [value for values in groups.values() for value in values]
