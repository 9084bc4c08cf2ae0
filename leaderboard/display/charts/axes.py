"""Axes: one row per label, shares, numbers of parameters, and base-10 logarithms shown as the numbers themselves."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, isfinite, log10

from leaderboard.display import cells
from leaderboard.display.charts.figures import Axis, Point

ROOM = 0.05  # of the range of values, below the lowest and above the highest
SHARE_RANGE = [-0.02, 1.02]  # 0 to 1, with room for whole dots at both ends
POWER_HOVER: Axis = {"tickprefix": "10<sup>", "ticksuffix": "</sup>", "hoverformat": ".1f"}  # for values between ticks
MOST_TICKS = 5  # on an axis of powers of ten, where one of the distances is large enough
TICK_DISTANCES = (1, 2, 5, 10, 20, 50, 100, 200)  # powers of ten from one tick to the next


def row_axis(labels: Iterable[str], names: Mapping[str, str] | None = None) -> Axis:
    """Return an axis of equally high rows, the first label at the top; `names` has shorter texts for some labels."""
    rows = list(dict.fromkeys(labels))[::-1]
    return {
        **{"type": "category", "categoryorder": "array", "categoryarray": rows, "range": [-0.7, len(rows) - 0.3]},
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
    ticks = {"tickvals": sizes, "ticktext": [cells.parameters(size).text for size in sizes]}
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
