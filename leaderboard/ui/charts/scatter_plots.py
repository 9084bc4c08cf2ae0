"""Scatter plots: a value of each model against another one."""

from collections.abc import Sequence

from leaderboard.ui.charts.basics import (
    ACCENT,
    HEIGHT,
    KIND_SYMBOLS,
    MUTED,
    SERIES_MARKERS,
    SHARE_RANGE,
    Axis,
    Plot,
    Point,
    Trace,
    error_bars,
    figure,
    group_names,
    intervals,
    kind_symbol,
    links,
    marker_symbol,
    new_trace,
    series_markers,
)

PUBLISHED = ", published"  # at the end of a group's name
CALIBRATION_HOVER = "%{text}: %{x:.3f}, accuracy <b>%{y:.3f}</b><extra></extra>"


def changes(points: Sequence[Point], x_title: str, y_title: str, neutral: float = 0.0) -> Plot:
    """Plot one change against another, with lines at zero and one symbol per group.

    The published points of a group, whose name ends with "published", have its symbol hollow.
    `neutral`: where the lines are for values of which another than 0 means neither; these have no sign.
    """
    number = ".3f" if neutral else "+.3f"
    traces = _traces_by_group(points, group_names(points))
    of_any_source = list(dict.fromkeys(trace["name"].removesuffix(PUBLISHED) for trace in traces))
    symbols = dict(zip(of_any_source, series_markers(len(of_any_source)), strict=True))
    for trace in traces:
        name = trace["name"].removesuffix(PUBLISHED)
        trace["marker"]["symbol"] = marker_symbol(symbols[name][0], hollow=name != trace["name"])
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
    markers = SERIES_MARKERS[1:] if len(traces) > 1 else series_markers(1)
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
    kind = next((kind for kind in KIND_SYMBOLS if kind in group), "")
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
            "symbol": kind_symbol(kind, hollow=published),
            "color": MUTED if published else ACCENT,
        },
        cliponaxis=False,
        error_y={**error_bars(points), "color": MUTED},
        name=group,
        hovertemplate="%{text}<br><b>%{y:.3f}</b>%{hovertext}<extra></extra>",
    )
