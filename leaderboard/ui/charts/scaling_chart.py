"""The scaling chart: a dot for each model, its score against its number of parameters, and a line for each family."""

from collections.abc import Mapping, Sequence
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
    error_bars,
    figure,
    intervals,
    kind_symbol,
    new_trace,
    parameter_axis,
    range_in_view,
    with_chance_line,
)
from probing.analysis.size_equivalents import unbeaten

LOW = 200  # height in pixels, so that the table below it begins on the first screen
MOST_NAMED = 6  # models that nothing of their size beats; of more, those with the highest scores are named
MOST_INTERVALS = 200  # of one trace; those of more points would cover each other and the points
MOST_HOVERS = 200  # points of a chart whose hovers have interval and size; more of them would make the page too large
OTHERS = "other models"
PUBLISHED = "published"


class SizedScore(NamedTuple):
    """A model's score and its number of parameters; `family` is empty if it belongs to none.

    `kind`: the type of the model, which is the shape of its point.
    """

    label: str
    value: float
    low: float | None
    high: float | None
    parameters: int
    family: str
    is_measured: bool
    href: str
    kind: str = ""


def best_of_size(scores: Sequence[SizedScore]) -> list[SizedScore]:
    """Return the models that score higher than all others of the same or a smaller size, the smallest first."""
    places = unbeaten([score.parameters for score in scores], [score.value for score in scores])
    return [scores[place] for place in places]


def scaling_curve(scores: Sequence[SizedScore], chance: float | None, title: str) -> Plot:
    """Plot scores against sizes; filled points were measured here, hollow ones are published.

    A stepped line leads from one model that nothing of its size beats to the next, and these have their names.
    """
    families = _families(scores)
    # Families beyond the colours are told apart by the names at the ends of their lines.
    colours = dict.fromkeys(families, SOFT) | dict(
        zip(families, (colour for _, colour in SERIES_MARKERS), strict=False)
    )
    others = [score for score in scores if score.family not in families]
    detailed = len(scores) <= MOST_HOVERS
    traces = [_trace(families[name], name, colours[name], "lines+markers", detailed) for name in families]
    dots = [_trace(others, OTHERS, MUTED, "markers", detailed)] if others else []
    points = [Point(score.label, score.value, score.low, score.high, score.parameters) for score in scores]
    xaxis = {**parameter_axis(points), "title": {"text": "parameters"}}
    yaxis = {"title": {"text": title}, "tickformat": ".2~f", "range": range_in_view(points, 0.0, chance)}
    plot = figure([_steps(best_of_size(scores)), *dots, *traces], LOW, xaxis=xaxis, yaxis=yaxis)
    plot = with_chance_line(plot, chance)
    plot.data.extend(_shapes(scores))
    plot.update_layout(showlegend=len({score.kind for score in scores}) > 1)
    ends = [members[-1] for members in families.values()]
    named = [score for score in best_of_size(scores) if score not in ends]  # at those are the names of their families
    names = {name: colour.replace("series", "name") for name, colour in colours.items()}
    annotations = [*plot.layout.get("annotations", []), *_annotations(families, named[-MOST_NAMED:], names)]
    plot.update_layout(margin={"r": 72}, annotations=annotations)
    return plot


def _steps(best: Sequence[SizedScore]) -> Trace:
    """Return the line along the models that nothing of their size beats: the highest score up to each size."""
    return new_trace(
        "scatter",
        x=[score.parameters for score in best],
        y=[round(score.value, 4) for score in best],
        mode="lines",
        line={"color": MUTED, "width": 1, "dash": "dot", "shape": "hv"},
        name="best up to this size",
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
    for score in sorted(scores, key=lambda score: (score.parameters, score.value)):
        if score.family:
            by_family.setdefault(score.family, []).append(score)
    lines = [name for name, members in by_family.items() if len({member.parameters for member in members}) > 1]
    return {name: by_family[name] for name in sorted(lines, key=lambda name: (-len(by_family[name]), name))}


def _trace(scores: Sequence[SizedScore], name: str, colour: str, mode: str, detailed: bool) -> Trace:
    """Return points with their intervals, where these are few; `detailed`: hovers have intervals and sizes as well."""
    points = [Point(score.label, score.value, score.low, score.high) for score in scores]
    symbols = [kind_symbol(score.kind, hollow=not score.is_measured) for score in scores]
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
        showlegend=False,
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
