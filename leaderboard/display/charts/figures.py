"""What all plots share: a chart with its words, points with intervals, colours, markers and the layout template.

Colours are custom properties of the stylesheet; static/charts.js replaces them by their values when it draws.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from unicodedata import bidirectional

import plotly.graph_objects as go

INK, SOFT, LINE = "var(--ink)", "var(--soft)", "var(--line)"
ACCENT, MUTED, PAPER = "var(--accent)", "var(--muted)", "rgba(0,0,0,0)"
WRONG, GROUND = "var(--wrong)", "var(--paper)"
HEIGHT, ROW_HEIGHT = 420, 34  # pixels
SYMBOLS = ("circle", "diamond", "square", "circle-open", "diamond-open", "square-open")
SERIES_SYMBOLS = (
    *("circle", "diamond-open", "square", "triangle-up-open"),
    *("circle-open", "diamond", "square-open", "triangle-up"),
)
# Symbol and colour of each of several series; either alone tells them apart.
SERIES_MARKERS = tuple((symbol, f"var(--series-{place})") for place, symbol in enumerate(SERIES_SYMBOLS, start=1))
RIGHT_TO_LEFT = ("R", "AL")  # Unicode's bidirectional classes of right-to-left letters

Axis = dict[str, Any]
BASE_AXIS: Axis = {
    "gridcolor": LINE,
    "zeroline": False,
    "linecolor": LINE,
    "ticks": "",
    "automargin": True,
    "fixedrange": True,
    "title": {"font": {"size": 12, "color": SOFT}, "standoff": 10},
}
LAYOUT_TEMPLATE = go.layout.Template(
    layout={
        "font": {"family": "var(--sans)", "size": 13, "color": INK},
        "paper_bgcolor": PAPER,
        "plot_bgcolor": PAPER,
        "margin": {"l": 8, "r": 16, "t": 8, "b": 8},
        "xaxis": BASE_AXIS,
        "yaxis": BASE_AXIS,
        "hovermode": "closest",
        "hoverlabel": {"bgcolor": "var(--raised)", "bordercolor": LINE, "font": {"color": INK}},
        "showlegend": False,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor": "left"},
        "colorway": [ACCENT, MUTED],
    }
)


@dataclass(frozen=True)
class Chart:
    """A figure with its title and a summary in words; the page shows its numbers in a table as well."""

    name: str
    title: str
    summary: str
    figure: go.Figure

    @property
    def id(self) -> str:
        return f"chart-{self.name}"

    @property
    def height(self) -> int:
        """The figure's height in pixels."""
        return int(self.figure.layout.height)

    @property
    def data(self) -> Any:
        """The figure as static/charts.js reads it."""
        return isolated(json.loads(self.figure.to_json()))


class Point(NamedTuple):
    """A value with its interval, under a label; scatter plots place it at `x` as well."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    x: float | None = None
    group: str = ""
    href: str = ""


def isolated(value: Any) -> Any:
    """Return a figure's JSON with every right-to-left text isolated, so that it does not reorder the text around it."""
    if isinstance(value, dict):
        return {key: isolated(member) for key, member in value.items()}
    if isinstance(value, list):
        return [isolated(member) for member in value]
    if isinstance(value, str) and any(bidirectional(letter) in RIGHT_TO_LEFT for letter in value):
        return f"\N{FIRST STRONG ISOLATE}{value}\N{POP DIRECTIONAL ISOLATE}"
    return value


def figure(traces: Sequence[Any], height: int, **layout: Any) -> go.Figure:
    """Make a figure of the site's look, `height` pixels high; `layout` adds to the template or overrides it."""
    return go.Figure(data=traces, layout={"template": LAYOUT_TEMPLATE, "height": height, **layout})


def group_names(points: Sequence[Point]) -> list[str]:
    """Return the groups of the points in the order in which they first appear."""
    return list(dict.fromkeys(point.group for point in points))


def links(points: Sequence[Point]) -> list[str]:
    """Return where each point leads, as static/charts.js reads it."""
    return [point.href for point in points]


def intervals(points: Sequence[Point]) -> list[str]:
    """Return the interval of each point as it stands in its hover, empty without one."""
    return [
        "" if point.low is None or point.high is None else f" ({point.low:.3f} to {point.high:.3f})" for point in points
    ]


def error_bars(points: Sequence[Point]) -> dict[str, Any]:
    """Turn the absolute bounds of intervals into Plotly's error bars; a missing bound has a bar of length 0."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if point.high is None else point.high - point.value for point in points],
        "arrayminus": [0 if point.low is None else point.value - point.low for point in points],
        "thickness": 1.5,
        "width": 0,
        "color": SOFT,
    }


def with_chance_line(plot: go.Figure, chance: float | None) -> go.Figure:
    """Add a horizontal line at chance level, named in the right margin, where it covers no dots."""
    if chance is not None:
        plot.add_hline(chance, line={"color": MUTED, "width": 1, "dash": "dot"})
        name = {"text": "chance", "font": {"color": SOFT}, "showarrow": False}
        plot.add_annotation(x=1, y=chance, xref="paper", xanchor="left", **name)
        plot.update_layout(margin={"r": 56})
    return plot
