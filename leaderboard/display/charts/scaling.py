"""Scaling curves: scores of models against their numbers of parameters, with a line for each family of models."""

from collections.abc import Mapping, Sequence
from math import log10
from typing import NamedTuple

from leaderboard.display import cells
from leaderboard.display.charts.axes import parameter_axis, range_in_view
from leaderboard.display.charts.figures import (
    INK,
    MUTED,
    SERIES_MARKERS,
    Plot,
    Point,
    Trace,
    error_bars,
    figure,
    intervals,
    new_trace,
    with_chance_line,
)

LOW = 300  # height in pixels, so that the table below it begins on the first screen
MOST_NAMED = 3  # models of no family; of more, the best is named
MOST_INTERVALS = 200  # of one trace; those of more points would cover each other and the points
MOST_HOVERS = 200  # points of a chart whose hovers have interval and size; more of them would make the page too large
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


def scaling_curve(scores: Sequence[SizedScore], chance: float | None, title: str) -> Plot:
    """Plot scores against sizes; filled points were measured here, hollow ones are published."""
    families = _families(scores)
    colours = {name: SERIES_MARKERS[place % len(SERIES_MARKERS)][1] for place, name in enumerate(families)}
    others = [score for score in scores if score.family not in families]
    detailed = len(scores) <= MOST_HOVERS
    traces = [_trace(families[name], name, colours[name], "lines+markers", detailed) for name in families]
    dots = [_trace(others, OTHERS, MUTED, "markers", detailed)] if others else []
    points = [Point(score.label, score.value, score.low, score.high, score.parameters) for score in scores]
    xaxis = {**parameter_axis(points), "title": {"text": "parameters"}}
    yaxis = {"title": {"text": title}, "tickformat": ".2~f", "range": range_in_view(points, 0.0, chance)}
    plot = figure([*dots, *traces], LOW, xaxis=xaxis, yaxis=yaxis)
    plot = with_chance_line(plot, chance)
    ends = [members[-1] for members in families.values()]
    best = max(scores, key=lambda score: score.value)
    few = others if len(others) <= MOST_NAMED else []
    named = few if best in (*ends, *few) else [*few, best]
    names = {name: colour.replace("series", "name") for name, colour in colours.items()}
    annotations = [*plot.layout.get("annotations", []), *_annotations(families, named, names)]
    plot.update_layout(margin={"r": 72}, annotations=annotations)
    return plot


def _families(scores: Sequence[SizedScore]) -> dict[str, list[SizedScore]]:
    """Map the families with models of several sizes to their scores by size, the largest families first."""
    by_family: dict[str, list[SizedScore]] = {}
    for score in sorted(scores, key=lambda score: (score.parameters, score.value)):
        if score.family:
            by_family.setdefault(score.family, []).append(score)
    lines = [name for name, members in by_family.items() if len({member.parameters for member in members}) > 1]
    return {name: by_family[name] for name in sorted(lines, key=lambda name: (-len(by_family[name]), name))}


def _trace(scores: Sequence[SizedScore], name: str, colour: str, mode: str, detailed: bool) -> Trace:
    """Return points with their intervals, where these are few; `detailed`: hovers have intervals and sizes as well."""
    points = [Point(score.label, score.value, score.low, score.high) for score in scores]
    symbols = [MARKS[score.is_measured] for score in scores]
    clear = len(points) <= MOST_INTERVALS and any(point.low is not None for point in points)
    bars = {**error_bars(points), "color": MUTED} if clear else None
    hover = "%{hovertext}" if detailed else ", %{x:.3~s} parameters"
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
        hovertext=_interval_and_size(points, scores) if detailed else None,
        hovertemplate=f"%{{text}}<br><b>%{{y:.3f}}</b>{hover}<extra></extra>",
    )


def _interval_and_size(points: Sequence[Point], scores: Sequence[SizedScore]) -> list[str]:
    """Return what a hover has behind each score, such as " (0.661 to 0.711), 8 B parameters"."""
    sizes = (cells.parameters(score.parameters).text for score in scores)
    return [f"{interval}, {size} parameters" for interval, size in zip(intervals(points), sizes, strict=True)]


def _annotations(
    families: Mapping[str, Sequence[SizedScore]], others: Sequence[SizedScore], colours: Mapping[str, str]
) -> list[dict[str, object]]:
    """Return the names of families at the ends of their lines, and those of other models at their points.

    static/charts.js moves them to where they cover least.
    """
    ends = [(name, scores[-1]) for name, scores in families.items()]
    return [
        {
            "x": log10(end.parameters),
            "y": end.value,
            "text": name,
            "font": {"color": colours.get(name, INK), "size": 12},
            "showarrow": False,
            "xanchor": "left",
            "xshift": 8,
        }
        for name, end in [*((other.label, other) for other in others), *ends]
    ]
