"""What all plots share: a chart with its words, points with intervals, colours, markers, and axes.

Colours are custom properties of the stylesheet; static/charts.js replaces them by their values when it draws.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor, isfinite, log10
from typing import Any, NamedTuple
from unicodedata import bidirectional

from django.core.serializers.json import DjangoJSONEncoder
from django.utils.html import json_script
from django.utils.safestring import SafeString

from leaderboard.models import Score
from leaderboard.ui import spelled
from probing.chart_template import ERROR_BAR, Palette, chart_template

INK, SOFT, LINE = "var(--ink)", "var(--soft)", "var(--line)"
ACCENT, MUTED, PAPER = "var(--accent)", "var(--muted)", "rgba(0,0,0,0)"
GROUND = "var(--paper)"
HEIGHT, ROW_HEIGHT = 420, 34  # pixels
# Hollow markers are published figures and nothing else, so that series of other things have filled ones.
# The shape of a model's point, by its type.
KIND_SYMBOLS = {"causal": "circle", "masked": "diamond", "encoder-decoder": "square"}
# The shapes of series of anything else, such as cultures, none of which is that of a type of models.
SERIES_SYMBOLS = ("triangle-up", "triangle-down", "cross", "star", "hexagon", "pentagon", "bowtie", "hourglass")
# Symbol and colour of each of several series; either alone tells them apart.
SERIES_MARKERS = tuple((symbol, f"var(--series-{number})") for number, symbol in enumerate(SERIES_SYMBOLS, start=1))
DIGITS = 5  # of the length of an interval, which is drawn but not written
RIGHT_TO_LEFT = ("R", "AL")  # Unicode's bidirectional classes of right-to-left letters
Axis = dict[str, Any]
Trace = dict[str, Any]
LAYOUT_TEMPLATE = chart_template(
    Palette(INK, SOFT, LINE, ACCENT, MUTED, paper=PAPER, raised="var(--raised)", font="var(--sans)")
)


@dataclass(frozen=True)
class Plot:
    """A plot as static/charts.js hands it to Plotly: traces and a layout, made of plain values.

    Plotly's Python objects would check every property of each plot of each page, which takes longer than all else that
    a page with a plot needs. Tests have them check one plot of each kind.
    """

    data: list[Trace]
    layout: dict[str, Any]

    def add_vline(self, x: float, line: dict[str, Any]) -> None:
        self._add_shape({"xref": "x", "x0": x, "x1": x, "yref": "y domain", "y0": 0, "y1": 1}, line=line)

    def add_hline(self, y: float, line: dict[str, Any]) -> None:
        self._add_shape({"xref": "x domain", "x0": 0, "x1": 1, "yref": "y", "y0": y, "y1": y}, line=line)

    def update_layout(self, **changes: Any) -> None:
        """Change the layout; of an axis or another group of properties, only those that are named."""
        for name, value in changes.items():
            self.layout[name] = {**self.layout.get(name, {}), **value} if isinstance(value, dict) else value

    def _add_shape(self, ends: dict[str, Any], **style: Any) -> None:
        self.update_layout(shapes=[*self.layout.get("shapes", []), {"type": "line", **ends, **style}])


@dataclass(frozen=True)
class Chart:
    """A figure with its title and a summary in words; the page shows its numbers in a table as well."""

    name: str
    title: str
    summary: str
    figure: Plot

    @property
    def id(self) -> str:
        return f"chart-{self.name}"

    @property
    def height(self) -> int:
        return int(self.figure.layout["height"])

    @property
    def data(self) -> Any:
        """The figure as static/charts.js reads it."""
        return plain({"data": self.figure.data, "layout": self.figure.layout})

    @cached_property
    def script(self) -> SafeString:
        """The element of a page in which static/charts.js finds the figure."""
        return json_script(self.data, self.id, _Brief)


class _Brief(DjangoJSONEncoder):
    """JSON without spaces, as charts have thousands of numbers."""

    item_separator, key_separator = ",", ":"


class Point(NamedTuple):
    """A value with its interval, under a label; scatter plots place it at `x` as well."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    x: float | None = None
    group: str = ""
    href: str = ""


def plain(value: Any) -> Any:
    """Return a figure's values as JSON has them, without properties and numbers that are not there.

    Every right-to-left text is isolated, so that it does not reorder the text around it.
    """
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items() if member is not None}
    if isinstance(value, list | tuple):
        return [plain(member) for member in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, str) and not value.isascii():
        return _isolated(value)
    return value


def _isolated(text: str) -> str:
    if any(bidirectional(letter) in RIGHT_TO_LEFT for letter in text):
        return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}"
    return text


def figure(traces: Sequence[Trace], height: int, **layout: Any) -> Plot:
    """Make a figure of the site's look, `height` pixels high; `layout` adds to the template or overrides it."""
    return Plot(list(traces), {"template": LAYOUT_TEMPLATE, "height": height, **layout})


def new_trace(kind: str, **properties: Any) -> Trace:
    """Return a trace of one of Plotly's kinds, such as "scatter"."""
    return {"type": kind, **properties}


def marker_symbol(symbol: str, *, hollow: bool) -> str:
    """Return one of Plotly's symbols of this form, hollow or filled."""
    return f"{symbol.removesuffix('-open')}{'-open' if hollow else ''}"


def series_markers(number: int) -> list[tuple[str, str]]:
    """Return symbol and colour of each of so many series; one alone has plain dots, with nothing to tell apart."""
    if number == 1:
        return [("circle", SERIES_MARKERS[0][1])]
    return [SERIES_MARKERS[position % len(SERIES_MARKERS)] for position in range(number)]


def kind_symbol(kind: str, *, hollow: bool = False) -> str:
    """Return the symbol of a model of this type; one of an unknown type is a circle."""
    return marker_symbol(KIND_SYMBOLS.get(kind, "circle"), hollow=hollow)


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
        **ERROR_BAR,
        "array": [0 if point.high is None else round(point.high - point.value, DIGITS) for point in points],
        "arrayminus": [0 if point.low is None else round(point.value - point.low, DIGITS) for point in points],
        "color": SOFT,
    }


def with_chance_line(plot: Plot, chance: float | None) -> Plot:
    """Add a horizontal line at chance level, named in the right margin, where it covers no dots."""
    if chance is not None:
        plot.add_hline(chance, line={"color": MUTED, "width": 1, "dash": "dot"})
        name = {"text": "chance", "font": {"color": SOFT}, "showarrow": False}
        at = {"x": 1, "y": chance, "xref": "paper", "xanchor": "left"}
        plot.update_layout(margin={"r": 56}, annotations=[*plot.layout.get("annotations", []), {**at, **name}])
    return plot


# Axes: one row per label, shares, numbers of parameters, and base-10 logarithms shown as the numbers themselves.


ROOM = 0.05  # of the range of values, below the lowest and above the highest
SHARE_RANGE = [-0.02, 1.02]  # 0 to 1, with room for whole dots at both ends
POWER_HOVER: Axis = {"tickprefix": "10<sup>", "ticksuffix": "</sup>", "hoverformat": ".1f"}  # for values between ticks
MOST_TICKS = 5  # on an axis of powers of ten, where one of the distances is large enough
TICK_DISTANCES = (1, 2, 5, 10, 20, 50, 100, 200)  # powers of ten from one tick to the next


def row_axis(labels: Iterable[str], names: Mapping[str, str] | None = None) -> Axis:
    """Return an axis of equally high rows, the first label at the top; `names` has shorter texts for some labels."""
    rows = list(dict.fromkeys(labels))
    return {
        **{"type": "category", "categoryorder": "array", "categoryarray": rows, "range": [len(rows) - 0.3, -0.7]},
        **{"showgrid": False, "tickfont": {"size": 12}, "tickmode": "array", "tickvals": rows},
        **{"ticktext": [(names or {}).get(row, row) for row in rows], "ticklabelstandoff": 6},
    }


def share_axis(title: str) -> Axis:
    """Return an axis that always runs from 0 to 1, so that charts of different pages can be compared."""
    return {"title": {"text": title}, "range": SHARE_RANGE, "tickformat": ".1f"}


def parameter_axis(points: Sequence[Point]) -> Axis:
    """Return a logarithmic axis of numbers of parameters, which the points have as `x`."""
    low, high = _range_around([log10(point.x) for point in points if point.x])
    sizes = [round(10**tick) for tick in _ticks(low, high)]
    ticks = {"tickvals": sizes, "ticktext": [spelled.parameters(size) for size in sizes]}
    return {"title": {"text": "parameters"}, "type": "log", "range": (low, high), **ticks}


def power_axis(logarithms: Iterable[float], title: str) -> Axis:
    """Return an axis of base-10 logarithms whose ticks show the numbers that they are logarithms of."""
    low, high = _range_around(logarithms)
    ticks = _ticks(low, high)
    labels = _tick_labels(ticks)
    return {"title": {"text": title}, "range": (low, high), "tickvals": ticks, "ticktext": labels, **POWER_HOVER}


def _range_around(logarithms: Iterable[float]) -> tuple[float, float]:
    """Return the ends of an axis with room beside the outermost finite values and for at least two ticks."""
    values = [value for value in logarithms if isfinite(value)] or [0.0]
    low, high = min(values), max(values)
    half = max(0.54 * (high - low), 0.4)
    return (low + high) / 2 - half, (low + high) / 2 + half


def _ticks(low: float, high: float) -> list[float]:
    """Return base-10 logarithms of ticks: 1, 2 and 5 of each power of ten, on long axes powers of ten only."""
    powers = range(floor(low), ceil(high) + 1)
    if high - low > 2.5:
        enough = (distance for distance in TICK_DISTANCES if high - low <= MOST_TICKS * distance)
        distance = next(enough, TICK_DISTANCES[-1])
        return [float(power) for power in powers if power % distance == 0 and low <= power <= high]
    logarithms = [power + log10(digit) for power in powers for digit in (1, 2, 5)]
    return [tick for tick in logarithms if low <= tick <= high]


def _tick_labels(ticks: Sequence[float]) -> list[str]:
    """Return the numbers in full, such as 0.02, or as multiples of powers of ten where any is beyond a thousand."""
    if max(map(abs, ticks)) > 3:
        return [_scientific(tick) for tick in ticks]
    return [f"{10**tick:,g}" for tick in ticks]


def _scientific(tick: float) -> str:
    power = f"10<sup>{floor(tick)}</sup>".replace("-", "\N{MINUS SIGN}")
    return power if tick.is_integer() else f"{round(10 ** (tick % 1))}·{power}"


def range_in_view(points: Sequence[Point], *levels: float | None) -> list[float]:
    """Return the ends of an axis on which all values, their intervals and these levels are in view, with some room."""
    bounds = [bound for point in points for bound in (point.value, point.low, point.high)]
    values = [value for value in (*bounds, *levels) if value is not None] or [0.0, 1.0]
    room = ROOM * (max(values) - min(values)) or ROOM
    return [min(values) - room, max(values) + room]


def score_points(
    scores: Iterable[tuple[str, Score | None]], href: Callable[[str], str] = lambda label: ""
) -> list[Point]:
    """Return the points of a chart, given pairs of label and score; scores without a value have none.

    `href` gives the address to which the point of a label leads, the same as in the table.
    """
    return [
        Point(label, score.value, score.low, score.high, href=href(label))
        for label, score in scores
        if score and score.value is not None
    ]


def summary(title: str, points: Sequence[Point]) -> str:
    """Return a sentence with the lowest and the highest of the points and their number."""
    if not points:
        return f"{title}: nothing was measured."
    if len(points) == 1:
        return f"{title}: {points[0].value:.3f} ({points[0].label})."
    low, high = min(points, key=lambda p: p.value), max(points, key=lambda p: p.value)
    if f"{low.value:.3f}" == f"{high.value:.3f}":
        return f"{title}: {low.value:.3f} in all {len(points)} groups."
    return f"{title}: from {low.value:.3f} ({low.label}) to {high.value:.3f} ({high.label}) over {len(points)} groups."
