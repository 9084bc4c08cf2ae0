"""Plotly figures. Colours are the stylesheet's tokens; static/charts.js puts in what they stand for."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from math import ceil, floor, isfinite, log10
from typing import Any, NamedTuple
from unicodedata import bidirectional

import plotly.graph_objects as go

from leaderboard.display import cells

INK, SOFT, LINE = "var(--ink)", "var(--soft)", "var(--line)"
ACCENT, MUTED, PAPER = "var(--accent)", "var(--muted)", "rgba(0,0,0,0)"
HEIGHT, ROW_HEIGHT = 420, 34  # pixels
RIGHT_TO_LEFT = ("R", "AL")  # classes of letters, as Unicode calls them
UNIT = [-0.02, 1.02]  # 0 to 1, with room for the dots at its ends
POWER = {"tickprefix": "10<sup>", "ticksuffix": "</sup>", "hoverformat": ".1f"}  # where there is no tick
TICKS, STEPS = 5, (1, 2, 5, 10, 20, 50, 100, 200)  # of powers of ten on an axis: how many, and how far apart


@dataclass(frozen=True)
class Chart:
    """`summary` says in words what the figure shows; its table stands beside it on the page."""

    name: str
    title: str
    summary: str
    figure: go.Figure

    @property
    def id(self) -> str:
        return f"chart-{self.name}"

    @property
    def height(self) -> int:
        return self.figure.layout.height

    @property
    def data(self) -> Any:
        return isolated(json.loads(self.figure.to_json()))


def isolated(value: Any) -> Any:
    """A figure whose right-to-left words are closed off, so that they do not move what stands beside them."""
    if isinstance(value, dict):
        return {key: isolated(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [isolated(inner) for inner in value]
    if isinstance(value, str) and any(bidirectional(letter) in RIGHT_TO_LEFT for letter in value):
        return f"\N{FIRST STRONG ISOLATE}{value}\N{POP DIRECTIONAL ISOLATE}"
    return value


class Point(NamedTuple):
    """A score with its interval, under a label."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    x: float | None = None
    group: str = ""
    href: str = ""


Axis = dict[str, Any]
AXIS = {
    "gridcolor": LINE,
    "zeroline": False,
    "linecolor": LINE,
    "ticks": "",
    "automargin": True,
    "fixedrange": True,
    "title": {"font": {"size": 12, "color": SOFT}, "standoff": 10},
}
TEMPLATE = go.layout.Template(
    layout={
        "font": {"family": "var(--sans)", "size": 13, "color": INK},
        "paper_bgcolor": PAPER,
        "plot_bgcolor": PAPER,
        "margin": {"l": 8, "r": 16, "t": 8, "b": 8},
        "xaxis": AXIS,
        "yaxis": AXIS,
        "hovermode": "closest",
        "hoverlabel": {"bgcolor": "var(--raised)", "bordercolor": LINE, "font": {"color": INK}},
        "showlegend": False,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor": "left"},
        "colorway": [ACCENT, MUTED],
    }
)


def figure(traces: Sequence[Any], height: int, **layout: Any) -> go.Figure:
    return go.Figure(data=traces, layout={"template": TEMPLATE, "height": height, **layout})


def _interval(points: Sequence[Point]) -> dict[str, Any]:
    """Plotly's error bar from absolute bounds; nothing where a point has none."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if p.high is None else p.high - p.value for p in points],
        "arrayminus": [0 if p.low is None else p.value - p.low for p in points],
        "thickness": 1.5,
        "width": 0,
        "color": SOFT,
    }


def dots(points: Sequence[Point], chance: Mapping[str, float] | None = None, title: str = "") -> go.Figure:
    """One row per group: a dot with its interval, and a small tick where guessing would be.

    Starts at 0 and ends at 1, so that pages can be compared.
    """
    marks = [_dots_trace(points)]
    if ticks := [(chance[p.label], p.label) for p in points if chance and p.label in chance]:
        marks.insert(0, _chance_trace(ticks))
    axis = {"title": {"text": title}, "range": UNIT, "tickformat": ".1f"}
    labels = [p.label for p in points]
    rows = _rows(labels)
    return figure(marks, 70 + ROW_HEIGHT * len(points), xaxis=axis, yaxis=rows)


def _rows(labels: Iterable[str], names: Mapping[str, str] | None = None) -> dict[str, Any]:
    """An axis with a row for each label, the first at the top, all as high; a label may have a shorter name there."""
    rows = list(dict.fromkeys(labels))[::-1]
    return {
        **{"type": "category", "categoryorder": "array", "categoryarray": rows, "range": [-0.7, len(rows) - 0.3]},
        **{"showgrid": False, "tickfont": {"size": 12}, "tickmode": "array", "tickvals": rows},
        **{"ticktext": [(names or {}).get(row, row) for row in rows], "ticklabelstandoff": 6},
    }


def _dots_trace(points: Sequence[Point]) -> go.Scatter:
    return go.Scatter(
        x=[p.value for p in points],
        y=[p.label for p in points],
        mode="markers",
        marker={"size": 9, "color": ACCENT},
        cliponaxis=False,
        error_x=_interval(points),
        name="score",
        hovertemplate="%{y}: <b>%{x:.3f}</b><extra></extra>",
    )


def _chance_trace(ticks: Sequence[tuple[float, str]]) -> go.Scatter:
    return go.Scatter(
        x=[value for value, _ in ticks],
        y=[label for _, label in ticks],
        mode="markers",
        marker={"symbol": "line-ns", "size": 11, "line": {"width": 1.5, "color": MUTED}},
        cliponaxis=False,
        name="chance",
        hovertemplate="chance: %{x:.3f}<extra></extra>",
    )


def against_parameters(points: Sequence[Point], chance: float | None, title: str) -> go.Figure:
    """Scores against the number of parameters, which is on a logarithmic axis; one symbol per group."""
    ends = [end for p in points for end in (p.value, p.low, p.high)]
    reached = [0.0, *(end for end in (*ends, chance) if end is not None)]
    room = 0.04 * (max(reached) - min(reached))
    axis = {"title": {"text": title}, "tickformat": ".2~f", "range": [min(reached) - room, max(reached) + room]}
    return _with_chance(_clouds(points, _parameters(points), axis), chance)


def _clouds(points: Sequence[Point], xaxis: Axis, yaxis: Axis) -> go.Figure:
    """One symbol per group."""
    traces = [_cloud([p for p in points if p.group == group], group) for group in sorted({p.group for p in points})]
    return figure(traces, HEIGHT, xaxis=xaxis, yaxis=yaxis, showlegend=len(traces) > 1)


def _with_chance(drawn: go.Figure, chance: float | None) -> go.Figure:
    """A line where guessing would be, its name beside it, where no dots are."""
    if chance is not None:
        drawn.add_hline(chance, line={"color": MUTED, "width": 1, "dash": "dot"})
        name = {"text": "chance", "font": {"color": SOFT}, "showarrow": False}
        drawn.add_annotation(x=1, y=chance, xref="paper", xanchor="left", **name)
        drawn.update_layout(margin={"r": 56})
    return drawn


def _parameters(points: Sequence[Point]) -> Axis:
    ends = _around([log10(p.x) for p in points if p.x])
    sizes = [round(10**tick) for tick in _ticks(*ends)]
    named = {"tickvals": sizes, "ticktext": [cells.parameters(size).text for size in sizes]}
    return {"title": {"text": "parameters"}, "type": "log", "range": ends, **named}


def _powers(logarithms: Iterable[float], title: str) -> Axis:
    """An axis of base-10 logarithms that shows what they are logarithms of."""
    ends = _around(logarithms)
    ticks = _ticks(*ends)
    return {"title": {"text": title}, "range": ends, "tickvals": ticks, "ticktext": _said(ticks), **POWER}


def _around(logarithms: Iterable[float]) -> tuple[float, float]:
    """Ends of an axis with room beside the outermost, and for two ticks at least."""
    known = [value for value in logarithms if isfinite(value)] or [0.0]
    low, high = min(known), max(known)
    half = max(0.54 * (high - low), 0.4)
    return (low + high) / 2 - half, (low + high) / 2 + half


def _ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 of each power of ten, or powers where there are more than two; all as base-10 logarithms."""
    powers = range(floor(low), ceil(high) + 1)
    if high - low > 2.5:
        step = next((step for step in STEPS if high - low <= TICKS * step), STEPS[-1])
        return [float(power) for power in powers if power % step == 0 and low <= power <= high]
    steps = [power + log10(digit) for power in powers for digit in (1, 2, 5)]
    return [tick for tick in steps if low <= tick <= high]


def _said(ticks: Sequence[float]) -> list[str]:
    """0.02, or with powers of ten where figures would be long."""
    if max(map(abs, ticks)) > 3:
        return [_with_power(tick) for tick in ticks]
    return [f"{10**tick:,g}" for tick in ticks]


def _with_power(tick: float) -> str:
    power = f"10<sup>{floor(tick)}</sup>".replace("-", "\N{MINUS SIGN}")
    return power if tick.is_integer() else f"{round(10 ** (tick % 1))}·{power}"


def _cloud(points: Sequence[Point], group: str) -> go.Scatter:
    published = "published" in group
    symbol = "diamond" if "masked" in group else "circle"
    return go.Scatter(
        x=[p.x for p in points],
        y=[p.value for p in points],
        text=[p.label for p in points],
        customdata=[p.href for p in points],
        mode="markers",
        marker={
            "size": 10,
            "symbol": f"{symbol}-open" if published else symbol,
            "color": MUTED if published else ACCENT,
        },
        cliponaxis=False,
        error_y={**_interval(points), "color": MUTED},
        name=group,
        hovertemplate="%{text}<br><b>%{y:.3f}</b><extra></extra>",
    )


def grouped(series: Mapping[str, Sequence[Point]], chance: float | None = None) -> go.Figure:
    """Shares of several series beside each other at each label, with their intervals; a legend tells the series."""
    traces = [_series_trace(name, points, place) for place, (name, points) in enumerate(series.items())]
    labels = list(dict.fromkeys(point.label for points in series.values() for point in points))
    drawn = figure(
        traces,
        HEIGHT,
        xaxis={"categoryorder": "array", "categoryarray": labels, "showgrid": False},
        yaxis={"range": UNIT, "tickformat": ".1f"},
        scattermode="group",
        showlegend=len(traces) > 1,
    )
    return _with_chance(drawn, chance)


SYMBOLS = ("circle", "diamond", "square", "circle-open", "diamond-open", "square-open")


def _series_trace(name: str, points: Sequence[Point], place: int) -> go.Scatter:
    return go.Scatter(
        x=[p.label for p in points],
        y=[p.value for p in points],
        mode="markers",
        marker={"size": 9, "symbol": SYMBOLS[place % len(SYMBOLS)], "color": INK if place % 3 == 2 else None},
        cliponaxis=False,
        error_y=_interval(points),
        offsetgroup=str(place),
        name=name,
        hovertemplate="%{x}, " + name.replace("%", "") + ": <b>%{y:.3f}</b><extra></extra>",
    )


def changes(points: Sequence[Point], x_title: str, y_title: str) -> go.Figure:
    """One change against another, with lines where nothing changes; one symbol per group."""
    groups = list(dict.fromkeys(p.group for p in points))
    traces = [_cloud([p for p in points if p.group == group], group) for group in groups]
    for trace, symbol in zip(traces, cycle(SYMBOLS), strict=False):
        trace.marker.symbol = symbol
        trace.hovertemplate = "%{text}<br>%{x:+.3f}, <b>%{y:+.3f}</b><extra></extra>"
    drawn = figure(
        traces,
        HEIGHT,
        xaxis={"title": {"text": x_title}},
        yaxis={"title": {"text": y_title}},
        showlegend=len(groups) > 1,
    )
    drawn.add_vline(x=0, line={"color": MUTED, "width": 1})
    drawn.add_hline(y=0, line={"color": MUTED, "width": 1})
    return drawn


def heatmap(labels: Sequence[str], values: Sequence[Sequence[float]]) -> go.Figure:
    """A square of correlations from -1 to 1, each with its figure."""
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


def square(points: Sequence[Point], x_title: str, y_title: str) -> go.Figure:
    """Shares of models against those of the first; above the diagonal they are better. One symbol per group."""
    groups = _groups(points)
    traces = [_cloud([p for p in points if p.group == group], group) for group in groups]
    marks = MARKS[1:] if len(groups) > 1 else MARKS  # as beside each other, where the first has the first mark
    for trace, (symbol, colour) in zip(traces, marks, strict=False):
        trace.update(marker={"symbol": symbol, "color": colour, "size": 9}, error_y=None)
        trace.hovertemplate = "%{text}<br>%{x:.3f} → <b>%{y:.3f}</b><extra></extra>"
    diagonal = {"type": "line", "x0": 0, "y0": 0, "x1": 1, "y1": 1, "line": {"color": MUTED, "width": 1}}
    axis = {"range": UNIT, "tickformat": ".1f", "constrain": "domain"}
    return figure(
        traces,
        HEIGHT,
        xaxis={"title": {"text": x_title}, **axis},
        yaxis={"title": {"text": y_title}, "scaleanchor": "x", **axis},
        shapes=[diagonal],
        showlegend=len(groups) > 1,
    )


DOWNWARDS = {"type": "category", "showgrid": False, "autorange": "reversed"}


def violins(groups: Mapping[str, Sequence[float]], title: str) -> go.Figure:
    """Distributions of base-10 logarithms, one above the other, each with its quartiles."""
    colours = (ACCENT, MUTED)
    traces = [
        go.Violin(
            x=list(values),
            name=label,
            line={"color": colour, "width": 1.5},
            box={"visible": True},
            points=False,
            hoverinfo="name",
            spanmode="hard",
        )
        for (label, values), colour in zip(groups.items(), colours, strict=True)
    ]
    drawn = [value for values in groups.values() for value in values]
    return figure(traces, 300, xaxis=_powers(drawn, title), yaxis=DOWNWARDS)


def boxes(groups: Mapping[str, Sequence[float]], title: str, line: float) -> go.Figure:
    """Of base-10 logarithms: a box a group with whiskers at the ends, every value as a dot, and a line at `line`."""
    traces: list[Any] = []
    for label, values in groups.items():
        # Without points of its own a box has its whiskers at the ends.
        box = go.Box(
            x=list(values),
            name=label,
            boxpoints=False,
            line={"color": ACCENT, "width": 1.5},
            fillcolor=PAPER,
            hoverinfo="x",
        )
        dots = go.Scatter(
            x=list(values),
            y=[label] * len(values),
            mode="markers",
            marker={"size": 5, "color": MUTED, "opacity": 0.7},
            hovertemplate="%{x}<extra></extra>",
        )
        traces += [box, dots]
    axis = _powers([line, *(value for values in groups.values() for value in values)], title)
    drawn = figure(traces, 90 + 2 * ROW_HEIGHT * len(groups), xaxis=axis, yaxis=_rows(groups))
    drawn.add_vline(x=line, line={"color": MUTED, "width": 1, "dash": "dot"})
    return drawn


def powers(points: Sequence[Point], x_title: str, y_title: str) -> go.Figure:
    """Base-10 logarithms against one another; one symbol per group."""
    return _of_powers(points, _powers([p.x for p in points if p.x is not None], x_title), y_title)


def powers_against_parameters(points: Sequence[Point], title: str) -> go.Figure:
    """Base-10 logarithms against the number of parameters."""
    return _of_powers(points, _parameters(points), title)


def _of_powers(points: Sequence[Point], xaxis: Axis, title: str) -> go.Figure:
    drawn = _clouds(points, xaxis, _powers([p.value for p in points], title))
    return drawn.update_traces(hovertemplate="%{text}<br><b>%{y}</b><extra></extra>")


def headed_dots(
    points: Sequence[Point], heads: Mapping[str, str], title: str, names: Mapping[str, str] | None = None
) -> go.Figure:
    """Dots from 0 to 1 under headings; `heads` maps each label to its heading, in order, `names` some to shorter ones.

    One symbol per group. Labels without a heading stand by themselves.
    """
    rows = [row for head, labels in _under(heads).items() for row in (*([f"<b>{head}</b>"] if head else []), *labels)]
    series = _groups(points)
    traces = [_series([point for point in points if point.group == name], name, n) for n, name in enumerate(series)]
    axis = {"title": {"text": title}, "range": UNIT, "tickformat": ".1f"}
    labels = _rows(rows, names)
    return figure(traces, 90 + 26 * len(rows), xaxis=axis, yaxis=labels, showlegend=len(series) > 1)


def _under(heads: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for label, head in heads.items():
        found.setdefault(head, []).append(label)
    return found


MARKS = (("circle", ACCENT), ("diamond-open", INK), ("square", MUTED), ("triangle-up-open", ACCENT))


def _series(points: Sequence[Point], name: str, number: int) -> go.Scatter:
    trace = _dots_trace(points)
    symbol, colour = MARKS[number % len(MARKS)]
    trace.update(name=name or "score", marker={"size": 9, "symbol": symbol, "color": colour})
    return trace


def beside(
    points: Sequence[Point], heads: Mapping[str, str], title: str, names: Mapping[str, str] | None = None
) -> go.Figure:
    """Dots under headings, the series side by side in each row so that their intervals can be read."""
    drawn = headed_dots(points, heads, title, names)
    drawn.update_traces(orientation="h")
    for trace in drawn.data:
        trace.update(offsetgroup=trace.name, hovertemplate="%{y}, " + trace.name + ": <b>%{x:.3f}</b><extra></extra>")
    rows = drawn.layout.yaxis
    downwards = {"categoryarray": rows.categoryarray[::-1], "range": rows.range[::-1]}
    height = int(1.4 * drawn.layout.height)
    drawn.update_layout(scattermode="group", scattergap=0.3, height=height, yaxis=downwards)
    return drawn


def forest(
    points: Sequence[Point], heads: Mapping[str, str], title: str, names: Mapping[str, str] | None = None
) -> go.Figure:
    """Paired differences under headings around a line at zero; those of a named group are filled."""
    drawn = headed_dots(points, heads, title, names)
    for trace, symbol in zip(drawn.data, ("circle" if p else "circle-open" for p in _groups(points)), strict=True):
        trace.update(marker={"symbol": symbol, "color": ACCENT}, hovertemplate="%{y}: <b>%{x:+.3f}</b><extra></extra>")
    drawn.update_layout(xaxis={"range": None, "tickformat": "+.2~f"}, showlegend=False)
    drawn.add_vline(x=0, line={"color": MUTED, "width": 1})
    return drawn


def _groups(points: Sequence[Point]) -> list[str]:
    return list(dict.fromkeys(point.group for point in points))
