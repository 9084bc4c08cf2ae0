"""Strips: one row for each group of items, with one dot for each model."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.display.charts.axes import row_axis, share_axis
from leaderboard.display.charts.figures import ACCENT, DIGITS, INK, MUTED, ROW_HEIGHT, Plot, Trace, figure, new_trace

KINDS = ((False, "measured here", "circle"), (True, "published", "circle-open"))  # hollow or not, legend, symbol
TICK = "line-ns"  # Plotly's name of a short upright line


@dataclass(frozen=True)
class ModelDot:
    """The value of one model; `hollow` marks figures that were published and not measured here."""

    name: str
    value: float
    hollow: bool = False
    href: str = ""


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
    kinds = [(name, symbol, [pair for pair in dots if pair[1].hollow == hollow]) for hollow, name, symbol in KINDS]
    chances = [(row.chance, row.label) for row in rows if row.chance is not None]
    traces = [
        *([_level_trace("chance", MUTED, 11, chances)] if chances else []),
        *(_dots_trace(name, symbol, of_kind) for name, symbol, of_kind in kinds if of_kind),
        _level_trace("median", INK, 20, [(row.median, row.label) for row in rows]),
    ]
    axes = {"xaxis": share_axis(title), "yaxis": row_axis(row.label for row in rows)}
    return figure(traces, 96 + ROW_HEIGHT * len(rows), **axes, showlegend=True)


def _dots_trace(name: str, symbol: str, dots: Sequence[tuple[str, ModelDot]]) -> Trace:
    return new_trace(
        "scatter",
        x=[round(dot.value, DIGITS) for _, dot in dots],
        y=[label for label, _ in dots],
        text=[dot.name for _, dot in dots],
        mode="markers",
        marker={"size": 8, "symbol": symbol, "color": ACCENT, "opacity": 0.75},
        cliponaxis=False,
        name=name,
        customdata=[dot.href for _, dot in dots],
        hovertemplate="%{text}, %{y}: <b>%{x:.3f}</b><extra></extra>",
    )


def _level_trace(name: str, colour: str, size: int, levels: Sequence[tuple[float, str]]) -> Trace:
    """Return a short upright line at the level of each row."""
    return new_trace(
        "scatter",
        x=[round(value, DIGITS) for value, _ in levels],
        y=[label for _, label in levels],
        mode="markers",
        marker={"symbol": TICK, "size": size, "line": {"width": 1.5, "color": colour}},
        cliponaxis=False,
        name=name,
        hovertemplate=f"%{{y}}, {name}: %{{x:.3f}}<extra></extra>",
    )
