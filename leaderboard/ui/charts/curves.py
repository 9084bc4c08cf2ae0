"""Curves: scores against numbers of parameters, over the steps of a training, and over whole steps."""

from collections.abc import Mapping, Sequence
from math import log10
from typing import NamedTuple

from leaderboard.ui import cells
from leaderboard.ui.charts.basics import (
    HEIGHT,
    INK,
    MUTED,
    SERIES_MARKERS,
    Axis,
    Plot,
    Point,
    Trace,
    error_bars,
    figure,
    group_names,
    intervals,
    links,
    marker_symbol,
    new_trace,
    parameter_axis,
    range_in_view,
    with_chance_line,
)

# Scaling curves: scores of models against their numbers of parameters, with a line for each family of models.


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
    colours = {name: SERIES_MARKERS[position % len(SERIES_MARKERS)][1] for position, name in enumerate(families)}
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


# Trajectories: scores over the steps of a training, with one line per series.


TALL, SMALL = 380, 240  # heights in pixels


class Trajectory(NamedTuple):
    """A line of the plot, whose points have steps or tokens as `x`; filled markers were measured here.

    An empty name is not shown.
    """

    name: str
    points: Sequence[Point]
    is_measured: bool


class Scale(NamedTuple):
    """An axis: its title, how a hover writes a position on it, and whether it is logarithmic, from above 0."""

    title: str
    hover: str
    is_logarithmic: bool = False

    def holds(self, point: Point) -> bool:
        return point.x is not None and (point.x > 0 or not self.is_logarithmic)

    @property
    def axis(self) -> Axis:
        """The axis; ticks are written in short, such as 20k or 2G."""
        if self.is_logarithmic:
            return {"title": {"text": self.title}, "type": "log", "dtick": 1, "tickformat": ".3~s"}
        return {"title": {"text": self.title}, "tickformat": ".3~s", "rangemode": "tozero"}


def trajectories(
    lines: Sequence[Trajectory], scale: Scale, y_title: str, chance: float | None = None, height: int = TALL
) -> Plot:
    """Plot the lines over steps or tokens, with 95 % intervals where the points have any, and a line at chance."""
    lines = [line._replace(points=[point for point in line.points if scale.holds(point)]) for line in lines]
    points = [point for line in lines for point in line.points]
    plot = figure(
        [_trajectory_line(line, position, scale) for position, line in enumerate(lines)],
        height,
        xaxis=scale.axis,
        yaxis={"title": {"text": y_title}, "range": range_in_view(points, chance), "tickformat": ".3~f"},
        showlegend=len(lines) > 1,
    )
    return with_chance_line(plot, chance)


def _trajectory_line(line: Trajectory, position: int, scale: Scale) -> Trace:
    symbol, colour = SERIES_MARKERS[position % len(SERIES_MARKERS)]
    symbol = marker_symbol(symbol, hollow=not line.is_measured)
    has_intervals = any(point.low is not None for point in line.points)
    hover_lines = ", ".join(filter(None, [line.name.replace("%", ""), scale.hover]))
    return new_trace(
        "scatter",
        x=[point.x for point in line.points],
        y=[point.value for point in line.points],
        mode="lines+markers",
        line={"color": colour, "width": 2},
        marker={"size": 8, "symbol": symbol, "color": colour},
        error_y={**error_bars(line.points), "color": colour, "thickness": 1} if has_intervals else None,
        cliponaxis=False,
        name=line.name,
        customdata=links(line.points),
        hovertext=intervals(line.points) if has_intervals else None,
        hovertemplate=f"{hover_lines}<br><b>%{{y:.3f}}</b>{'%{hovertext}' if has_intervals else ''}<extra></extra>",
    )


# Lines: shares over whole steps, such as those of a training, one line per series.


def lines(points: Sequence[Point], x_title: str, y_title: str) -> Plot:
    """Plot the groups of points as lines over `x`, which counts steps; 0 and 1 are in view."""
    groups = group_names(points)
    traces = [
        _line([point for point in points if point.group == group], position) for position, group in enumerate(groups)
    ]
    return figure(
        traces,
        HEIGHT,
        xaxis={"title": {"text": x_title}, "dtick": 1},
        yaxis={"title": {"text": y_title}, "range": [-0.03, 1.05], "tickformat": ".1f"},
        showlegend=len(groups) > 1,
    )


def _line(points: Sequence[Point], position: int) -> Trace:
    """Return one line with hollow markers, as all its figures are published."""
    symbol, colour = SERIES_MARKERS[position % len(SERIES_MARKERS)]
    return new_trace(
        "scatter",
        x=[point.x for point in points],
        y=[point.value for point in points],
        text=[point.label for point in points],
        mode="lines+markers",
        line={"color": colour, "width": 2},
        marker={"size": 9, "symbol": marker_symbol(symbol, hollow=True), "color": colour},
        cliponaxis=False,
        name=points[0].group,
        customdata=links(points),
        hovertemplate="%{text}<br><b>%{y:.3f}</b><extra></extra>",
    )
