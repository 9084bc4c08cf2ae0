"""The picture above the standings: scores against sizes, dates or lengths of training, or the cultures of a pair."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import QueryDict

from leaderboard.figures.standings import LeaderboardFilter, Row
from leaderboard.models import Entry, Model
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import PairInLanguage, sides_and_gap
from leaderboard.probes.culture.sides import legend
from leaderboard.ui import charts, labels
from leaderboard.ui.charts.basics import Chart, Point
from leaderboard.ui.charts.scaling_chart import (
    ACTIVE,
    DATE,
    PARAMETERS,
    TOKENS,
    ScalingAxis,
    SizedScore,
    best_and_largest,
    on_date_axis,
)
from leaderboard.ui.links import PageLink, link

AXIS = "axis"  # the parameter that chooses one of these
# What scores are set against: its name within a sentence, and where a model is on it, None if that is unknown.
AXES: Mapping[str, tuple[str, ScalingAxis, Callable[[Model], float | None]]] = {
    "": ("model size", PARAMETERS, lambda model: model.parameters),
    "active": ("active size", ACTIVE, lambda model: model.active_parameters),
    "date": ("date", DATE, lambda model: on_date_axis(model.hub_created) if model.hub_created else None),
    "tokens": ("length of training", TOKENS, lambda model: model.tokens),
}
MOST_MODELS = 25  # rows of the chart of a pair


def _charted(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that have places in the picture.

    These are runs of one group, and none that were asked only some of the items, as figures of different settings share
    no axis.
    """
    groups = [row["group"] for row in rows if not row["some_items"]]
    return [row for row in rows if groups and row["group"] == groups[0] and not row["some_items"]]


def offered_axes(rows: Sequence[Row], pair: PairInLanguage | None) -> list[str]:
    """Return the keys of the axes on which at least two models have a place.

    The picture of a pair of cultures has other axes. Where no model has idle parameters, the active size is the size.
    """
    models = [] if pair else [row["run"].model for row in _charted(rows)]
    offered = [key for key, (_, _, place) in AXES.items() if sum(bool(place(model)) for model in models) > 1]
    return [key for key in offered if key != "active" or any(model.idle_parameters for model in models)]


def chosen_axis(query: QueryDict, offered: Sequence[str]) -> str:
    """Return the axis that a query string asks for if it is offered, else the size if it is, else the first offered."""
    wanted = [query.get(AXIS, ""), ""]
    return next((key for key in wanted if key in offered), offered[0] if offered else "")


def axis_links(query: QueryDict, offered: Sequence[str]) -> list[PageLink]:
    """Return the links that choose one of the offered axes; none without a choice."""
    chosen = chosen_axis(query, offered)
    links = [
        PageLink(labels.sentence(AXES[key][0]), link(query, **{AXIS: key or None}), key == chosen) for key in offered
    ]
    return links if len(links) > 1 else []


def standings_charts(
    filters: LeaderboardFilter, models: Mapping[str, Any], pair: PairInLanguage | None, axis: str
) -> list[Chart]:
    """Return the chart of the table of models, if there is anything to draw; `axis`: one of `AXES`.

    `pair`: what the rows are about.
    """
    rows = models["standings"]
    title = pages_of(filters.benchmark).metric_label(filters.metric)
    of_pair = _gaps_chart(title, rows, pair, filters.metric) if pair and len(pair.sides) > 1 else []
    return of_pair or _scatter(title, rows, axis, models["chance"])


def _scatter(title: str, rows: Sequence[Row], axis: str, chance: float | None) -> list[Chart]:
    """Return the chart of scores against what an axis has, if that is known of any model."""
    name, scale, place = AXES[axis]
    scored = [row for row in _charted(rows) if row["main"] and row["main"].value is not None]
    placed = [row for row in scored if place(row["run"].model)]
    if not placed:
        return []
    scores = [_sized_score(row, place(row["run"].model) or 0.0) for row in placed]
    models = labels.counted([row["run"] for row in placed])
    summary = f"{title} by {name}, {models}. {best_and_largest(scores, scale)}"
    if left_out := len({row["run"].model.hub_id for row in scored} - {row["run"].model.hub_id for row in placed}):
        summary += f" Without a known {name}, and so left out: {labels.number_of(left_out, 'model')}."
    if any(row["run"].is_published for row in placed):
        summary += " Hollow markers are published figures."
    figure = charts.scaling_curve(scores, chance, labels.within(title), scale)
    return [Chart("scatter", f"{title} by {name}", summary, figure)]


def _sized_score(row: Row, place: float) -> SizedScore:
    run, score = row["run"], row["main"]
    return SizedScore(
        run.model.hub_id.rpartition("/")[2],
        score.value,
        score.low,
        score.high,
        place,
        run.model.family,
        not run.is_published,
        run.get_absolute_url(),
        run.model.kind,
    )


# The picture of a pair of cultures: both figures of each model, side by side.


def _gaps_chart(title: str, rows: Sequence[Row], pair: PairInLanguage, metric: str) -> list[Chart]:
    """Return a row for each model, the widest gap in favour of the first culture on top."""
    figures = [(row["run"], sides_and_gap(row["figures"], metric, pair)) for row in _charted(rows)]
    with_gap = [(run, sides["gap"].value, sides) for run, sides in figures if sides and sides["gap"]]
    if not with_gap:
        return []
    shown = sorted(with_gap, key=lambda entry: -abs(entry[1]))[:MOST_MODELS]
    shown.sort(key=lambda entry: -entry[1])
    names = _names([run for run, _, _ in shown])
    points = [
        Point(names[run.pk], of.value or 0.0, of.low, of.high, group=culture, href=run.get_absolute_url())
        for run, _, sides in shown
        for culture, of in zip(pair.cultures, (sides["first"], sides["second"]), strict=True)
    ]
    published = [names[run.pk] for run, _, _ in shown if run.is_published]
    summary = _gaps_in_words([gap for _, gap, _ in with_gap], pair)
    summary += f" The {len(shown)} widest gaps are drawn." if len(shown) < len(with_gap) else ""
    summary += legend(run for run, _, _ in shown)
    figure = charts.beside(points, {point.label: "" for point in points}, title, published=published)
    return [Chart("scatter", " and ".join(pair.cultures), summary, figure)]


def _gaps_in_words(gaps: Sequence[float], pair: PairInLanguage) -> str:
    better, level = sum(gap > 0 for gap in gaps), sum(not gap for gap in gaps)
    number = f"{better} of {len(gaps)} models know" if len(gaps) > 1 else f"{better} of 1 model knows"
    ours, theirs = map(labels.culture, pair.cultures)
    also = f", and {labels.number_of(level, 'model')} as much of both" if level else ""
    return f"{pair.title}: {number} more of the facts about {ours} than of those about {theirs}{also}."


def _names(runs: Sequence[Entry]) -> dict[int, str]:
    """Map each run to its model's name, and to what tells several runs of one model apart."""
    names = {run.pk: run.model.hub_id.removeprefix("published/") for run in runs}
    times = Counter(names.values())
    for run in runs:
        if run.is_published and times[names[run.pk]] > 1:
            names[run.pk] += ", published"
    return labels.distinct(names)
