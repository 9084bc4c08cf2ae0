"""The accuracy that a model keeps after further training, which papers publish relative to that before it."""

from collections.abc import Mapping, Sequence

from leaderboard.figures.scores import OVERALL_SLICE, scores_of
from leaderboard.models import Entry
from leaderboard.probes.probe_pages import run_columns
from leaderboard.tables import Row
from leaderboard.ui.charts.basics import Chart, Point
from leaderboard.ui.charts.plots import trajectories
from leaderboard.ui.labels import PUBLISHED

TITLE = "What is left after further training"
# By the metric of what is kept: that of the accuracy before the training, and how the questions were asked.
WAYS: Mapping[str, tuple[str, str]] = {
    "relative_accuracy_lm_pub_quiz": ("accuracy_lm_pub_quiz", "multiple choice"),
    "relative_accuracy_mask_predict": ("accuracy_mask_predict", "filled blank"),
}
TRAINING_METRICS = (*WAYS, *(before for before, _ in WAYS.values()))
Figures = Mapping[int, Mapping[str, float | None]]  # by run and metric


def trainings(runs: Sequence[Entry]) -> list[Row]:
    """Return a row for each model and each text that it was trained on, in the order of the runs. One query."""
    figures: dict[int, dict[str, float | None]] = {}
    for score in scores_of(runs, TRAINING_METRICS, [OVERALL_SLICE.dimension]):
        figures.setdefault(score.run_id, {})[score.metric] = score.value
    after = [run for run in runs if run.pk in figures and "experience" in run.settings.get("options", {})]
    before = {run.model_id: figures[run.pk] for run in runs if run.pk in figures and run not in after}
    by_training: dict[tuple[int, str], list[Entry]] = {}
    for run in after:
        by_training.setdefault((run.model_id, str(run.option("trained_on", ""))), []).append(run)
    rows = [
        _training(members, trained_on, before.get(model, {}), figures)
        for (model, trained_on), members in by_training.items()
    ]
    names = columns(rows)
    return [{**dict.fromkeys(names), **row} for row in rows]


def _training(runs: Sequence[Entry], trained_on: str, before: Mapping[str, float | None], figures: Figures) -> Row:
    kept: dict[str, dict[int, float | None]] = {}
    for run in runs:
        for metric in figures[run.pk].keys() & WAYS.keys():
            kept.setdefault(metric, {})[int(run.option("experience"))] = figures[run.pk][metric]
    of_steps = {f"{metric}_{step}": value for metric, steps in kept.items() for step, value in steps.items()}
    return {
        **run_columns(runs[0]),
        "heading": f"{PUBLISHED}: {runs[0].citation}",
        "kept": kept,
        "trained_on": trained_on,
        **{metric: before.get(metric) for metric, _ in WAYS.values()},
        **of_steps,
    }


def columns(rows: Sequence[Row]) -> list[str]:
    """Return the columns of the table: of each way to ask, the accuracy before and what is left after each step."""
    steps = sorted({step for row in rows for by_step in row["kept"].values() for step in by_step if step})
    of_ways = [
        name for metric, (before, _) in WAYS.items() for name in (before, *(f"{metric}_{step}" for step in steps))
    ]
    return ["model", "trained_on", *of_ways, "provenance"]


def titles(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Return the columns of figures with their titles."""
    of_ways = {before: way.capitalize() for before, way in WAYS.values()}
    return [(name, of_ways.get(name) or f"after {name.rpartition('_')[2]}") for name in columns(rows)[2:-1]]


def chart(rows: Sequence[Row]) -> list[Chart]:
    """Return a line for each training and each way to ask; nothing without any."""
    if not rows:
        return []
    ways = [(row, row["kept"].get(metric, {}), way) for row in rows for metric, (_, way) in WAYS.items()]
    points = [point for row, kept, way in ways for point in _line(row, kept, way)]
    last = [steps[max(steps)] or 0.0 for row in rows for steps in row["kept"].values()]
    words = f"After the last step, between {100 * min(last):.0f} % and {100 * max(last):.0f} % of the accuracy is left."
    axis = ("step of the further training", "after step %{x}")
    figure = trajectories(points, axis, "share of the accuracy kept", hollow={point.group for point in points})
    return [Chart("training", TITLE, words, figure)]


def _line(row: Row, kept: Mapping[int, float | None], way: str) -> list[Point]:
    name, href = row["run"].model.hub_id, row["run"].get_absolute_url()
    steps = [(step, value) for step, value in sorted(kept.items()) if value is not None]
    return [Point(name, value, x=step, group=f"{name}, {way}", href=href) for step, value in steps]
