"""Profiles: a model's figure in each row, with the range of similar models, their median and chance behind it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from leaderboard.display.charts.axes import row_axis, share_axis
from leaderboard.display.charts.dot_plots import labels_by_heading
from leaderboard.display.charts.figures import (
    ACCENT,
    GROUND,
    LINE,
    MUTED,
    Plot,
    Point,
    Trace,
    error_bars,
    figure,
    intervals,
    new_trace,
)

ROW = 30  # pixels


class Mark(NamedTuple):
    """A row of a profile: the model's figure, and what it is compared with where that is known."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    measured: bool = True
    href: str = ""
    band: tuple[float, float] | None = None
    median: float | None = None
    chance: float | None = None


def profile(marks: Sequence[Mark], heads: Mapping[str, str], title: str) -> Plot:
    """Plot one row per mark under headings; filled dots were measured here, hollow ones are published.

    `heads` maps each label to its heading, in the order of the rows.
    """
    rows = [row for head, labels in labels_by_heading(heads).items() for row in (*_heading(head), *labels)]
    traces = [
        _bands([mark for mark in marks if mark.band]),
        _ticks({mark.label: mark.chance for mark in marks if mark.chance is not None}, "chance", "line-ns", MUTED),
        _ticks({mark.label: mark.median for mark in marks if mark.median is not None}, "median", "diamond", MUTED),
        _dots([mark for mark in marks if mark.measured], "measured here", ACCENT),
        _dots([mark for mark in marks if not mark.measured], "published", GROUND),
    ]
    axes = {"xaxis": share_axis(title), "yaxis": row_axis(rows)}
    height = 76 + ROW * len(rows)
    return figure([trace for trace in traces if trace["y"]], height, **axes, barmode="overlay", showlegend=True)


def _heading(head: str) -> list[str]:
    return [f"<b>{head}</b>"] if head else []


def _bands(marks: Sequence[Mark]) -> Trace:
    """Draw the ranges of models of similar size as grey bands."""
    ranges = [mark.band for mark in marks if mark.band]
    return new_trace(
        "bar",
        base=[low for low, _ in ranges],
        x=[max(high - low, 0.002) for low, high in ranges],
        y=[mark.label for mark in marks],
        orientation="h",
        width=0.5,
        marker={"color": LINE, "line": {"width": 0}},
        name="models of similar size",
        customdata=[f"{low:.3f} to {high:.3f}" for low, high in ranges],
        hovertemplate="models of similar size: %{customdata}<extra></extra>",
    )


def _ticks(values: Mapping[str, float], name: str, symbol: str, colour: str) -> Trace:
    return new_trace(
        "scatter",
        x=list(values.values()),
        y=list(values),
        mode="markers",
        marker={"symbol": symbol, "size": 12 if symbol == "line-ns" else 7, "color": colour}
        | {"line": {"width": 1.5 if symbol == "line-ns" else 0, "color": colour}},
        cliponaxis=False,
        name=name,
        hovertemplate=f"{name}: %{{x:.3f}}<extra></extra>",
    )


def _dots(marks: Sequence[Mark], name: str, fill: str) -> Trace:
    points = [Point(mark.label, mark.value, mark.low, mark.high) for mark in marks]
    return new_trace(
        "scatter",
        x=[mark.value for mark in marks],
        y=[mark.label for mark in marks],
        mode="markers",
        marker={"size": 10, "color": fill, "line": {"width": 2, "color": ACCENT}},
        cliponaxis=False,
        error_x=error_bars(points),
        name=name,
        customdata=[mark.href for mark in marks],
        hovertext=intervals(points),
        hovertemplate="%{y}: <b>%{x:.3f}</b>%{hovertext}, " + name + "<extra></extra>",
    )
