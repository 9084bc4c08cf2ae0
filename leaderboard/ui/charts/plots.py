"""Charts with a scale on each axis or bars for each group: scatter plots, curves and distributions."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from leaderboard.ui.charts.basics import (
    ACCENT,
    HEIGHT,
    KIND_SYMBOLS,
    MUTED,
    PAPER,
    ROW_HEIGHT,
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
    parameter_axis,
    power_axis,
    range_in_view,
    row_axis,
    series_markers,
    with_chance_line,
)

FLAT = 180  # height in pixels of a chart with two levels
PUBLISHED = ", published"  # at the end of a group's name


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
        annotations=[_name_beside(point) for point in with_room(farthest(points), points)],
        showlegend=len(traces) > 1,
    )


def by_size(points: Sequence[Point], ends: tuple[str, str]) -> Plot:
    """Plot shares of models along a line of sizes (`x`); `ends` says what the shares 0 and 1 mean."""
    (trace,) = _traces_by_group(points, [""])
    trace.update(error_y=None, hovertemplate="%{text}<br><b>%{y:.2f}</b>, %{x:.3s} parameters<extra></extra>")
    trace["marker"]["opacity"] = 0.75
    yaxis = {"range": [-0.2, 1.2], "tickvals": [0, 1], "ticktext": list(ends)}
    return figure([trace], FLAT, xaxis=parameter_axis(points), yaxis=yaxis)


def farthest(points: Sequence[Point], number: int = 3) -> list[Point]:
    """Return the points that are farthest from the diagonal, those on it never."""
    off = [point for point in points if point.value != point.x]
    return sorted(off, key=lambda point: -abs(point.value - (point.x or 0)))[:number]


# Sizes in the square as shares of its axes where it is narrowest, on a phone, with 250 pixels.
LETTER, LINE, AROUND_MARK = 0.027, 0.06, 0.03


def with_room(outliers: Sequence[Point], points: Sequence[Point]) -> list[Point]:
    """Return those outliers of a square whose labels cover neither another mark nor the label of one before them."""
    named: dict[Point, tuple[float, float, float]] = {}  # with their labels
    for point in outliers:
        x, y, half = label = _label(point)
        others = [other for other in points if (other.x, other.value) != (point.x, point.value)]
        taken = [*((other.x or 0.0, other.value, AROUND_MARK) for other in others), *named.values()]
        if not any(abs(x - across) < half + width and abs(y - up) < LINE for across, up, width in taken):
            named[point] = label
    return list(named)


def _label(point: Point) -> tuple[float, float, float]:
    """Return where the middle of a label stands across and up the square, and half of its width."""
    half = LETTER * len(point.label) / 2
    away = AROUND_MARK + half
    return (point.x or 0.0) + (away if _is_in_left_half(point) else -away), point.value, half


def _is_in_left_half(point: Point) -> bool:
    return (point.x or 0) < 0.5


def _name_beside(point: Point) -> Axis:
    """Return the label of an outlier, on the side where the plot has room."""
    side = {"xanchor": "left", "xshift": 8} if _is_in_left_half(point) else {"xanchor": "right", "xshift": -8}
    return {"x": point.x, "y": point.value, "text": point.label, "showarrow": False, "font": {"size": 12}, **side}


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


CURVE_HEIGHT = 380  # pixels


def trajectories(
    points: Sequence[Point],
    axis: tuple[str, str],
    y_title: str,
    chance: float | None = None,
    hollow: Collection[str] = (),
) -> Plot:
    """Plot a line for each group of points over steps or tokens (`x`), with their 95 % intervals, and a line at chance.

    `axis`: its title, and how a hover writes a position on it. `hollow`: the groups that were not measured here. A
    group without a name is not named.
    """
    (x_title, hover), names = axis, group_names(points)
    lines = {name: [point for point in points if point.group == name] for name in names}
    plot = figure(
        [
            _trajectory_line(name, lines[name], (marker_symbol(symbol, hollow=name in hollow), colour), hover)
            for name, (symbol, colour) in zip(names, series_markers(len(names)), strict=True)
        ],
        CURVE_HEIGHT,
        xaxis={"title": {"text": x_title}, "tickformat": ".3~s", "rangemode": "tozero"},  # short, such as 20k or 2G
        yaxis={"title": {"text": y_title}, "range": range_in_view(points, chance), "tickformat": ".3~f"},
        showlegend=len(names) > 1,
    )
    return with_chance_line(plot, chance)


def _trajectory_line(name: str, points: Sequence[Point], marker: tuple[str, str], hover: str) -> Trace:
    symbol, colour = marker
    has_intervals = any(point.low is not None for point in points)
    hover_lines = ", ".join(filter(None, [name.replace("%", ""), hover]))
    return new_trace(
        "scatter",
        x=[point.x for point in points],
        y=[point.value for point in points],
        mode="lines+markers",
        line={"color": colour, "width": 2},
        marker={"size": 8, "symbol": symbol, "color": colour},
        error_y={**error_bars(points), "color": colour, "thickness": 1} if has_intervals else None,
        cliponaxis=False,
        name=name,
        customdata=links(points),
        hovertext=intervals(points) if has_intervals else None,
        hovertemplate=f"{hover_lines}<br><b>%{{y:.3f}}</b>{'%{hovertext}' if has_intervals else ''}<extra></extra>",
    )
