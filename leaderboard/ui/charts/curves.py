"""Curves: scores over the steps of a training, with one line per series."""

from collections.abc import Sequence
from typing import NamedTuple

from leaderboard.ui.charts.basics import (
    Axis,
    Plot,
    Point,
    Trace,
    error_bars,
    figure,
    intervals,
    links,
    marker_symbol,
    new_trace,
    range_in_view,
    series_markers,
    with_chance_line,
)

HEIGHT = 380  # pixels


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


def trajectories(lines: Sequence[Trajectory], scale: Scale, y_title: str, chance: float | None = None) -> Plot:
    """Plot the lines over steps or tokens, with 95 % intervals where the points have any, and a line at chance."""
    lines = [line._replace(points=[point for point in line.points if scale.holds(point)]) for line in lines]
    points = [point for line in lines for point in line.points]
    plot = figure(
        [_trajectory_line(line, marker, scale) for line, marker in zip(lines, series_markers(len(lines)), strict=True)],
        HEIGHT,
        xaxis=scale.axis,
        yaxis={"title": {"text": y_title}, "range": range_in_view(points, chance), "tickformat": ".3~f"},
        showlegend=len(lines) > 1,
    )
    return with_chance_line(plot, chance)


def _trajectory_line(line: Trajectory, marker: tuple[str, str], scale: Scale) -> Trace:
    symbol, colour = marker
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
