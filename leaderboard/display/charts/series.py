"""Several series in the same rows, one below the other, so that the interval of each can be read."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from leaderboard.display.charts.axes import share_axis
from leaderboard.display.charts.dot_plots import labels_by_heading
from leaderboard.display.charts.figures import (
    LINE,
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
)

# Pixels.
HEADING, LEAST_ROW, SERIES, BETWEEN = 28, 34, 13, 14
LEGEND_LINE, AXIS = 20, 70


@dataclass(frozen=True)
class _Line:
    """A heading or a row of the plot, with its centre and its lower end in pixels from the top."""

    label: str
    heading: bool
    centre: float
    end: float


def beside(
    points: Sequence[Point],
    heads: Mapping[str, str],
    title: str,
    names: Mapping[str, str] | None = None,
    published: Collection[str] | None = None,
) -> Plot:
    """Plot shares in rows under headings, the groups of points one below the other within each row.

    `heads` maps each label to its heading, in the order of the rows; labels whose heading is empty stand alone.
    `names` maps labels to shorter texts for the axis. A row is as high as its groups need. `published`: the labels of
    rows with hollow markers, where all others have filled ones; None where every group has a marker of its own.
    """
    groups = group_names(points)
    lines = list(_lines(heads, max(LEAST_ROW, SERIES * len(groups) + BETWEEN)))
    centres = {line.label: line.centre for line in lines if not line.heading}
    traces = [
        _trace([point for point in points if point.group == group], place, place - (len(groups) - 1) / 2, centres)
        for place, group in enumerate(groups)
    ]
    if published is not None:
        for trace in traces:
            symbol = trace["marker"]["symbol"]
            trace["marker"]["symbol"] = [marker_symbol(symbol, hollow=label in published) for label in trace["text"]]
    height = lines[-1].end + AXIS + LEGEND_LINE * len(groups)
    axes = {"xaxis": share_axis(title), "yaxis": _row_axis(lines, names or {})}
    plot = figure(traces, int(height), **axes, showlegend=len(groups) > 1)
    for line in lines[:-1]:
        if not line.heading:
            plot.add_hline(line.end, line={"color": LINE, "width": 1}, layer="below")
    return plot


def favoured(points: Sequence[Point], uniform: float) -> Plot:
    """Plot shares of options, one marker per group, around a line at the share that each has without a preference."""
    plot = beside(points, {point.label: "" for point in points}, "probability")
    most = max(point.value if point.high is None else point.high for point in points)
    plot.update_layout(xaxis={"range": [-0.02 * most, 1.04 * most], "tickformat": ".2~f"})
    plot.add_vline(x=uniform, line={"color": MUTED, "width": 1, "dash": "dot"})
    return plot


def _lines(heads: Mapping[str, str], row: int) -> Iterator[_Line]:
    end = 0
    for head, labels in labels_by_heading(heads).items():
        if head:
            yield _Line(f"<b>{head}</b>", True, end + HEADING / 2, end + HEADING)
            end += HEADING
        for label in labels:
            yield _Line(label, False, end + row / 2, end + row)
            end += row


def _row_axis(lines: Sequence[_Line], names: Mapping[str, str]) -> Axis:
    return {
        **{"range": [lines[-1].end, 0], "showgrid": False, "tickmode": "array", "tickfont": {"size": 12}},
        **{"tickvals": [line.centre for line in lines], "ticklabelstandoff": 6},
        "ticktext": [names.get(line.label, line.label) for line in lines],
    }


def _trace(points: Sequence[Point], place: int, offset: float, centres: Mapping[str, float]) -> Trace:
    """Return the dots of one group; `offset` is its place from the middle of a row."""
    symbol, colour = SERIES_MARKERS[place % len(SERIES_MARKERS)]
    name = points[0].group
    return new_trace(
        "scatter",
        x=[point.value for point in points],
        y=[centres[point.label] + SERIES * offset for point in points],
        text=[point.label for point in points],
        mode="markers",
        marker={"size": 9, "symbol": symbol, "color": colour},
        cliponaxis=False,
        error_x={**error_bars(points), "color": colour},
        name=name,
        customdata=links(points),
        hovertext=intervals(points),
        hovertemplate="%{text}, " + name.replace("%", "") + ": <b>%{x:.3f}</b>%{hovertext}<extra></extra>",
    )
