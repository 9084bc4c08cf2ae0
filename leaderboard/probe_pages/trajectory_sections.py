"""The sections of a trajectory: curves over the steps of a training, overall, by group and beside another series."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.display import labels
from leaderboard.display.charts import Chart, Point
from leaderboard.display.charts.trajectories import SMALL, Scale, Trajectory, trajectories
from leaderboard.display.sections import Section
from leaderboard.display.visible import visible
from leaderboard.lists.trajectories import Series, StepScore
from leaderboard.models import Run
from leaderboard.probe_pages.trajectory_tables import (
    GroupRow,
    PointRow,
    common_steps,
    curves_table,
    differences_table,
    points_table,
)
from leaderboard.probe_pages.trajectory_words import headline

MOST_CURVES = 8  # groups that a chart shows, as many as there are markers


@dataclass(frozen=True)
class Look:
    """How trajectories are drawn: over tokens or steps, on which scale, and whether in percent of the first point."""

    over_tokens: bool = False
    is_logarithmic: bool = False
    is_relative: bool = False

    @property
    def scale(self) -> Scale:
        if self.over_tokens:
            return Scale("tokens read", "%{x:.3s} tokens", self.is_logarithmic)
        return Scale("step of the training", "step %{x:,}", self.is_logarithmic)

    def y_title(self, metric: str) -> str:
        title = labels.within(metric)
        return f"{title}, % of the first point" if self.is_relative else title

    def point(self, point: StepScore) -> Point | None:
        """Return a point of a plot, None where it has no percentage and percentages are drawn."""
        model, score = point.run.model, point.score
        label = model.step_in_words
        x, href = (model.tokens if self.over_tokens else model.step), point.run.get_absolute_url()
        if not self.is_relative:
            return Point(label, point.value, score.low, score.high, x, href=href)
        if point.percent is None:
            return None
        return Point(label, point.percent, point.percent_low, point.percent_high, x, href=href)


@dataclass(frozen=True)
class Curve:
    """A series with its scores and the name by which a page tells it from others."""

    name: str
    series: Series
    points: Sequence[StepScore]

    def line(self, look: Look) -> Trajectory:
        """Return the line of a plot that shows it."""
        return _trajectory(self.name, self.points, look, is_measured=self.series.is_measured)


def _trajectory(name: str, points: Sequence[StepScore], look: Look, *, is_measured: bool) -> Trajectory:
    plotted = [look.point(point) for point in points]
    return Trajectory(name, [point for point in plotted if point], is_measured)


def curve_names(series: Sequence[Series]) -> list[str]:
    """Return a name for each series: its model where there are several, and who measured it where that differs."""
    several_models = len({part.model.hub_id for part in series}) > 1
    several_sources = len({part.last.provenance for part in series}) > 1
    names: list[str] = []
    for part in series:
        model = part.model.hub_id if several_models else ""
        source = _source(part.last) if several_sources or not model else ""
        name = visible(", ".join(filter(None, [model, part.model.weights_in_words, source])))
        names.append(f"{name}, to run {part.last.pk}" if name in names else name)
    return names


def _source(run: Run) -> str:
    return "measured here" if run.provenance == Run.Provenance.MEASURED else run.get_provenance_display().lower()


def score_section(curves: Sequence[Curve], metric: str, look: Look, chance: float | None) -> Section:
    """Return the section with the overall scores of all curves."""
    lines = [curve.line(look) for curve in curves]
    figure = trajectories(lines, look.scale, look.y_title(metric), None if look.is_relative else chance)
    parts = [_in_words(curve, metric, with_name=len(curves) > 1) for curve in curves]
    summary = " ".join([*parts, *left_out(lines, look)])
    rows = [PointRow(curve.name, point) for curve in curves for point in curve.points]
    title = f"{metric} during the training"
    return Section("points", title, points_table(rows, metric), Chart("points", title, summary, figure))


def _in_words(curve: Curve, metric: str, *, with_name: bool) -> str:
    sentence = headline(metric, curve.points)
    return f"{labels.sentence(curve.name)}: {sentence}" if with_name else sentence


def left_out(lines: Sequence[Trajectory], look: Look) -> list[str]:
    """Say which points a logarithmic axis cannot show."""
    number = sum(not look.scale.holds(point) for line in lines for point in line.points)
    if not number:
        return []
    return [f"{number} point{' at 0 has' if number == 1 else 's at 0 have'} no place on a logarithmic axis."]


def curves_section(
    curve: Curve,
    groups: Mapping[str, Sequence[StepScore]],
    rows: Sequence[GroupRow],
    dimension: str,
    metric: str,
    look: Look,
) -> Section:
    """Return the section with a curve for each of the groups that changed most; the table has all of them.

    `rows`: the groups, those that changed most first.
    """
    titles = {row.name: row.title for row in rows}
    charted = rows[:MOST_CURVES]
    is_measured = curve.series.is_measured
    lines = [_trajectory(row.title, groups[row.name], look, is_measured=is_measured) for row in charted]
    lines = [line._replace(points=[point._replace(low=None, high=None) for point in line.points]) for line in lines]
    figure = trajectories(lines, look.scale, look.y_title(metric))
    title = f"{metric} by {dimension}"
    shown = {name: groups[name] for name in titles}
    return Section(
        "curves", title, curves_table(shown, titles), Chart("curves", title, _groups_summary(rows), figure), _note(rows)
    )


def _groups_summary(rows: Sequence[GroupRow]) -> str:
    most, least = rows[0], rows[-1]
    return (
        f"{most.title} changes most, from {most.first.value:.3f} to {most.last.value:.3f}; "
        f"{least.title} least, from {least.first.value:.3f} to {least.last.value:.3f}."
    )


def _note(rows: Sequence[GroupRow]) -> str:
    return f"The chart has the {MOST_CURVES} that changed most, of {len(rows)}." if len(rows) > MOST_CURVES else ""


def differences_section(first: Curve, second: Curve) -> Section:
    """Return the section with the differences of two series at their common steps."""
    table = differences_table(common_steps(first.points, second.points), (first.name, second.name))
    note = (
        "Second minus first. Both were asked the same questions, and the intervals are those of a paired comparison "
        "wherever the answers to single questions are stored here; elsewhere they treat the two as independent."
    )
    return Section("differences", f"{second.name} against {first.name}", table, note=note)


def training_section(curve: Curve, metric: str) -> Section:
    """Return the small section of a model's page: the curve of its main series without a table."""
    figure = trajectories([curve.line(Look())], Look().scale, labels.within(metric), height=SMALL)
    title = f"During its training: {metric} on {curve.series.benchmark.title}"
    return Section("training", title, None, Chart("training", title, headline(metric, curve.points), figure))
