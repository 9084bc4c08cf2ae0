"""Lines: shares over whole steps, such as those of a training, one line per series."""

from collections.abc import Sequence

from leaderboard.display.charts.figures import (
    HEIGHT,
    SERIES_MARKERS,
    Plot,
    Point,
    Trace,
    figure,
    group_names,
    links,
    marker_symbol,
    new_trace,
)


def lines(points: Sequence[Point], x_title: str, y_title: str) -> Plot:
    """Plot the groups of points as lines over `x`, which counts steps; 0 and 1 are in view."""
    groups = group_names(points)
    traces = [_line([point for point in points if point.group == group], place) for place, group in enumerate(groups)]
    return figure(
        traces,
        HEIGHT,
        xaxis={"title": {"text": x_title}, "dtick": 1},
        yaxis={"title": {"text": y_title}, "range": [-0.03, 1.05], "tickformat": ".1f"},
        showlegend=len(groups) > 1,
    )


def _line(points: Sequence[Point], place: int) -> Trace:
    """Return one line with hollow markers, as all its figures are published."""
    symbol, colour = SERIES_MARKERS[place % len(SERIES_MARKERS)]
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
