"""The curve of the front page, which its template draws: scores against sizes, small enough to come with the page.

Places across are percentages of the width, so that the curve is as wide as its page; places from above are pixels. What
it shows, and which marks have labels, is that of the scaling chart.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import floor, log10
from typing import Any

import numpy as np

from leaderboard.ui import labels, spelled
from leaderboard.ui.charts.basics import SERIES_MARKERS, Point, parameter_axis, range_in_view
from leaderboard.ui.charts.scaling_chart import (
    GAP,
    MOST_INTERVALS,
    PARAMETERS,
    WIDTHS,
    Axes,
    SizedScore,
    best_of_size,
    labels_with_room,
    lines_of_families,
)

HEIGHT = 230  # of the plotted area, in pixels; its numbers and the words below it need 50 more
MOST_TICKS = 5
# Where a label begins from its mark, in pixels, and which of its ends is there.
SIDES = {
    "right": {"dx": GAP, "dy": 4, "anchor": "start"},
    "above": {"dx": 0, "dy": 2 - GAP - 4, "anchor": "middle"},
    "left": {"dx": -GAP, "dy": 4, "anchor": "end"},
    "below": {"dx": 0, "dy": GAP - 2 + 12, "anchor": "middle"},
}


def curve(scores: Sequence[SizedScore], chance: float | None) -> dict[str, Any]:
    """Return the marks, the lines, the labels and the ticks of the curve, and what it shows in words."""
    points = [Point(score.label, score.value, score.low, score.high, score.size) for score in scores]
    across = parameter_axis(points)
    axes = Axes(PARAMETERS, across["range"], range_in_view(points, 0.0, chance), chance)
    families = lines_of_families(scores)
    colours = {name: number for number, name in enumerate(families, start=1) if number <= len(SERIES_MARKERS)}
    best = best_of_size(scores)
    areas = np.array([(width, HEIGHT) for width in WIDTHS], float)
    of_family = {score: colours.get(name, 0) for name, members in families.items() for score in members}
    return {
        "height": HEIGHT,
        "marks": [_mark(score, axes, of_family.get(score, 0), len(scores) <= MOST_INTERVALS) for score in scores],
        "lines": [
            {**_line(*pair, axes), "colour": colours.get(name, 0)}
            for name, members in families.items()
            for pair in pairwise(members)
        ],
        "steps": _steps(best, axes),
        "labels": [
            {**_place(score, axes), **SIDES[side], "text": text, "colour": colours.get(text, 0)}
            for score, (text, side) in labels_with_room(scores, axes, areas).items()
        ],
        "sizes": [
            {"x": _percent(axes, tick), "text": text}
            for tick, text in zip(across["tickvals"], across["ticktext"], strict=True)
        ],
        "values": [{"y": _down(axes, value), "text": f"{value:g}"} for value in _round_values(axes.y_range)],
        "chance": None if chance is None else _down(axes, chance),
        "summary": _summary(scores, best, chance),
    }


def _mark(score: SizedScore, axes: Axes, colour: int, has_interval: bool) -> dict[str, Any]:
    size = f"{PARAMETERS.text(score.size)}{PARAMETERS.unit}"
    value = spelled.figure_with_uncertainty(score.value, score.low, score.high)
    whose = "measured here" if score.is_measured else "published"
    interval = None
    if has_interval and score.low is not None and score.high is not None:
        interval = {"low": _down(axes, score.low), "high": _down(axes, score.high)}
    return {
        **_place(score, axes),
        "colour": colour,
        "is_measured": score.is_measured,
        "interval": interval,
        "href": score.href,
        "words": f"{score.label}: {value}, {size}, {whose}",
    }


def _line(first: SizedScore, last: SizedScore, axes: Axes) -> dict[str, Any]:
    start, end = _place(first, axes), _place(last, axes)
    return {"x1": start["x"], "y1": start["y"], "x2": end["x"], "y2": end["y"]}


def _steps(best: Sequence[SizedScore], axes: Axes) -> list[dict[str, Any]]:
    """Return the stepped line from each of these models to the next: first to its size, then up to its score."""
    lines = []
    for first, last in pairwise(best):
        line = _line(first, last, axes)
        lines += [line | {"y2": line["y1"]}, line | {"x1": line["x2"]}]
    return lines


def _place(score: SizedScore, axes: Axes) -> dict[str, Any]:
    return {"x": _percent(axes, score.size), "y": _down(axes, score.value)}


def _percent(axes: Axes, size: float) -> str:
    low, high = axes.x_range
    return f"{100 * (log10(size) - low) / (high - low):.2f}%"


def _down(axes: Axes, value: float) -> str:
    return f"{HEIGHT * (1 - axes.up(value)):.1f}"


def _round_values(within: Sequence[float]) -> list[float]:
    """Return the multiples of 1, 2 or 5 times a power of ten in a range, of which there are at most `MOST_TICKS`."""
    low, high = within
    power = floor(log10((high - low) / MOST_TICKS))
    steps = (digit * 10.0**exponent for exponent in (power, power + 1) for digit in (1, 2, 5))
    step = next(step for step in steps if high // step - low // step <= MOST_TICKS)
    return [round(number * step, 9) for number in range(floor(low // step) + 1, floor(high // step) + 1)]


def _summary(scores: Sequence[SizedScore], best: Sequence[SizedScore], chance: float | None) -> str:
    """Describe the curve: how many models of which sources, which of them nothing beats, and what guessing reaches."""
    measured = sum(score.is_measured for score in scores)
    names = ", ".join(f"{score.label} ({PARAMETERS.text(score.size)}, {spelled.figure(score.value)})" for score in best)
    guessing = "" if chance is None else f" Guessing reaches {chance:.3f}."
    return (
        f"{labels.number_of(measured, 'model')} measured here (filled marks) and {len(scores) - measured} published "
        f"(hollow marks). "
        f"Nothing of its size beats {names}.{guessing}"
    )
