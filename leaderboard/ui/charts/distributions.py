"""Stacked bars and distributions."""

from collections.abc import Mapping, Sequence
from typing import Any

from leaderboard.ui.charts.basics import (
    ACCENT,
    MUTED,
    PAPER,
    ROW_HEIGHT,
    Plot,
    figure,
    new_trace,
    power_axis,
    row_axis,
    share_axis,
)

BAR_HEIGHT = 24  # pixels


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
    return figure(traces, 140 + BAR_HEIGHT * len(rows), **axes, barmode="stack", showlegend=True)


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
