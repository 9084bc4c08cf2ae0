"""Scatter plots, heatmaps, histograms and distributions."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

from leaderboard.ui.charts.basics import (
    ACCENT,
    GROUND,
    HEIGHT,
    INK,
    MUTED,
    PAPER,
    ROW_HEIGHT,
    SERIES_MARKERS,
    SHARE_RANGE,
    SYMBOLS,
    WRONG,
    Axis,
    Plot,
    Point,
    Trace,
    error_bars,
    figure,
    group_names,
    intervals,
    links,
    marker_symbol,
    new_trace,
    power_axis,
    row_axis,
)

# Scatter plots: a value of each model against another one.


# By what the name of a group says; all others are circles.
KIND_SYMBOLS = {"masked": "diamond", "encoder-decoder": "square"}
CALIBRATION_HOVER = "%{text}: %{x:.3f}, accuracy <b>%{y:.3f}</b><extra></extra>"


def changes(points: Sequence[Point], x_title: str, y_title: str, neutral: float = 0.0) -> Plot:
    """Plot one change against another, with lines at zero and one symbol per group.

    `neutral`: where the lines are for values of which another than 0 means neither; these have no sign.
    """
    number = ".3f" if neutral else "+.3f"
    traces = _traces_by_group(points, group_names(points))
    for trace, symbol in zip(traces, cycle(SYMBOLS), strict=False):
        trace["marker"]["symbol"] = symbol
        trace["hovertemplate"] = f"%{{text}}<br>%{{x:{number}}}, <b>%{{y:{number}}}</b><extra></extra>"
    plot = figure(
        traces,
        HEIGHT,
        xaxis={"title": {"text": x_title}},
        yaxis={"title": {"text": y_title}},
        showlegend=len(traces) > 1,
    )
    plot.add_vline(x=neutral, line={"color": MUTED, "width": 1})
    plot.add_hline(y=neutral, line={"color": MUTED, "width": 1})
    return plot


def square(points: Sequence[Point], x_title: str, y_title: str) -> Plot:
    """Plot shares of models against those of the first model: above the diagonal a model is better than the first."""
    traces = _traces_by_group(points, group_names(points))
    # In the plot beside this one, the first marker is the first model's.
    markers = SERIES_MARKERS[1:] if len(traces) > 1 else SERIES_MARKERS
    for trace, (symbol, colour) in zip(traces, markers, strict=False):
        trace.update(marker={"symbol": symbol, "color": colour, "size": 9}, error_y=None)
        trace["hovertemplate"] = "%{text}<br>%{x:.3f} → <b>%{y:.3f}</b><extra></extra>"
    diagonal = {"type": "line", "x0": 0, "y0": 0, "x1": 1, "y1": 1, "line": {"color": MUTED, "width": 1}}
    axis = {"range": SHARE_RANGE, "tickformat": ".1f", "constrain": "domain"}
    return figure(
        traces,
        HEIGHT,
        xaxis={"title": {"text": x_title}, **axis, "constraintoward": "left"},
        yaxis={"title": {"text": y_title}, "scaleanchor": "x", **axis},
        shapes=[diagonal],
        annotations=[_name_beside(point) for point in farthest(points)],
        showlegend=len(traces) > 1,
    )


def farthest(points: Sequence[Point], number: int = 3) -> list[Point]:
    """Return the points that are farthest from the diagonal, those on it never."""
    off = [point for point in points if point.value != point.x]
    return sorted(off, key=lambda point: -abs(point.value - (point.x or 0)))[:number]


def _name_beside(point: Point) -> Axis:
    """Return the label of an outlier, on the side where the plot has room."""
    in_left_half = (point.x or 0) < 0.5
    side = {"xanchor": "left", "xshift": 8} if in_left_half else {"xanchor": "right", "xshift": -8}
    return {"x": point.x, "y": point.value, "text": point.label, "showarrow": False, "font": {"size": 12}, **side}


def calibration(points: Sequence[Point], title: str, diagonal: bool) -> Plot:
    """Plot accuracy against confidence (`x`), from 0 to 1; on the diagonal a model is right as often as it is sure."""
    (trace,) = _traces_by_group(points, group_names(points))
    trace.update(mode="lines+markers", line={"color": ACCENT, "width": 1.5}, hovertemplate=CALIBRATION_HOVER)
    line = {"type": "line", "x0": 0, "y0": 0, "x1": 1, "y1": 1, "line": {"color": MUTED, "width": 1, "dash": "dot"}}
    axis = {"range": SHARE_RANGE, "tickformat": ".1f"}
    axes = {"xaxis": {"title": {"text": title}, **axis}, "yaxis": {"title": {"text": "accuracy"}, **axis}}
    return figure([trace], HEIGHT, **axes, shapes=[line] if diagonal else [])


def _traces_by_group(points: Sequence[Point], groups: Sequence[str]) -> list[Trace]:
    return [_model_trace([point for point in points if point.group == group], group) for group in groups]


def _model_trace(points: Sequence[Point], group: str) -> Trace:
    """Return a trace whose marker shows what the group's name says: the kind of model, and published scores."""
    published = "published" in group
    symbol = next((symbol for kind, symbol in KIND_SYMBOLS.items() if kind in group), "circle")
    return new_trace(
        "scatter",
        x=[point.x for point in points],
        y=[point.value for point in points],
        text=[point.label for point in points],
        customdata=links(points),
        hovertext=intervals(points),
        mode="markers",
        marker={
            "size": 10,
            "symbol": marker_symbol(symbol, hollow=published),
            "color": MUTED if published else ACCENT,
        },
        cliponaxis=False,
        error_y={**error_bars(points), "color": MUTED},
        name=group,
        hovertemplate="%{text}<br><b>%{y:.3f}</b>%{hovertext}<extra></extra>",
    )


# Heatmaps: correlations, and shares by row and column.


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
