"""The scaling chart: a dot for each model, its score against its size, date or training, and a line for each family."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from math import log10
from typing import NamedTuple

from leaderboard.ui import cells
from leaderboard.ui.charts.basics import (
    INK,
    KIND_SYMBOLS,
    MUTED,
    SERIES_MARKERS,
    SOFT,
    Plot,
    Point,
    Trace,
    date_axis,
    error_bars,
    figure,
    intervals,
    kind_symbol,
    new_trace,
    parameter_axis,
    range_in_view,
    with_chance_line,
)

LOW = 200  # height in pixels, so that the table below it begins on the first screen
MOST_NAMED = 6  # models that nothing of their size beats; of more, those with the highest scores are named
MOST_INTERVALS = 200  # of one trace; those of more points would cover each other and the points
MOST_HOVERS = 200  # points of a chart whose hovers have interval and size; more of them would make the page too large
OTHERS = "other models"
PUBLISHED = "published"


class ScalingAxis(NamedTuple):
    """What models are set against: numbers on a logarithmic axis, or days as milliseconds since 1970.

    `most`: what the model farthest to the right is called.
    """

    title: str
    unit: str
    most: str
    is_date: bool = False

    def text(self, value: float) -> str:
        """Write a value without its unit, such as 8 B or 2024-07-31."""
        if self.is_date:
            return datetime.fromtimestamp(value / 1000, UTC).date().isoformat()
        return cells.parameters(round(value)).text

    @property
    def hover(self) -> str:
        """How plotly writes a value."""
        return "%{x|%Y-%m-%d}" if self.is_date else f"%{{x:.3~s}}{self.unit}"


PARAMETERS = ScalingAxis("parameters", " parameters", "largest")
ACTIVE = ScalingAxis("parameters for each token", " parameters", "largest")
DATE = ScalingAxis("date of the model", "", "newest", is_date=True)
TOKENS = ScalingAxis("tokens of the training", " tokens", "longest trained")


def on_date_axis(day: date) -> float:
    return 1000 * datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


class SizedScore(NamedTuple):
    """A model's score and its place on a `ScalingAxis`; `family` is empty if it belongs to none.

    `kind`: the type of the model, which is the shape of its point.
    """

    label: str
    value: float
    low: float | None
    high: float | None
    size: float
    family: str
    is_measured: bool
    href: str
    kind: str = ""


def best_of_size(scores: Sequence[SizedScore]) -> list[SizedScore]:
    """Return the models that score higher than all others of the same or a smaller size, the smallest first.

    Of models with equal scores only the smallest one counts.
    """
    best: list[SizedScore] = []
    for score in sorted(scores, key=lambda score: (score.size, -score.value)):
        if not best or score.value > best[-1].value:
            best.append(score)
    return best


def scaling_curve(
    scores: Sequence[SizedScore], chance: float | None, title: str, axis: ScalingAxis = PARAMETERS
) -> Plot:
    """Plot scores against sizes or what else the axis has; filled points were measured here, hollow ones are published.

    A stepped line leads from one model that nothing of its size beats to the next, and these have their names.
    """
    families = _families(scores)
    # Families beyond the colours are told apart by the names at the ends of their lines.
    colours = dict.fromkeys(families, SOFT) | dict(
        zip(families, (colour for _, colour in SERIES_MARKERS), strict=False)
    )
    others = [score for score in scores if score.family not in families]
    detailed = len(scores) <= MOST_HOVERS
    traces = [_trace(families[name], name, colours[name], "lines+markers", axis, detailed) for name in families]
    dots = [_trace(others, OTHERS, MUTED, "markers", axis, detailed)] if others else []
    points = [Point(score.label, score.value, score.low, score.high, score.size) for score in scores]
    xaxis = {**(date_axis(points) if axis.is_date else parameter_axis(points)), "title": {"text": axis.title}}
    yaxis = {"title": {"text": title}, "tickformat": ".2~f", "range": range_in_view(points, 0.0, chance)}
    plot = figure([_steps(best_of_size(scores)), *dots, *traces], LOW, xaxis=xaxis, yaxis=yaxis)
    plot = with_chance_line(plot, chance)
    plot.data.extend(_shapes(scores))
    plot.update_layout(showlegend=len({score.kind for score in scores}) > 1)
    ends = [members[-1] for members in families.values()]
    named = [score for score in best_of_size(scores) if score not in ends]  # at those are the names of their families
    names = {name: colour.replace("series", "name") for name, colour in colours.items()}
    annotations = [*plot.layout.get("annotations", []), *_annotations(families, named[-MOST_NAMED:], names, axis)]
    plot.update_layout(margin={"r": 72}, annotations=annotations)
    return plot


def _steps(best: Sequence[SizedScore]) -> Trace:
    """Return the line along the models that nothing of their size beats: the highest score up to each size."""
    return new_trace(
        "scatter",
        x=[score.size for score in best],
        y=[round(score.value, 4) for score in best],
        mode="lines",
        line={"color": MUTED, "width": 1, "shape": "hv"},
        name="best so far",
        hoverinfo="skip",
        showlegend=False,
    )


def _shapes(scores: Sequence[SizedScore]) -> list[Trace]:
    """Return the entries of the legend that say what the shapes are; none where all models have one type."""
    kinds = [kind for kind in KIND_SYMBOLS if any(score.kind == kind for score in scores)]
    marker = {"size": 9, "color": SOFT}
    return [
        new_trace(
            "scatter", x=[None], y=[None], mode="markers", marker={**marker, "symbol": kind_symbol(kind)}, name=kind
        )
        for kind in kinds
        if len(kinds) > 1
    ]


def _families(scores: Sequence[SizedScore]) -> dict[str, list[SizedScore]]:
    """Map the families with models of several sizes to their scores by size, the largest families first."""
    by_family: dict[str, list[SizedScore]] = {}
    for score in sorted(scores, key=lambda score: (score.size, score.value)):
        if score.family:
            by_family.setdefault(score.family, []).append(score)
    lines = [name for name, members in by_family.items() if len({member.size for member in members}) > 1]
    return {name: by_family[name] for name in sorted(lines, key=lambda name: (-len(by_family[name]), name))}


def _trace(scores: Sequence[SizedScore], name: str, colour: str, mode: str, axis: ScalingAxis, detailed: bool) -> Trace:
    """Return points with their intervals, where these are few; `detailed`: hovers have intervals and sizes as well."""
    points = [Point(score.label, score.value, score.low, score.high) for score in scores]
    symbols = [kind_symbol(score.kind, hollow=not score.is_measured) for score in scores]
    clear = len(points) <= MOST_INTERVALS and any(point.low is not None for point in points)
    bars = {**error_bars(points), "color": MUTED} if clear else None
    hover = "%{hovertext}" if detailed else f", {axis.hover}"
    return new_trace(
        "scatter",
        x=[score.size for score in scores],
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
        showlegend=False,
        hovertext=_interval_and_size(points, scores, axis) if detailed else None,
        hovertemplate=f"%{{text}}<br><b>%{{y:.3f}}</b>{hover}<extra></extra>",
    )


def _interval_and_size(points: Sequence[Point], scores: Sequence[SizedScore], axis: ScalingAxis) -> list[str]:
    """Return what a hover has behind each score, such as " (0.661 to 0.711), 8 B parameters"."""
    sizes = (f"{axis.text(score.size)}{axis.unit}" for score in scores)
    return [f"{interval}, {size}" for interval, size in zip(intervals(points), sizes, strict=True)]


def _annotations(
    families: Mapping[str, Sequence[SizedScore]],
    others: Sequence[SizedScore],
    colours: Mapping[str, str],
    axis: ScalingAxis,
) -> list[dict[str, object]]:
    """Return the names of families at the ends of their lines, and those of other models at their points.

    static/charts.js moves them to where they cover least.
    """
    ends = [(name, scores[-1]) for name, scores in families.items()]
    return [
        {
            "x": end.size if axis.is_date else log10(end.size),
            "y": end.value,
            "text": name,
            "font": {"color": colours.get(name, INK), "size": 12},
            "showarrow": False,
            "xanchor": "left",
            "xshift": 8,
        }
        for name, end in [*((other.label, other) for other in others), *ends]
    ]
