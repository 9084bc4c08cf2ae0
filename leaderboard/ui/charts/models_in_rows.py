"""A model's figure among those of others: profiles of one model, and strips with a dot for each model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from leaderboard.ui.charts.basics import (
    ACCENT,
    DIGITS,
    GROUND,
    INK,
    LINE,
    ROW_HEIGHT,
    Plot,
    Point,
    Trace,
    error_bars,
    figure,
    intervals,
    kind_symbol,
    new_trace,
    row_axis,
    share_axis,
)
from leaderboard.ui.charts.dot_plots import labels_by_heading, ticks_trace

# Profiles: a model's figure in each row, with the range of similar models, their median and chance behind it.


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


def profile(marks: Sequence[Mark], heads: Mapping[str, str], title: str, kind: str = "") -> Plot:
    """Plot one row per mark under headings; filled dots were measured here, hollow ones are published.

    `heads` maps each label to its heading, in the order of the rows. `kind`: the type of the model.
    """
    rows = [row for head, labels in labels_by_heading(heads).items() for row in (*_heading(head), *labels)]
    traces = [
        _bands([mark for mark in marks if mark.band]),
        ticks_trace("chance", [(mark.chance, mark.label) for mark in marks if mark.chance is not None]),
        ticks_trace("median", [(mark.median, mark.label) for mark in marks if mark.median is not None], 20, INK),
        _dots([mark for mark in marks if mark.measured], "measured here", ACCENT, kind),
        _dots([mark for mark in marks if not mark.measured], "published", GROUND, kind),
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


def _dots(marks: Sequence[Mark], name: str, fill: str, kind: str) -> Trace:
    points = [Point(mark.label, mark.value, mark.low, mark.high) for mark in marks]
    return new_trace(
        "scatter",
        x=[mark.value for mark in marks],
        y=[mark.label for mark in marks],
        mode="markers",
        marker={"size": 10, "symbol": kind_symbol(kind), "color": fill, "line": {"width": 2, "color": ACCENT}},
        cliponaxis=False,
        error_x=error_bars(points),
        name=name,
        customdata=[mark.href for mark in marks],
        hovertext=intervals(points),
        hovertemplate="%{y}: <b>%{x:.3f}</b>%{hovertext}, " + name + "<extra></extra>",
    )


# Strips: one row for each group of items, with one dot for each model.


SOURCES = ((False, "measured here"), (True, "published"))  # hollow or not, legend


@dataclass(frozen=True)
class ModelDot:
    """The value of one model; `hollow` marks figures that were published and not measured here.

    `kind`: the type of the model, which is the shape of its dot.
    """

    name: str
    value: float
    hollow: bool = False
    href: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Strip:
    """A row of a strip plot: the dots of all models, their median and, where there is one, the level of chance."""

    label: str
    dots: Sequence[ModelDot]
    median: float
    chance: float | None = None


def strips(rows: Sequence[Strip], title: str) -> Plot:
    """Plot shares in one row per label, the first row at the top."""
    dots = [(row.label, dot) for row in rows for dot in row.dots]
    sources = [(name, [pair for pair in dots if pair[1].hollow == hollow]) for hollow, name in SOURCES]
    chances = [(row.chance, row.label) for row in rows if row.chance is not None]
    traces = [
        *([ticks_trace("chance", chances)] if chances else []),
        *(_dots_trace(name, of_source) for name, of_source in sources if of_source),
        ticks_trace("median", [(row.median, row.label) for row in rows], 20, INK),
    ]
    axes = {"xaxis": share_axis(title), "yaxis": row_axis(row.label for row in rows)}
    return figure(traces, 96 + ROW_HEIGHT * len(rows), **axes, showlegend=True)


def _dots_trace(name: str, dots: Sequence[tuple[str, ModelDot]]) -> Trace:
    symbols = [kind_symbol(dot.kind, hollow=dot.hollow) for _, dot in dots]
    return new_trace(
        "scatter",
        x=[round(dot.value, DIGITS) for _, dot in dots],
        y=[label for label, _ in dots],
        text=[dot.name for _, dot in dots],
        mode="markers",
        marker={
            "size": 8,
            "symbol": symbols[0] if len(set(symbols)) == 1 else symbols,
            "color": ACCENT,
            "opacity": 0.75,
        },
        cliponaxis=False,
        name=name,
        customdata=[dot.href for _, dot in dots],
        hovertemplate="%{text}, %{y}: <b>%{x:.3f}</b><extra></extra>",
    )
