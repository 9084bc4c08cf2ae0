"""The curve of scores against sizes, which templates/parts/curve.html draws: small enough to come with its page.

Places across are percentages of the width, so that the curve is as wide as its page; places from above are pixels.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import floor, log10
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaderboard.ui import labels, spelled
from leaderboard.ui.charts.basics import SERIES_MARKERS, Point, parameter_axis, range_in_view

HEIGHT = 230  # of the plotted area, in pixels; its numbers and the words below it need 50 more
MOST_TICKS = 5
MOST_LABELS = 5
MOST_INTERVALS = 200  # those of more points would cover each other and the points
LETTER, LINE = 7, 16  # width and height of a letter of a label, in pixels
# Widths of the plotted area in pixels, at all of which a label has room. A step is shorter than a label, so that it has
# room at those between as well. The stylesheet leaves the labels of narrower curves out.
WIDTHS = range(360, 1161, 40)
MARGIN = 72  # to the right of the plotted area, in pixels; the word for chance stands there
GAP = 8  # from the middle of a mark to its label, in pixels
CLEAR = 3  # how much farther a label is from all other marks than from its own, in pixels
# Where a label begins from its mark, in pixels, and which of its ends is there.
SIDES = {
    "right": {"dx": GAP, "dy": 4, "anchor": "start"},
    "above": {"dx": 0, "dy": 2 - GAP - 4, "anchor": "middle"},
    "left": {"dx": -GAP, "dy": 4, "anchor": "end"},
    "below": {"dx": 0, "dy": GAP - 2 + 12, "anchor": "middle"},
}
Boxes = tuple[NDArray[np.float64], ...]  # left, right, bottom and top in each of the areas, from the lower left corner


class SizedScore(NamedTuple):
    """A model's score and its number of parameters; `family` is empty if it belongs to none."""

    label: str
    value: float
    low: float | None
    high: float | None
    size: int
    family: str
    is_measured: bool
    href: str


class Axes(NamedTuple):
    """The ranges of both axes, of which the sizes are base-10 logarithms, and the chance whose word stands beside."""

    sizes: Sequence[float]
    values: Sequence[float]
    chance: float | None

    def place(self, score: SizedScore) -> tuple[float, float]:
        """Return where a mark is, in shares of the width and of the height."""
        low, high = self.sizes
        return (log10(score.size) - low) / (high - low), self.up(score.value)

    def up(self, value: float) -> float:
        low, high = self.values
        return (value - low) / (high - low)

    def word_for_chance(self, areas: NDArray[np.float64]) -> list[Boxes]:
        """Return where the word stands, if there is one."""
        if self.chance is None:
            return []
        width, height = areas.T
        middle = height * self.up(self.chance)
        return [(width, width + MARGIN, middle - LINE / 2, middle + LINE / 2)]


def curve(scores: Sequence[SizedScore], chance: float | None) -> dict[str, Any]:
    """Return the marks, the lines, the labels and the ticks of the curve, and what it shows in words."""
    points = [Point(score.label, score.value, score.low, score.high, score.size) for score in scores]
    across = parameter_axis(points)
    axes = Axes(across["range"], range_in_view(points, 0.0, chance), chance)
    families = lines_of_families(scores)
    colours = {name: number for number, name in enumerate(families, start=1) if number <= len(SERIES_MARKERS)}
    best = best_of_size(scores)
    areas = np.array([(width, HEIGHT) for width in WIDTHS], float)
    of_family = {score: colours.get(name, 0) for name, members in families.items() for score in members}
    return {
        "height": HEIGHT,
        "marks": [_mark(score, axes, of_family.get(score, 0), _interval(score, len(scores))) for score in scores],
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
        "values": [{"y": _down(axes, value), "text": f"{value:g}"} for value in _round_values(axes.values)],
        "chance": None if chance is None else _down(axes, chance),
        "sources": {"measured" if score.is_measured else "published" for score in scores},
        "summary": _summary(scores, best, chance),
    }


def _interval(score: SizedScore, number: int) -> tuple[float, float] | None:
    """Return the ends of the interval that a mark has among this many marks; None where none is drawn."""
    if number > MOST_INTERVALS or score.low is None or score.high is None:
        return None
    return score.low, score.high


def _mark(score: SizedScore, axes: Axes, colour: int, interval: tuple[float, float] | None) -> dict[str, Any]:
    size = f"{spelled.parameters(score.size)} parameters"
    value = spelled.figure_with_uncertainty(score.value, score.low, score.high)
    whose = "measured here" if score.is_measured else "published"
    return {
        **_place(score, axes),
        "colour": colour,
        "is_measured": score.is_measured,
        "interval": interval and dict(zip(("low", "high"), (_down(axes, end) for end in interval), strict=True)),
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
    low, high = axes.sizes
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
    named = [f"{score.label} ({spelled.parameters(score.size)}, {spelled.figure(score.value)})" for score in best]
    guessing = "" if chance is None else f" Guessing reaches {chance:.3f}."
    return (
        f"{labels.number_of(measured, 'model')} measured here (filled marks) and {len(scores) - measured} published "
        f"(hollow marks). "
        f"Nothing of its size beats {', '.join(named)}.{guessing}"
    )


def best_of_size(scores: Sequence[SizedScore]) -> list[SizedScore]:
    """Return the models that score higher than all others of the same or a smaller size, the smallest first.

    Of models with equal scores only the smallest one counts.
    """
    best: list[SizedScore] = []
    for score in sorted(scores, key=lambda score: (score.size, -score.value)):
        if not best or score.value > best[-1].value:
            best.append(score)
    return best


def lines_of_families(scores: Sequence[SizedScore]) -> dict[str, list[SizedScore]]:
    """Map the families with models of several sizes to their scores by size, the largest families first."""
    by_family: dict[str, list[SizedScore]] = {}
    for score in sorted(scores, key=lambda score: (score.size, score.value)):
        if score.family:
            by_family.setdefault(score.family, []).append(score)
    lines = [name for name, members in by_family.items() if len({member.size for member in members}) > 1]
    return {name: by_family[name] for name in sorted(lines, key=lambda name: (-len(by_family[name]), name))}


# The labels of marks, which have their places before it is known how wide the curve is drawn.


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
    intervals = _intervals(scores, axes)
    placed = axes.word_for_chance(areas)
    labels: dict[SizedScore, tuple[str, str]] = {}
    for score in wanted:
        text = ends.get(score, score.label)
        sides = {side: _boxes(text, side, axes.place(score), areas) for side in SIDES}
        side = next((side for side, boxes in sides.items() if _has_room(boxes, marks, intervals, placed, areas)), "")
        if side:
            placed.append(sides[side])
            labels[score] = (text, side)
        if len(labels) == MOST_LABELS:
            break
    return labels


def _boxes(text: str, side: str, at: tuple[float, float], areas: NDArray[np.float64]) -> Boxes:
    """Return where a label stands on a side of its mark."""
    width = LETTER * len(text)
    x, y = (np.array(at) * areas).T
    left = {"right": x + GAP, "left": x - GAP - width}.get(side, x - width / 2)
    bottom = {"above": y + GAP - 2, "below": y + 2 - GAP - LINE}.get(side, y - LINE / 2)
    return left, left + width, bottom, bottom + LINE


def _intervals(scores: Sequence[SizedScore], axes: Axes) -> NDArray[np.float64]:
    """Return from where to where the lines of intervals run, in pixels: marks × 2; without a line, twice the mark."""
    ends = [_interval(score, len(scores)) or (score.value, score.value) for score in scores]
    return HEIGHT * np.array([[axes.up(end) for end in pair] for pair in ends])


def _has_room(
    boxes: Boxes,
    marks: NDArray[np.float64],
    intervals: NDArray[np.float64],
    placed: Sequence[Boxes],
    areas: NDArray[np.float64],
) -> bool:
    """Tell whether a label is inside all areas, covers no placed one and no interval, and is nearest to its own mark.

    `marks`: areas × marks × 2, in pixels. `intervals`: marks × 2, in pixels.
    """
    left, right, bottom, top = boxes
    width, height = areas.T
    if np.any((left < 0) | (right > width + MARGIN) | (bottom < 0) | (top > height + GAP)):
        return False
    if any(_overlap(boxes, other) for other in placed):
        return False
    x, y = marks[..., 0].T, marks[..., 1].T
    lowest, highest = intervals.T[..., np.newaxis]
    if np.any((left < x) & (x < right) & (bottom < highest) & (lowest < top)):
        return False
    across = np.maximum(np.maximum(left - x, x - right), 0)
    along = np.maximum(np.maximum(bottom - y, y - top), 0)
    return bool(np.all(np.count_nonzero(np.hypot(across, along) < GAP + CLEAR, axis=0) == 1))


def _overlap(one: Boxes, other: Boxes) -> bool:
    """Tell whether two labels cover each other in any of the areas."""
    return bool(np.any((one[0] < other[1]) & (other[0] < one[1]) & (one[2] < other[3]) & (other[2] < one[3])))
