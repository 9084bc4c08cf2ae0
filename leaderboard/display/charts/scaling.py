"""Scaling curves: scores of models against their numbers of parameters, with a line for each family of models."""

from collections.abc import Mapping, Sequence
from math import log10
from typing import NamedTuple

from leaderboard.display.charts.axes import parameter_axis
from leaderboard.display.charts.figures import (
    INK,
    MUTED,
    SERIES_MARKERS,
    Axis,
    Plot,
    Point,
    Trace,
    error_bars,
    figure,
    new_trace,
    with_chance_line,
)

LOW = 320  # height in pixels, so that the table below it begins on the first screen
# The part of the figure that is not plotted on, in pixels, and the width that labels are laid out for.
MARGIN, WIDTH = 60, 760
LETTER, LINE_HEIGHT = 6.5, 15  # the room that a label needs, in pixels
MOST_INTERVALS = 200  # of one trace; those of more points would cover each other and the points
MARKS = {True: "circle", False: "circle-open"}  # by whether a score was measured here
OTHERS = "other models"
PUBLISHED = "published"


class SizedScore(NamedTuple):
    """A model's score and its number of parameters; `family` is empty if it belongs to none."""

    label: str
    value: float
    low: float | None
    high: float | None
    parameters: int
    family: str
    is_measured: bool
    href: str


class Label(NamedTuple):
    """A name at the end of a line or at a point, and how many pixels it is raised so that no other is covered."""

    name: str
    end: SizedScore
    colour: str
    shift: float


def scaling_curve(scores: Sequence[SizedScore], chance: float | None, title: str) -> Plot:
    """Plot scores against sizes; filled points were measured here, hollow ones are published."""
    families = _families(scores)
    colours = {name: SERIES_MARKERS[place % len(SERIES_MARKERS)][1] for place, name in enumerate(families)}
    others = [score for score in scores if score.family not in families]
    traces = [_line(name, families[name], colours[name]) for name in families]
    points = [Point(score.label, score.value, score.low, score.high, score.parameters) for score in scores]
    xaxis = {**parameter_axis(points), "title": {"text": "parameters"}}
    yaxis = _score_axis(scores, chance, title)
    plot = figure([*([_dots(others)] if others else []), *traces], LOW, xaxis=xaxis, yaxis=yaxis)
    plot = with_chance_line(plot, chance)
    best = max(scores, key=lambda score: score.value)
    plot.update_layout(
        margin={"r": 72},
        annotations=[*plot.layout.get("annotations", []), *_annotations(families, best, colours, plot)],
    )
    return plot


def _families(scores: Sequence[SizedScore]) -> dict[str, list[SizedScore]]:
    """Map the families with models of several sizes to their scores by size, the largest families first."""
    by_family: dict[str, list[SizedScore]] = {}
    for score in sorted(scores, key=lambda score: (score.parameters, score.value)):
        if score.family:
            by_family.setdefault(score.family, []).append(score)
    lines = [name for name, members in by_family.items() if len({member.parameters for member in members}) > 1]
    return {name: by_family[name] for name in sorted(lines, key=lambda name: (-len(by_family[name]), name))}


def _line(family: str, scores: Sequence[SizedScore], colour: str) -> Trace:
    return _trace(scores, family, colour, "lines+markers")


def _dots(scores: Sequence[SizedScore]) -> Trace:
    return _trace(scores, OTHERS, MUTED, "markers")


def _trace(scores: Sequence[SizedScore], name: str, colour: str, mode: str) -> Trace:
    points = [Point(score.label, score.value, score.low, score.high) for score in scores]
    symbols = [MARKS[score.is_measured] for score in scores]
    clear = len(points) <= MOST_INTERVALS and any(point.low is not None for point in points)
    bars = {**error_bars(points), "color": MUTED} if clear else None
    return new_trace(
        "scatter",
        x=[score.parameters for score in scores],
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
        hovertemplate="%{text}<br>%{x:.3s} parameters, <b>%{y:.3f}</b><extra></extra>",
    )


def _score_axis(scores: Sequence[SizedScore], chance: float | None, title: str) -> Axis:
    """Return an axis with 0, chance and all intervals in view."""
    bounds = [bound for score in scores for bound in (score.value, score.low, score.high)]
    values = [0.0, *(value for value in (*bounds, chance) if value is not None)]
    room = 0.04 * (max(values) - min(values))
    return {"title": {"text": title}, "tickformat": ".2~f", "range": [min(values) - room, max(values) + room]}


def _annotations(
    families: Mapping[str, Sequence[SizedScore]], best: SizedScore, colours: Mapping[str, str], plot: Plot
) -> list[dict[str, object]]:
    """Return the names of families at the ends of their lines, and that of the best model at its point.

    They are raised where they would cover each other.
    """
    ends = {name: scores[-1] for name, scores in families.items()}
    if best not in ends.values():
        ends[best.label] = best
    return [
        {
            "x": log10(label.end.parameters),
            "y": label.end.value,
            "text": label.name,
            "font": {"color": label.colour, "size": 12},
            "showarrow": False,
            "xanchor": "left",
            "xshift": 7,
            "yshift": label.shift,
        }
        for label in _labels(ends, colours, plot.layout["xaxis"]["range"], plot.layout["yaxis"]["range"])
    ]


def _labels(
    ends: Mapping[str, SizedScore], colours: Mapping[str, str], sizes: Sequence[float], values: Sequence[float]
) -> list[Label]:
    """Place the labels from the lowest end to the highest, each above those that it would cover."""
    placed: list[tuple[float, float, float]] = []  # left, right and height of each label in pixels
    labels = []
    for name, end in sorted(ends.items(), key=lambda item: item[1].value):
        left = WIDTH * (log10(end.parameters) - sizes[0]) / (sizes[1] - sizes[0])
        right = left + LETTER * len(name) + LETTER
        own = (LOW - MARGIN) * (end.value - values[0]) / (values[1] - values[0])
        height = own
        for other_left, other_right, other in sorted(placed, key=lambda label: label[2]):
            if left < other_right and other_left < right and abs(height - other) < LINE_HEIGHT:
                height = other + LINE_HEIGHT
        placed.append((left, right, height))
        labels.append(Label(name, end, colours.get(name, INK), round(height - own, 1)))
    return labels
