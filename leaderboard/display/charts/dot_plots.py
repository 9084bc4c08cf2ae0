"""Dot plots: a dot with its interval for each label, alone, under headings or with several series side by side."""

from collections.abc import Mapping, Sequence

from leaderboard.display.charts.axes import SHARE_RANGE, row_axis, share_axis
from leaderboard.display.charts.figures import (
    ACCENT,
    HEIGHT,
    INK,
    MUTED,
    ROW_HEIGHT,
    SERIES_MARKERS,
    SYMBOLS,
    Plot,
    Point,
    Trace,
    error_bars,
    figure,
    group_names,
    intervals,
    links,
    new_trace,
    with_chance_line,
)


def dots(
    points: Sequence[Point],
    chance: Mapping[str, float] | None = None,
    title: str = "",
    wordings: Mapping[str, tuple[float, float]] | None = None,
) -> Plot:
    """Plot shares in one row per label, with a small tick at the chance level of each label that has one.

    `wordings`: by label, a second, thin interval from the worst wording to the best one.
    """
    traces = [_dot_trace(points)]
    if wordings:
        traces.insert(0, _thin_trace(wordings))
    if ticks := [(chance[point.label], point.label) for point in points if chance and point.label in chance]:
        traces.insert(0, _chance_trace(ticks))
    labels = [point.label for point in points]
    return figure(traces, 70 + ROW_HEIGHT * len(points), xaxis=share_axis(title), yaxis=row_axis(labels))


def grouped(
    series: Mapping[str, Sequence[Point]], chance: float | None = None, names: Mapping[str, str] | None = None
) -> Plot:
    """Plot shares upwards, with the series beside each other at each label and a legend where there are several.

    `names` maps labels to shorter texts for the axis.
    """
    traces = [_series_trace(name, points, place) for place, (name, points) in enumerate(series.items())]
    labels = list(dict.fromkeys(point.label for points in series.values() for point in points))
    plot = figure(
        traces,
        HEIGHT,
        xaxis={
            **{"categoryorder": "array", "categoryarray": labels, "showgrid": False, "tickvals": labels},
            "ticktext": [(names or {}).get(label, label) for label in labels],
        },
        yaxis={"range": SHARE_RANGE, "tickformat": ".1f"},
        scattermode="group",
        showlegend=len(traces) > 1,
    )
    return with_chance_line(plot, chance)


def headed_dots(
    points: Sequence[Point], heads: Mapping[str, str], title: str, names: Mapping[str, str] | None = None
) -> Plot:
    """Plot shares in rows under headings, with one marker per group of points.

    `heads` maps each label to its heading, in the order of the rows; labels whose heading is empty stand alone.
    `names` maps labels to shorter texts for the axis.
    """
    rows = [
        row
        for head, labels in labels_by_heading(heads).items()
        for row in (*([f"<b>{head}</b>"] if head else []), *labels)
    ]
    groups = group_names(points)
    traces = [
        _group_trace([point for point in points if point.group == group], group, place)
        for place, group in enumerate(groups)
    ]
    axes = {"xaxis": share_axis(title), "yaxis": row_axis(rows, names)}
    return figure(traces, 90 + 26 * len(rows), **axes, showlegend=len(groups) > 1)


def forest(
    points: Sequence[Point], heads: Mapping[str, str], title: str, names: Mapping[str, str] | None = None
) -> Plot:
    """Plot paired differences under headings around a line at zero; points with a group have filled dots."""
    plot = headed_dots(points, heads, title, names)
    for trace, group in zip(plot.data, group_names(points), strict=True):
        marker = {"symbol": "circle" if group else "circle-open", "color": ACCENT}
        trace["marker"] |= marker
        trace["hovertemplate"] = "%{y}: <b>%{x:+.3f}</b>%{hovertext}<extra></extra>"
    plot.update_layout(xaxis={"range": None, "tickformat": ".2f"}, showlegend=False)
    plot.add_vline(x=0, line={"color": MUTED, "width": 1})
    return plot


def _dot_trace(points: Sequence[Point]) -> Trace:
    return new_trace(
        "scatter",
        x=[point.value for point in points],
        y=[point.label for point in points],
        mode="markers",
        marker={"size": 9, "color": ACCENT},
        cliponaxis=False,
        error_x={**error_bars(points), "thickness": 3},
        name="score",
        customdata=links(points),
        hovertext=intervals(points),
        hovertemplate="%{y}: <b>%{x:.3f}</b>%{hovertext}<extra></extra>",
    )


def _thin_trace(ends: Mapping[str, tuple[float, float]]) -> Trace:
    """Return one thin line for each label; a missing value ends a line before the next one begins."""
    return new_trace(
        "scatter",
        x=[value for low, high in ends.values() for value in (low, high, None)],
        y=[label for label in ends for _ in range(3)],
        mode="lines",
        line={"width": 1, "color": ACCENT},
        name="wordings",
        hovertemplate="%{y}, worst and best wording: %{x:.3f}<extra></extra>",
    )


def _chance_trace(ticks: Sequence[tuple[float, str]]) -> Trace:
    return new_trace(
        "scatter",
        x=[value for value, _ in ticks],
        y=[label for _, label in ticks],
        mode="markers",
        marker={"symbol": "line-ns", "size": 11, "line": {"width": 1.5, "color": MUTED}},
        cliponaxis=False,
        name="chance",
        hovertemplate="chance: %{x:.3f}<extra></extra>",
    )


def _series_trace(name: str, points: Sequence[Point], place: int) -> Trace:
    return new_trace(
        "scatter",
        x=[point.label for point in points],
        y=[point.value for point in points],
        mode="markers",
        marker={"size": 9, "symbol": SYMBOLS[place % len(SYMBOLS)], "color": INK if place % 3 == 2 else None},
        cliponaxis=False,
        error_y=error_bars(points),
        offsetgroup=str(place),
        name=name,
        customdata=links(points),
        hovertext=intervals(points),
        hovertemplate="%{x}, " + name.replace("%", "") + ": <b>%{y:.3f}</b>%{hovertext}<extra></extra>",
    )


def _group_trace(points: Sequence[Point], group: str, place: int) -> Trace:
    symbol, colour = SERIES_MARKERS[place % len(SERIES_MARKERS)]
    marker = {"size": 9, "symbol": symbol, "color": colour}
    return {**_dot_trace(points), "name": group or "score", "marker": marker}


def labels_by_heading(heads: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the labels of each heading, in their order."""
    by_heading: dict[str, list[str]] = {}
    for label, head in heads.items():
        by_heading.setdefault(head, []).append(label)
    return by_heading
