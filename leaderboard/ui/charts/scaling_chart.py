"""The scaling chart: a dot for each model, its score against its size, date or training, and a line for each family."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import product
from math import log10
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaderboard.ui import spelled
from leaderboard.ui.charts.basics import (
    INK,
    KIND_SYMBOLS,
    MUTED,
    SERIES_MARKERS,
    SOFT,
    Axis,
    Plot,
    Point,
    Trace,
    date_axis,
    error_bars,
    figure,
    intervals,
    kind_symbol,
    new_trace,
    parameter_axis,
    range_in_view,
    with_chance_line,
)

LOW = 200  # height in pixels, so that the table below it begins on the first screen
MOST_LABELS = 5
MOST_INTERVALS = 200  # of one trace; those of more points would cover each other and the points
MOST_HOVERS = 200  # points of a chart whose hovers have interval and size; more of them would make the page too large
OTHERS = "other models"
PUBLISHED = "published"


class ScalingAxis(NamedTuple):
    """What models are set against: numbers on a logarithmic axis, or days as milliseconds since 1970.

    `most`: what the model farthest to the right is called.
    """

    title: str
    unit: str
    most: str
    is_date: bool = False

    def text(self, value: float) -> str:
        """Write a value without its unit, such as 8 B or 2024-07-31."""
        if self.is_date:
            return datetime.fromtimestamp(value / 1000, UTC).date().isoformat()
        return spelled.parameters(round(value))

    @property
    def hover(self) -> str:
        """How plotly writes a value."""
        return "%{x|%Y-%m-%d}" if self.is_date else f"%{{x:.3~s}}{self.unit}"


PARAMETERS = ScalingAxis("parameters", " parameters", "largest")
ACTIVE = ScalingAxis("parameters for each token", " parameters", "largest")
DATE = ScalingAxis("date of the model", "", "newest", is_date=True)
TOKENS = ScalingAxis("tokens of the training", " tokens", "longest trained")


def on_date_axis(day: date) -> float:
    return 1000 * datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


class SizedScore(NamedTuple):
    """A model's score and its place on a `ScalingAxis`; `family` is empty if it belongs to none.

    `kind`: the type of the model, which is the shape of its point.
    """

    label: str
    value: float
    low: float | None
    high: float | None
    size: float
    family: str
    is_measured: bool
    href: str
    kind: str = ""


def best_of_size(scores: Sequence[SizedScore]) -> list[SizedScore]:
    """Return the models that score higher than all others of the same or a smaller size, the smallest first.

    Of models with equal scores only the smallest one counts.
    """
    best: list[SizedScore] = []
    for score in sorted(scores, key=lambda score: (score.size, -score.value)):
        if not best or score.value > best[-1].value:
            best.append(score)
    return best


def scaling_curve(
    scores: Sequence[SizedScore], chance: float | None, title: str, axis: ScalingAxis = PARAMETERS
) -> Plot:
    """Plot scores against sizes or what else the axis has; filled points were measured here, hollow ones are published.

    A stepped line leads from one model that nothing of its size beats to the next. A few marks have labels: the ends of
    the lines of families, and the models that nothing of their size beats.
    """
    families = lines_of_families(scores)
    # Families beyond the colours are told apart by the names at the ends of their lines.
    colours = dict.fromkeys(families, SOFT) | dict(
        zip(families, (colour for _, colour in SERIES_MARKERS), strict=False)
    )
    others = [score for score in scores if score.family not in families]
    detailed = len(scores) <= MOST_HOVERS
    traces = [_trace(families[name], name, colours[name], "lines+markers", axis, detailed) for name in families]
    dots = [_trace(others, OTHERS, MUTED, "markers", axis, detailed)] if others else []
    points = [Point(score.label, score.value, score.low, score.high, score.size) for score in scores]
    xaxis: Axis = {**(date_axis(points) if axis.is_date else parameter_axis(points)), "title": {"text": axis.title}}
    yaxis: Axis = {"title": {"text": title}, "tickformat": ".2~f", "range": range_in_view(points, 0.0, chance)}
    plot = figure([_steps(best_of_size(scores)), *dots, *traces], LOW, xaxis=xaxis, yaxis=yaxis)
    plot = with_chance_line(plot, chance)
    plot.data.extend(_shapes(scores))
    plot.update_layout(showlegend=len({score.kind for score in scores}) > 1)
    names = {name: colour.replace("series", "name") for name, colour in colours.items()}
    axes = Axes(axis, xaxis["range"], yaxis["range"], chance)
    annotations = [
        *plot.layout.get("annotations", []),
        *(
            _annotation(score, text, side, axes, names.get(text, INK))
            for score, (text, side) in labels_with_room(scores, axes, AREAS).items()
        ),
    ]
    plot.update_layout(margin={"r": MARGIN}, annotations=annotations)
    return plot


def _steps(best: Sequence[SizedScore]) -> Trace:
    """Return the line along the models that nothing of their size beats: the highest score up to each size."""
    return new_trace(
        "scatter",
        x=[score.size for score in best],
        y=[round(score.value, 4) for score in best],
        mode="lines",
        line={"color": MUTED, "width": 1, "shape": "hv"},
        name="best so far",
        hoverinfo="skip",
        showlegend=False,
    )


def _shapes(scores: Sequence[SizedScore]) -> list[Trace]:
    """Return the entries of the legend that say what the shapes are; none where all models have one type."""
    kinds = [kind for kind in KIND_SYMBOLS if any(score.kind == kind for score in scores)]
    marker = {"size": 9, "color": SOFT}
    return [
        new_trace(
            "scatter", x=[None], y=[None], mode="markers", marker={**marker, "symbol": kind_symbol(kind)}, name=kind
        )
        for kind in kinds
        if len(kinds) > 1
    ]


def lines_of_families(scores: Sequence[SizedScore]) -> dict[str, list[SizedScore]]:
    """Map the families with models of several sizes to their scores by size, the largest families first."""
    by_family: dict[str, list[SizedScore]] = {}
    for score in sorted(scores, key=lambda score: (score.size, score.value)):
        if score.family:
            by_family.setdefault(score.family, []).append(score)
    lines = [name for name, members in by_family.items() if len({member.size for member in members}) > 1]
    return {name: by_family[name] for name in sorted(lines, key=lambda name: (-len(by_family[name]), name))}


def _trace(scores: Sequence[SizedScore], name: str, colour: str, mode: str, axis: ScalingAxis, detailed: bool) -> Trace:
    """Return points with their intervals, where these are few; `detailed`: hovers have intervals and sizes as well."""
    points = [Point(score.label, score.value, score.low, score.high) for score in scores]
    symbols = [kind_symbol(score.kind, hollow=not score.is_measured) for score in scores]
    clear = len(points) <= MOST_INTERVALS and any(point.low is not None for point in points)
    bars = {**error_bars(points), "color": MUTED} if clear else None
    hover = "%{hovertext}" if detailed else f", {axis.hover}"
    return new_trace(
        "scatter",
        x=[score.size for score in scores],
        y=[round(score.value, 4) for score in scores],
        text=[score.label if score.is_measured else f"{score.label}, {PUBLISHED}" for score in scores],
        customdata=[score.href for score in scores],
        mode=mode,
        name=name,
        line={"color": colour, "width": 1.5},
        marker={
            "symbol": symbols[0] if len(set(symbols)) == 1 else symbols,
            "color": colour,
            "size": 9,
            "line": {"width": 2},
        },
        error_y=bars,
        cliponaxis=False,
        showlegend=False,
        hovertext=_interval_and_size(points, scores, axis) if detailed else None,
        hovertemplate=f"%{{text}}<br><b>%{{y:.3f}}</b>{hover}<extra></extra>",
    )


def _interval_and_size(points: Sequence[Point], scores: Sequence[SizedScore], axis: ScalingAxis) -> list[str]:
    """Return what a hover has behind each score, such as " (0.661 to 0.711), 8 B parameters"."""
    sizes = (f"{axis.text(score.size)}{axis.unit}" for score in scores)
    return [f"{interval}, {size}" for interval, size in zip(intervals(points), sizes, strict=True)]


# The labels of marks, which have their places before it is known how large the chart is drawn.


LETTER, LINE = 7, 16  # width and height of a letter, in pixels
# Widths of the plotted area in pixels, at all of which a label has room. A step is shorter than a label, so that it has
# room at those between as well. static/charts.js drops the labels of narrower charts.
WIDTHS = range(360, 1161, 40)
AREAS = np.array(list(product(WIDTHS, range(100, 151, 10))), float)  # with the heights that Plotly may choose
MARGIN = 72  # to the right of the plotted area, in pixels; the word for chance stands there
GAP = 8  # from the middle of a mark to its label, in pixels
CLEAR = 3  # how much farther a label is from all other marks than from its own, in pixels
SIDES: Mapping[str, Mapping[str, object]] = {
    "right": {"xanchor": "left", "xshift": GAP},
    "above": {"yanchor": "bottom", "yshift": GAP - 2},
    "left": {"xanchor": "right", "xshift": -GAP},
    "below": {"yanchor": "top", "yshift": 2 - GAP},
}
Boxes = tuple[NDArray[np.float64], ...]  # left, right, bottom and top in each of the areas, from the lower left corner


class Axes(NamedTuple):
    """Both axes of the chart with their ranges, and the chance whose word stands beside them."""

    axis: ScalingAxis
    x_range: Sequence[float]
    y_range: Sequence[float]
    chance: float | None

    def x(self, score: SizedScore) -> float:
        return score.size if self.axis.is_date else log10(score.size)

    def place(self, score: SizedScore) -> tuple[float, float]:
        """Return where a mark is, in shares of the width and of the height."""
        low, high = self.x_range
        return (self.x(score) - low) / (high - low), self.up(score.value)

    def up(self, value: float) -> float:
        low, high = self.y_range
        return (value - low) / (high - low)

    def word_for_chance(self, areas: NDArray[np.float64]) -> list[Boxes]:
        """Return where the word stands, if there is one."""
        if self.chance is None:
            return []
        width, height = areas.T
        middle = height * self.up(self.chance)
        return [(width, width + MARGIN, middle - LINE / 2, middle + LINE / 2)]


def labels_with_room(
    scores: Sequence[SizedScore], axes: Axes, areas: NDArray[np.float64]
) -> dict[SizedScore, tuple[str, str]]:
    """Map marks to their labels and the `SIDES` where these stand: the best model, ends of lines, other best models.

    A label has no place where it would cover another one, or come as near to another mark as to its own, in any of the
    `areas`: pairs of a width and a height in pixels. At the end of a family's line stands the name of the family.
    """
    best = best_of_size(scores)
    ends = {members[-1]: name for name, members in lines_of_families(scores).items()}
    wanted = dict.fromkeys([*best[-1:], *ends, *reversed(best)])
    marks = np.array([axes.place(score) for score in scores]) * areas[:, np.newaxis]
    placed = axes.word_for_chance(areas)
    labels: dict[SizedScore, tuple[str, str]] = {}
    for score in wanted:
        text = ends.get(score, score.label)
        sides = {side: _boxes(text, side, axes.place(score), areas) for side in SIDES}
        side = next((side for side, boxes in sides.items() if _has_room(boxes, marks, placed, areas)), "")
        if side and len(labels) < MOST_LABELS:
            placed.append(sides[side])
            labels[score] = (text, side)
    return labels


def _annotation(score: SizedScore, text: str, side: str, axes: Axes, colour: str) -> Axis:
    at = {"x": axes.x(score), "y": score.value, "text": text, "font": {"color": colour, "size": 12}}
    return {**at, "showarrow": False, **SIDES[side]}


def _boxes(text: str, side: str, at: tuple[float, float], areas: NDArray[np.float64]) -> Boxes:
    """Return where a label stands on a side of its mark."""
    width = LETTER * len(text)
    x, y = (np.array(at) * areas).T
    left = {"right": x + GAP, "left": x - GAP - width}.get(side, x - width / 2)
    bottom = {"above": y + GAP - 2, "below": y + 2 - GAP - LINE}.get(side, y - LINE / 2)
    return left, left + width, bottom, bottom + LINE


def _has_room(boxes: Boxes, marks: NDArray[np.float64], placed: Sequence[Boxes], areas: NDArray[np.float64]) -> bool:
    """Tell whether a label is inside all areas, covers no placed one, and is farther from all marks than from its own.

    `marks`: areas × marks × 2, in pixels.
    """
    left, right, bottom, top = boxes
    width, height = areas.T
    if np.any((left < 0) | (right > width + MARGIN) | (bottom < 0) | (top > height + GAP)):
        return False
    if any(_overlap(boxes, other) for other in placed):
        return False
    x, y = marks[..., 0].T, marks[..., 1].T
    across = np.maximum(np.maximum(left - x, x - right), 0)
    along = np.maximum(np.maximum(bottom - y, y - top), 0)
    return bool(np.all(np.count_nonzero(np.hypot(across, along) < GAP + CLEAR, axis=0) == 1))


def _overlap(one: Boxes, other: Boxes) -> bool:
    """Tell whether two labels cover each other in any of the areas."""
    return bool(np.any((one[0] < other[1]) & (other[0] < one[1]) & (one[2] < other[3]) & (other[2] < one[3])))


def best_and_largest(scores: Sequence[SizedScore], axis: ScalingAxis = PARAMETERS) -> str:
    """Return a sentence with the highest of several scores, and with that of the largest model where it is another."""
    best = max(scores, key=lambda score: score.value)
    largest = max(scores, key=lambda score: (score.size, score.value))
    if best.value == largest.value:
        return f"Best and {axis.most}: {_sized(largest, axis)}."
    return f"Best: {_sized(best, axis)}. {axis.most.capitalize()}: {_sized(largest, axis)}."


def _sized(score: SizedScore, axis: ScalingAxis) -> str:
    figure = spelled.figure_with_uncertainty(score.value, score.low, score.high)
    return f"{score.label} ({axis.text(score.size)}), {figure}"
