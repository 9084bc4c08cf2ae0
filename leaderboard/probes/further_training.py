"""The accuracy that a model keeps after further training, which papers publish relative to that before it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.figures.scores import OVERALL_SLICE
from leaderboard.models import Run, Score
from leaderboard.ui import cells
from leaderboard.ui.charts.basics import Point
from leaderboard.ui.charts.plots import Scale, Trajectory, trajectories
from leaderboard.ui.sections import Section, section
from leaderboard.ui.tables import PUBLISHED, Column, Table, citation, model_column, source_column

TITLE = "What is left after further training"
NOTE = (
    "Accuracy kept: that after each step of a further training, divided by that of the same model before it, which is "
    "1 by definition. These figures say how much a model forgets, not how much it knows."
)
# By the metric of what is kept: that of the accuracy before the training, and how the questions were asked.
WAYS: Mapping[str, tuple[str, str]] = {
    "relative_accuracy_lm_pub_quiz": ("accuracy_lm_pub_quiz", "multiple choice"),
    "relative_accuracy_mask_predict": ("accuracy_mask_predict", "filled blank"),
}
TRAINING_METRICS = (*WAYS, *(before for before, _ in WAYS.values()))


@dataclass(frozen=True)
class Training:
    """A model in further training: by metric, its accuracy before and the share of it kept after each step."""

    run: Run
    trained_on: str
    before: Mapping[str, float | None]
    kept: Mapping[str, Mapping[int, float | None]]

    @property
    def name(self) -> str:
        return self.run.model.hub_id


def training_sections(runs: Sequence[Run]) -> list[Section]:
    """Return the section with one row per model, or nothing where no run has such figures. One query."""
    rows = trainings(runs)
    if not rows:
        return []
    lines = [
        Trajectory(f"{row.name}, {way}", _points(row, row.kept[metric]), is_measured=False)
        for row in rows
        for metric, (_, way) in WAYS.items()
        if metric in row.kept
    ]
    last = [row.kept[metric][max(row.kept[metric])] or 0.0 for row in rows for metric in row.kept]
    summary = (
        f"After the last step, between {100 * min(last):.0f} % and {100 * max(last):.0f} % of the accuracy is left."
    )
    scale = Scale("step of the further training", "after step %{x}")
    figure = trajectories(lines, scale, "share of the accuracy kept")
    return [section(_table(rows), (summary, figure), NOTE, title=TITLE)]


def _points(row: Training, kept: Mapping[int, float | None]) -> list[Point]:
    address = row.run.get_absolute_url()
    return [Point(row.name, value, x=step, href=address) for step, value in sorted(kept.items()) if value is not None]


def trainings(runs: Sequence[Run]) -> list[Training]:
    """Return a row for each model and each text that it was trained on, in the order of the runs."""
    scores = Score.objects.filter(run__in=runs, dimension=OVERALL_SLICE.dimension, metric__in=TRAINING_METRICS)
    figures: dict[int, dict[str, float | None]] = {}
    for score in scores.order_by("pk"):
        figures.setdefault(score.run_id, {})[score.metric] = score.value
    steps = [run for run in runs if run.pk in figures and "experience" in run.settings.get("options", {})]
    bases = {run.model_id: figures[run.pk] for run in runs if run.pk in figures and run not in steps}
    by_training: dict[tuple[int, str], list[Run]] = {}
    for run in steps:
        by_training.setdefault((run.model_id, str(run.option("trained_on", ""))), []).append(run)
    return [
        Training(members[0], trained_on, bases.get(model, {}), _kept(members, figures))
        for (model, trained_on), members in by_training.items()
    ]


def _kept(runs: Sequence[Run], figures: Mapping[int, Mapping[str, float | None]]) -> dict[str, dict[int, float | None]]:
    kept: dict[str, dict[int, float | None]] = {}
    for run in runs:
        for metric in figures[run.pk].keys() & WAYS.keys():
            kept.setdefault(metric, {})[int(run.option("experience"))] = figures[run.pk][metric]
    return kept


def _table(rows: Sequence[Training]) -> Table[Training]:
    steps = sorted({step for row in rows for by_step in row.kept.values() for step in by_step})
    return Table(
        name="training",
        caption="Accuracy before further training, and the share of it that is kept",
        columns=[
            model_column(lambda row: row.run),
            Column("trained_on", "Trained on", lambda row: cells.text(row.trained_on)),
            *(column for metric in WAYS for column in _way_columns(metric, steps)),
            source_column(lambda row: row.run, shown=False),
        ],
        rows=rows,
        heading=lambda row: f"{PUBLISHED}: {citation(row.run)}",
    )


def _way_columns(metric: str, steps: Sequence[int]) -> list[Column[Training]]:
    before, way = WAYS[metric]
    help_text = f"Accuracy by {way} before the further training; behind it the share that is left after each step."
    return [
        Column(before, way.capitalize(), lambda row: cells.number(row.before.get(before)), help_text, align="number"),
        *(_step_column(metric, step) for step in steps if step),
    ]


def _step_column(metric: str, step: int) -> Column[Training]:
    return Column(
        f"{metric}_{step}",
        f"after {step}",
        lambda row: cells.number(row.kept.get(metric, {}).get(step)),
        f"Share of the accuracy before the training that is left after step {step}.",
        align="number",
    )
