"""Promptings side by side on the page of a benchmark: specificity, naturalness and relatedness (S-TEST, Table 9)."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from leaderboard.display import cells, charts
from leaderboard.display.charts import Chart, Point
from leaderboard.display.columns import interval_columns, model_column, source_column
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.models import Run, Score
from probing.analysis.breakdown import ALL
from probing.analysis.specificity import NO_PREFERENCE

NOTE = (
    "Means over relations. The runs of a model differ in nothing but the prompting. Naturalness is the same share with "
    "the subject hidden: where a prompting raises both alike, its wording makes finer answers more probable, whatever "
    "the subject."
)


@dataclass(frozen=True)
class PromptedRun:
    """A run with its scores over all relations by metric; `prompting` says in words how it was asked."""

    run: Run
    prompting: str
    scores: Mapping[str, Score]

    @classmethod
    def of(cls, run: Run, prompting: str, scores: Mapping[tuple[str, str], Score]) -> "PromptedRun":
        """Keep the scores over all relations from those by metric and group."""
        return cls(run, prompting, {metric: score for (metric, group), score in scores.items() if group == ALL})


def promptings_section(
    rows: Sequence[PromptedRun], comparable: Callable[[Run], Hashable], factors: Mapping[str, str]
) -> list[Section]:
    """Return the section on models that were asked by several promptings, nothing where there are none.

    `comparable`: what runs must share to be set side by side. `factors`: the titles of the metrics.
    """
    groups: dict[Hashable, list[PromptedRun]] = defaultdict(list)
    for row in rows:
        groups[comparable(row.run)].append(row)
    shown = [row for group in groups.values() if len({row.prompting for row in group}) > 1 for row in group]
    if not shown:
        return []
    title = "Naturalness and relatedness by prompting"
    metrics = {name: heading for name, heading in factors.items() if any(name in row.scores for row in shown)}
    return [Section("factor_promptings", title, _table(title, shown, metrics), _chart(title, shown), NOTE)]


def _table(title: str, rows: Sequence[PromptedRun], metrics: Mapping[str, str]) -> Table[PromptedRun]:
    columns: list[Column[PromptedRun]] = [
        model_column(lambda row: row.run),
        Column("prompting", "Prompting", lambda row: cells.text(row.prompting)),
        *(column for name, heading in metrics.items() for column in _score_columns(name, heading)),
        source_column(lambda row: row.run),
    ]
    return Table(name="factor_promptings", caption=title, columns=columns, rows=rows)


def _score_columns(metric: str, heading: str) -> list[Column[PromptedRun]]:
    def score(row: PromptedRun) -> Score | None:
        return row.scores.get(metric)

    return [
        Column(metric, heading, lambda row: cells.of_score(score(row)), align="score"),
        *interval_columns(score, metric),
    ]


def _chart(title: str, rows: Sequence[PromptedRun]) -> Chart | None:
    points = [point for row in rows if (point := _point(row))]
    if not points:
        return None
    models = len({point.label for point in points})
    summary = f"Specificity against naturalness of {models} models by prompting; one half means no preference."
    figure = charts.changes(points, "naturalness", "specificity", neutral=NO_PREFERENCE)
    return Chart("factor_promptings", title, summary, figure)


def _point(row: PromptedRun) -> Point | None:
    """Return the point of a run that has both figures; published ones are groups of their own."""
    specificity, naturalness = (row.scores.get(name) for name in ("specificity", "naturalness"))
    if not specificity or not naturalness or specificity.value is None or naturalness.value is None:
        return None
    group = f"{row.prompting}, published" if row.run.is_published else row.prompting
    address = row.run.get_absolute_url()
    return Point(row.run.name, specificity.value, x=naturalness.value, group=group, href=address)
