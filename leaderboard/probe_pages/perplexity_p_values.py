"""p-values of perplexity: over the repetitions of a run, and of all models."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import log10

import numpy as np

from leaderboard.display import cells, charts
from leaderboard.display.charts import Chart
from leaderboard.display.columns import MEASURED, PUBLISHED, citation, source_column
from leaderboard.display.figures import figure
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.lists.runs import finished_runs
from leaderboard.models import Benchmark, Run, Score
from leaderboard.probe_pages.perplexity_metrics import METRIC_LABELS, TESTS, GroupScores, ScoreValues, scores_by_group
from probing.analysis.perplexity import PHRASING_METRICS

SIGNIFICANCE = log10(0.05)
STATISTICS = ("mean", "std", "median", "spread")


@dataclass(frozen=True)
class RunSummary:
    """A run, its overall scores, and the logarithms of its p-values."""

    run: Run
    scores: ScoreValues
    log10_p: Sequence[float]

    @property
    def label(self) -> str:
        settings = ", by word" if self.run.option("by", "token") == "word" else ""
        return f"{self.run.model.hub_id}{settings}"


def models_section(rows: Sequence[RunSummary]) -> Section:
    """Return one box of p-values for each run; the table has the statistics that the paper plots."""
    mixed = len({row.run.is_published for row in rows}) > 1
    labels = [f"{row.label} (published)" if mixed and row.run.is_published else row.label for row in rows]
    addresses = {label: row.run.get_absolute_url() for label, row in zip(labels, rows, strict=True)}
    values = {label: row.log10_p for label, row in zip(labels, rows, strict=True)}
    boxes = charts.boxes(values, "p-value", SIGNIFICANCE, addresses)
    title = "p-values of all models"
    summary = f"p-values over repetitions of {len(rows)} runs, on a logarithmic axis; the dotted line is p = 0.05."
    return Section("p-values", title, _summary_table(rows), Chart("p-values", title, summary, boxes))


def p_values_section(run: Run) -> list[Section]:
    """Return the section with the p-values of repetitions; nothing where there are none."""
    rows = scores_by_group(run.scores.filter(dimension="repetition").order_by("pk"))
    logarithms = [value for row in rows if (value := _log10_p(row.scores)) is not None]
    if not logarithms:
        return []
    title = "p-values over repetitions"
    ends = (float(np.median(logarithms)), min(logarithms), max(logarithms))
    middle, least, most = (cells.number(value, digits=1).text for value in ends)
    summary = (
        f"log₁₀ p of {len(logarithms)} repetitions: median {middle}, from {least} to {most}. "
        "The dotted line is p = 0.05."
    )
    boxes = charts.boxes({"p-value": logarithms}, "p-value", SIGNIFICANCE)
    return [Section("p-values", title, _repetitions_table(rows), Chart("p-values", title, summary, boxes))]


def _log10_p(scores: ScoreValues) -> float | None:
    """Return the stored logarithm, or that of a published p-value."""
    if scores.get("log10_p") is not None:
        return scores["log10_p"]
    value = scores.get("p_value")
    return log10(value) if value else None


def _repetitions_table(rows: Sequence[GroupScores]) -> Table[GroupScores]:
    def column(metric: str) -> Column[GroupScores]:
        return Column(metric, METRIC_LABELS[metric], lambda row: _small(row.scores.get(metric)), align="number")

    return Table(
        name="p-values",
        caption="p-values over repetitions",
        columns=[
            Column("repetition", "Repetition", lambda row: cells.text(row.name), align="head"),
            column("p_value"),
            Column("log10_p", "log₁₀ p", lambda row: cells.number(_log10_p(row.scores), 1), align="number"),
            *(column(f"p_value{test}") for test in TESTS if test and f"p_value{test}" in rows[0].scores),
        ],
        rows=rows,
    )


def _small(value: float | None) -> cells.Cell:
    """Return a p-value, as a digit and a power of ten where it is very small."""
    return cells.Cell(value, "–" if value is None else figure(value), kind="number")


def summaries(benchmark: Benchmark) -> list[RunSummary]:
    """Return every finished run of the benchmark, measured and published. Two queries."""
    runs = list(finished_runs(benchmark).order_by("provenance", "model__hub_id", "pk"))
    overall: dict[int, dict[str, float | None]] = {}
    repeated: dict[int, dict[str, dict[str, float | None]]] = {}
    for score in Score.objects.filter(run__in=runs, dimension__in=("overall", "repetition")).order_by("pk"):
        if score.dimension == "overall":
            overall.setdefault(score.run_id, {})[score.metric] = score.value
        else:
            repeated.setdefault(score.run_id, {}).setdefault(score.group, {})[score.metric] = score.value
    return [RunSummary(run, overall.get(run.pk, {}), _logarithms(repeated.get(run.pk, {}).values())) for run in runs]


def _logarithms(repetitions: Iterable[ScoreValues]) -> list[float]:
    return [value for scores in repetitions if (value := _log10_p(scores)) is not None]


def _source(row: RunSummary) -> str:
    """Return what stands above the runs of one source."""
    return f"{PUBLISHED}: {citation(row.run)}" if row.run.is_published else MEASURED


def _summary_table(rows: Sequence[RunSummary]) -> Table[RunSummary]:
    def column(metric: str, cell: Callable[[float | None], cells.Cell] = _small) -> Column[RunSummary]:
        return Column(metric, METRIC_LABELS[metric], lambda row: cell(row.scores.get(metric)), align="number")

    return Table(
        name="p-values",
        caption="p-values over repetitions, by model",
        columns=[
            Column("model", "Model", lambda row: cells.text(row.label, href=row.run.get_absolute_url()), align="head"),
            Column("parameters", "Parameters", lambda row: cells.parameters(row.run.model.parameters), align="number"),
            Column("repetitions", "Repetitions", lambda row: cells.number(len(row.log10_p)), align="number"),
            *(column(f"p_value_{statistic}") for statistic in STATISTICS),
            column("log10_p_median", cells.number),
            column("superiority", cells.number),
            column("cohens_d", cells.number),
            *(column(metric, cells.number) for metric in PHRASING_METRICS),
            source_column(lambda row: row.run, shown=False),
        ],
        rows=sorted(rows, key=lambda row: (row.run.is_published, _source(row))),
        heading=_source,
    )
