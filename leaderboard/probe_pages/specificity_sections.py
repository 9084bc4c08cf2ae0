"""The sections of a run of specificity: its promptings side by side, and its factors (methods 2)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from leaderboard.display import cells, charts
from leaderboard.display.charts import Chart, Point
from leaderboard.display.columns import interval_columns
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.models import Run, Score
from leaderboard.probe_pages.breakdowns import group_href, hover_label, titled_cell
from leaderboard.probe_pages.questions_in_words import group_title, relation_names
from leaderboard.probe_pages.specificity_runs import MEAN, ScoresByGroup, distinct_labels, label_of

FACTORS = {"specificity": "Specificity", "naturalness": "Naturalness", "relatedness": "Relatedness"}
FACTORS_NOTE = (
    "Specificity: the share of pairs in which the model prefers the finer answer. "
    "Naturalness: the same share when the subject is hidden. "
    "Relatedness: the share of pairs in which the finer answer is closer to the subject."
)


class RelationLine(NamedTuple):
    """A relation, or the mean over relations, with a score per column."""

    group: str
    scores: Mapping[str, Score]


class RelationLabel(NamedTuple):
    """What pages call a relation, or the mean over relations: in words, and in the hover of a point with its id."""

    group: str
    title: str
    hover: str
    href: str

    @classmethod
    def of(cls, run: Run, relations: Mapping[str, str], group: str) -> "RelationLabel":
        if group == MEAN:
            return cls(group, "mean", "mean", run.get_absolute_url())
        title = group_title("relation", group, relations)
        return cls(group, title, hover_label(group, title), group_href(run, "relation", group))


def _groups(scores: Sequence[ScoresByGroup], metric: str = "specificity") -> list[str]:
    """Return the relations in stored order, then their mean."""
    relations = dict.fromkeys(
        group for by_group in scores for name, group in by_group if name == metric and group != MEAN
    )
    return [*relations, MEAN]


def by_prompting(run: Run, runs: Sequence[Run], scores: Mapping[int, ScoresByGroup]) -> Section:
    """Return the section with specificity by relation, one column per run of the run's model."""
    titles = distinct_labels({run.pk: label_of(run) for run in runs})
    columns = {title: scores[pk] for pk, title in titles.items()}

    def line(group: str) -> RelationLine:
        key = ("specificity", group)
        return RelationLine(group, {title: by_group[key] for title, by_group in columns.items() if key in by_group})

    lines = [line(group) for group in _groups(list(columns.values()))]
    return _section(run, "promptings", "Specificity by prompting", {title: title for title in columns}, lines)


def by_factor(run: Run, scores: ScoresByGroup) -> Section:
    """Return the section with specificity, naturalness and relatedness by relation."""
    titles = {metric: title for metric, title in FACTORS.items() if (metric, MEAN) in scores}
    lines = [
        RelationLine(group, {metric: scores[metric, group] for metric in titles if (metric, group) in scores})
        for group in _groups([scores])
    ]
    return _section(run, "factors", "Factors", titles, lines, FACTORS_NOTE)


def _section(
    run: Run, name: str, title: str, titles: Mapping[str, str], lines: Sequence[RelationLine], note: str = ""
) -> Section:
    """Return a section with a column and a series of dots for each of the titles."""
    relations = relation_names(run)
    groups = [RelationLabel.of(run, relations, line.group) for line in lines]
    by_group = {label.group: label for label in groups}

    def relation(line: RelationLine) -> cells.Cell:
        label = by_group[line.group]
        return titled_cell(_group_name(line.group), label.title, label.href)

    columns: list[Column[RelationLine]] = [Column("relation", "Relation", relation, align="head")]
    for key, heading in titles.items():
        columns += _score_columns(key, heading)
    series = {
        heading: [_point(by_group[line.group], line.scores[key]) for line in lines if key in line.scores]
        for key, heading in titles.items()
    }
    table = Table(name=name, caption=title, columns=columns, rows=lines, sortable=False)
    summary = "; ".join(f"{heading}: {_mean(points)}" for heading, points in series.items())
    figure = charts.grouped(series, 0.5, {label.hover: label.title for label in groups})
    return Section(name, title, table, Chart(name, title, f"Means: {summary}.", figure), note)


def _score_columns(key: str, heading: str) -> list[Column[RelationLine]]:
    def score(line: RelationLine) -> Score | None:
        return line.scores.get(key)

    return [
        Column(key, heading, lambda line: cells.of_score(score(line)), align="score"),
        *interval_columns(score, key),
        Column(f"{key}_n", "Pairs", lambda line: cells.items(getattr(score(line), "n", None)), align="number"),
    ]


def _group_name(group: str) -> str:
    return "mean" if group == MEAN else group


def _point(label: RelationLabel, score: Score) -> Point:
    value = np.nan if score.value is None else score.value
    return Point(label.hover, value, score.low, score.high, href=label.href)


def _mean(points: Sequence[Point]) -> str:
    value = next((point.value for point in points if point.label == "mean"), np.nan)
    return "not measured" if np.isnan(value) else f"{value:.3f}"
