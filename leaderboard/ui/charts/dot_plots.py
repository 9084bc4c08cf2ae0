"""Dots in rows: alone, under headings, several series in each row, and a model's figure among those of others."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from leaderboard.ui.charts.basics import (
    ACCENT,
    DIGITS,
    GROUND,
    INK,
    LINE,
    MUTED,
    ROW_HEIGHT,
    Plot,
    Point,
    Trace,
    error_bars,
    figure,
    group_names,
    intervals,
    kind_symbol,
    links,
    marker_symbol,
    new_trace,
    row_axis,
    series_markers,
    share_axis,
)

# Dot plots: a dot with its interval for each label, alone, under headings or with several series side by side.


PUBLISHED = "published"  # the group of the points that come from papers
CERTAIN = "✱"  # marks a significant difference


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
        traces.insert(0, ticks_trace("chance", ticks))
    labels = [point.label for point in points]
    return figure(traces, 70 + ROW_HEIGHT * len(points), xaxis=share_axis(title), yaxis=row_axis(labels))


def headed_dots(
    points: Sequence[Point],
    heads: Mapping[str, str],
    title: str,
    names: Mapping[str, str] | None = None,
    markers: Mapping[str, tuple[str, str]] | None = None,
) -> Plot:
    """Plot shares, or changes of shares, in rows under headings, with one marker per group of points.

    `heads` maps each label to its heading, in the order of the rows; labels whose heading is empty stand alone.
    `names` maps labels to shorter texts for the axis. `markers`: symbol and colour of groups that have the same ones in
    all charts of a page; the others take them in their order.
    """
    rows = _headed_rows(heads)
    groups = group_names(points)
    traces = [
        _group_trace([point for point in points if point.group == group], group, marker)
        for group, marker in zip(groups, _markers(groups, markers or {}), strict=True)
    ]
    axis = share_axis(title)
    if any(point.value < 0 for point in points):  # a change of a share, which no axis from 0 would show
        axis |= {"range": None, "tickformat": ".2f"}
    return figure(traces, 90 + 26 * len(rows), xaxis=axis, yaxis=row_axis(rows, names), showlegend=len(groups) > 1)


def forest(
    points: Sequence[Point],
    heads: Mapping[str, str],
    title: str,
    names: Mapping[str, str] | None = None,
    certain: Collection[str] = (),
) -> Plot:
    """Plot differences under headings around a line at zero; points of the group `PUBLISHED` have hollow dots.

    `certain`: the labels of differences that are significant, which have the mark `CERTAIN` behind their interval.
    """
    plot = headed_dots(points, heads, title, names)
    for trace, group in zip(plot.data, group_names(points), strict=True):
        trace["marker"] |= {"symbol": marker_symbol("circle", hollow=group == PUBLISHED), "color": ACCENT}
        trace["hovertemplate"] = "%{y}: <b>%{x:+.3f}</b>%{hovertext}<extra></extra>"
    if marked := [point for point in points if point.label in certain]:
        plot.data.append(_certain_marks(marked))
    plot.update_layout(xaxis={"range": None, "tickformat": ".2f"}, showlegend=False)
    plot.add_vline(x=0, line={"color": MUTED, "width": 1})
    return plot


def _markers(groups: Sequence[str], fixed: Mapping[str, tuple[str, str]]) -> list[tuple[str, str]]:
    """Return symbol and colour of each group."""
    return [fixed.get(group, marker) for group, marker in zip(groups, series_markers(len(groups)), strict=True)]


def _certain_marks(points: Sequence[Point]) -> Trace:
    """Return the marks of significant differences, each behind the end of its interval."""
    return new_trace(
        "scatter",
        x=[point.value if point.high is None else point.high for point in points],
        y=[point.label for point in points],
        mode="text",
        text=[f" {CERTAIN}"] * len(points),
        textposition="middle right",
        textfont={"color": INK, "size": 14},
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
        name="significant",
    )


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


def ticks_trace(name: str, levels: Sequence[tuple[float, str | float]], size: int = 11, colour: str = MUTED) -> Trace:
    """Return a short upright line at the level of each row, such as chance."""
    return new_trace(
        "scatter",
        x=[round(value, DIGITS) for value, _ in levels],
        y=[row for _, row in levels],
        mode="markers",
        marker={"symbol": "line-ns", "size": size, "line": {"width": 1.5, "color": colour}},
        cliponaxis=False,
        name=name,
        hovertemplate=f"{name}: %{{x:.3f}}<extra></extra>",
    )


def _group_trace(points: Sequence[Point], group: str, marker: tuple[str, str]) -> Trace:
    symbol, colour = marker
    look = {"size": 9, "symbol": symbol, "color": colour}
    return {**_dot_trace(points), "name": group or "score", "marker": look}


def _labels_by_heading(heads: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the labels of each heading, in their order."""
    by_heading: dict[str, list[str]] = {}
    for label, head in heads.items():
        by_heading.setdefault(head, []).append(label)
    return by_heading


def _headed_rows(heads: Mapping[str, str]) -> list[str]:
    """Return the rows of a plot: each heading in bold, unless it is empty, and the labels under it."""
    by_heading = _labels_by_heading(heads)
    return [row for head, labels in by_heading.items() for row in ([f"<b>{head}</b>", *labels] if head else labels)]


# Several series in the same rows, one below the other, so that the interval of each can be read.


LEAST_ROW, SERIES, BETWEEN = 34, 13, 14  # pixels
LEGEND_LINE, AXIS = 20, 70
TICK = 0.16  # half the length of a tick at chance, in rows


def beside(
    points: Sequence[Point],
    heads: Mapping[str, str],
    title: str,
    names: Mapping[str, str] | None = None,
    published: Collection[str] | None = None,
    chance: Mapping[str, float] | None = None,
) -> Plot:
    """Plot shares in rows, the groups of points one below the other within each row.

    `heads` maps each label to its heading, in the order of the rows, which stands above the first of its rows; it may
    be empty. `names` maps labels to shorter texts for the axis. A row is as high as its groups need. `published`: the
    labels of rows with hollow markers, where all others have filled ones; None where every group has a marker of its
    own. `chance`: by label, where a tick stands in the middle of the row.
    """
    groups, shown = group_names(points), _named_below_headings(heads, names or {})
    traces = [
        _group_trace([point for point in points if point.group == group], group, marker) | {"orientation": "h"}
        for group, marker in zip(groups, series_markers(len(groups)), strict=True)
    ]
    for trace in traces:
        trace["error_x"] |= {"color": trace["marker"]["color"], "thickness": 1.5}
        name = trace["name"].replace("%", "")
        trace["hovertemplate"] = "%{y}, " + name + ": <b>%{x:.3f}</b>%{hovertext}<extra></extra>"
        if published is not None:
            symbol = trace["marker"]["symbol"]
            trace["marker"]["symbol"] = [marker_symbol(symbol, hollow=label in published) for label in trace["y"]]
    height = len(heads) * max(LEAST_ROW, SERIES * len(groups) + BETWEEN) + AXIS + LEGEND_LINE * len(groups)
    # The first group stands at the top of each row, and a line between two rows.
    axis = row_axis(heads, shown) | {"showgrid": True, "tickson": "boundaries", "gridcolor": LINE}
    axes = {"xaxis": share_axis(title), "yaxis": axis}
    plot = figure(traces, height, **axes, scattermode="group", showlegend=len(groups) > 1)
    plot.update_layout(shapes=_ticks_in_rows(heads, chance or {}))
    return plot


def _ticks_in_rows(rows: Collection[str], chance: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return ticks in the middle of rows, which the legend names once."""
    look = {"type": "line", "line": {"color": MUTED, "width": 1.5}, "name": "chance", "legendgroup": "chance"}
    places = [(chance[label], place) for place, label in enumerate(rows) if label in chance]
    return [
        {**look, "x0": level, "x1": level, "y0": place - TICK, "y1": place + TICK, "showlegend": number == 0}
        for number, (level, place) in enumerate(places)
    ]


def _named_below_headings(heads: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Map labels to their names on the axis, the first one below each heading with this above it."""
    firsts = {members[0]: head for head, members in _labels_by_heading(heads).items() if head}
    shown = {label: names.get(label, label) for label in heads}
    return {label: f"<b>{firsts[label]}</b><br>{name}" if label in firsts else name for label, name in shown.items()}


def favoured(points: Sequence[Point], uniform: float) -> Plot:
    """Plot shares of options, one marker per group, around a line at the share that each has without a preference."""
    plot = beside(points, {point.label: "" for point in points}, "probability")
    most = max(point.value if point.high is None else point.high for point in points)
    plot.update_layout(xaxis={"range": [-0.02 * most, 1.04 * most], "tickformat": ".2~f"})
    plot.add_vline(x=uniform, line={"color": MUTED, "width": 1, "dash": "dot"})
    return plot


# Profiles: a model's figure in each row, with the range of similar models, their median and chance behind it.


PROFILE_ROW = 30  # pixels


def profile(
    points: Sequence[Point],
    heads: Mapping[str, str],
    title: str,
    kind: str = "",
    bands: Mapping[str, tuple[float, float]] | None = None,
    medians: Mapping[str, float] | None = None,
    chance: Mapping[str, float] | None = None,
) -> Plot:
    """Plot a model's figures in one row per label under headings; the points of the group `PUBLISHED` are hollow.

    `heads` maps each label to its heading, in the order of the rows. `kind`: the type of the model. By label, as far
    as they are known: `bands`, the ranges of models of similar size, their `medians`, and `chance`.
    """
    rows = _headed_rows(heads)
    published = [point for point in points if point.group == PUBLISHED]
    traces = [
        _bands(bands or {}),
        ticks_trace("chance", [(level, label) for label, level in (chance or {}).items()]),
        ticks_trace("median", [(level, label) for label, level in (medians or {}).items()], 20, INK),
        _profile_dots([point for point in points if point.group != PUBLISHED], "measured here", ACCENT, kind),
        _profile_dots(published, PUBLISHED, GROUND, kind),
    ]
    axes = {"xaxis": share_axis(title), "yaxis": row_axis(rows)}
    height = 76 + PROFILE_ROW * len(rows)
    return figure([trace for trace in traces if trace["y"]], height, **axes, barmode="overlay", showlegend=True)


def _bands(ranges: Mapping[str, tuple[float, float]]) -> Trace:
    """Draw the ranges of models of similar size as grey bands."""
    return new_trace(
        "bar",
        base=[low for low, _ in ranges.values()],
        x=[max(high - low, 0.002) for low, high in ranges.values()],
        y=list(ranges),
        orientation="h",
        width=0.5,
        marker={"color": LINE, "line": {"width": 0}},
        name="models of similar size",
        customdata=[f"{low:.3f} to {high:.3f}" for low, high in ranges.values()],
        hovertemplate="models of similar size: %{customdata}<extra></extra>",
    )


def _profile_dots(points: Sequence[Point], name: str, fill: str, kind: str) -> Trace:
    look = {"size": 10, "symbol": kind_symbol(kind), "color": fill, "line": {"width": 2, "color": ACCENT}}
    hover = "%{y}: <b>%{x:.3f}</b>%{hovertext}, " + name + "<extra></extra>"
    return {**_dot_trace(points), "marker": look, "error_x": error_bars(points), "name": name, "hovertemplate": hover}
