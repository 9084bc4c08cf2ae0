"""Columns that several tables share, and the points and the summary that several charts share."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from leaderboard.models import Run, Score
from leaderboard.ui import cells
from leaderboard.ui.cells import Cell, figure_with_uncertainty
from leaderboard.ui.charts.basics import Point
from leaderboard.ui.charts.scaling_chart import PARAMETERS, ScalingAxis, SizedScore
from leaderboard.ui.tables import Column
from leaderboard.ui.visible import visible
from probing.results.run_json import marked_start

# What stands above groups of rows; the name of a publication follows.
MEASURED, PUBLISHED = "● Measured here", "○ Published"


def model_column(run: Callable[[Any], Run]) -> Column[Any]:
    """Return the column with the model of a row's run; it links to the run."""

    def cell(row: Any) -> Cell:
        return cells.text(run(row).model.title, href=run(row).get_absolute_url())

    return Column("model", "Model", cell, align="head")


def interval_columns(score: Callable[[Any], object], name: str = "") -> list[Column[Any]]:
    """Return the columns of the CSV with the ends of the 95 % intervals of a row's score.

    A page has the interval behind the score instead. `name` tells the columns of several scores apart.
    """

    def column(end: str) -> Column[Any]:
        named = f"{name}_{end}" if name else end
        return Column(named, "", lambda row: cells.number(getattr(score(row), end, None)), shown=False)

    return [column(end) for end in ("low", "high", "cluster_low", "cluster_high")]


def settings_column(run: Callable[[Any], Run]) -> Column[Any]:
    """Return the column that tells runs of one model apart, which pages drop where all have the usual settings.

    A start token that also marks roles in the model's chat template is named beside the settings. A run that stands for
    earlier steps of its training says how many, and leads to them.
    """

    def cell(row: Any) -> Cell:
        variant = " ".join(filter(None, [run(row).variant, run(row).earlier_in_words]))
        text = ", ".join(filter(None, [variant, visible(marked_start(run(row).provenance_record))]))
        return cells.text(text, run(row).model.training_url if run(row).earlier_in_words else "")

    return Column("settings", "Settings", cell)


def source_column(run: Callable[[Any], Run], align: str = "", shown: bool = True) -> Column[Any]:
    """Return the column that tells where a row's figures come from."""
    return Column("provenance", "Source", lambda row: source(run(row)), align=align, shown=shown)


def source(run: Run) -> Cell:
    """Say that a run was measured here, or cite its source in short; the CSV and the run's page have the full text."""
    label = cells.PROVENANCES[run.provenance].lower()
    if not run.reference:
        return cells.text(label)
    return Cell(
        f"{label}: {run.reference}", f"{label}: {citation(run)}", run.reference_url, run.reference, kind="source"
    )


def citation(run: Run) -> str:
    """Return first author and year where they are known, else the whole reference."""
    publication = run.provenance_record.get("source", {})
    first, *others = publication.get("authors", "").split(", ")
    if not first:
        return run.reference
    return " ".join(filter(None, [first.split()[-1], "et al." if others else "", str(publication.get("year") or "")]))


def score_cell(run: Run, score: Score | None, chance: float | None = None) -> Cell:
    """Show a score of a run, whose bar has a tick at chance.

    A figure that a publication does not have may have been measured, but was not reported.
    """
    if not run.is_published:
        return cells.of_score(score, chance)
    return cells.not_reported() if score is None else cells.of_run(cells.of_score(score, chance), run)


def score_points(
    scores: Iterable[tuple[str, Score | None]], href: Callable[[str], str] = lambda label: ""
) -> list[Point]:
    """Return the points of a chart, given pairs of label and score; scores without a value have none.

    `href` gives the address to which the point of a label leads, the same as in the table.
    """
    return [
        Point(label, score.value, score.low, score.high, href=href(label))
        for label, score in scores
        if score and score.value is not None
    ]


def summary(title: str, points: Sequence[Point]) -> str:
    """Return a sentence with the lowest and the highest of the points and their number."""
    if not points:
        return f"{title}: nothing was measured."
    if len(points) == 1:
        return f"{title}: {points[0].value:.3f} ({points[0].label})."
    low, high = min(points, key=lambda p: p.value), max(points, key=lambda p: p.value)
    if f"{low.value:.3f}" == f"{high.value:.3f}":
        return f"{title}: {low.value:.3f} in all {len(points)} groups."
    return f"{title}: from {low.value:.3f} ({low.label}) to {high.value:.3f} ({high.label}) over {len(points)} groups."


def best_and_largest(scores: Sequence[SizedScore], axis: ScalingAxis = PARAMETERS) -> str:
    """Return a sentence with the highest of several scores, and with that of the largest model where it is another."""
    best = max(scores, key=lambda score: score.value)
    largest = max(scores, key=lambda score: (score.size, score.value))
    if best.value == largest.value:
        return f"Best and {axis.most}: {_sized(largest, axis)}."
    return f"Best: {_sized(best, axis)}. {axis.most.capitalize()}: {_sized(largest, axis)}."


def _sized(score: SizedScore, axis: ScalingAxis) -> str:
    figure = figure_with_uncertainty(score.value, score.low, score.high)
    return f"{score.label} ({axis.text(score.size)}), {figure}"
