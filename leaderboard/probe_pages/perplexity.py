"""What perplexity adds: the two distributions and the p-values of a run, the paper's figures for all models."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any, NamedTuple

import numpy as np

from leaderboard.display import cells, charts, labels
from leaderboard.display.breakdowns import provenance
from leaderboard.display.charts import Chart, Point
from leaderboard.display.sections import Section, Sections
from leaderboard.display.tables import Column, Table
from leaderboard.lists import queries
from leaderboard.models import Benchmark, Run, Score
from leaderboard.stored import benchmarks, item_rows
from leaderboard.stored.item_rows import ItemFilter, ItemsMissing
from probing.errors import ProbingError

LEVEL = log10(0.05)
DRAWN = 200  # quantiles that stand for a distribution in a chart
TESTS = ("", "_less", "_welch", "_mann_whitney")
STATISTICS = ("mean", "std", "median", "spread")


class Spread(NamedTuple):
    """Perplexities of true or of false statements."""

    truth: str
    n: int
    quantiles: Sequence[float]


class Repetition(NamedTuple):
    """Its scores by metric."""

    number: str
    scores: Mapping[str, float | None]


@dataclass(frozen=True)
class Summary:
    """A run, its overall scores by metric, and the logarithms of its p-values."""

    run: Run
    scores: Mapping[str, float | None]
    log10_p: Sequence[float]

    @property
    def label(self) -> str:
        published = self.run.provenance == Run.Provenance.PUBLISHED
        settings = ", by word" if self.run.settings.get("by") == "word" else ""
        return f"{self.run.model.hub_id}{settings}{' (published)' if published else ''}"

    def logarithm(self, statistic: str) -> float | None:
        """Of a statistic of the p-values; none where it is zero or was not published."""
        if statistic == "median" and self.scores.get("log10_p_median") is not None:
            return self.scores["log10_p_median"]
        value = self.scores.get(f"p_value_{statistic}")
        return log10(value) if value else None


def of_run(run: Run) -> list[Section]:
    return [*_distributions(run), *_p_values(run)]


def of_benchmark(benchmark: Benchmark) -> list[Section]:
    """How the sample was drawn, box plots of all runs that have p-values, and what they are summed up by."""
    found = [summary for summary in summaries(benchmark) if summary.log10_p]
    return [*_sample(benchmark), *(_of_models(found) if found else [])]


def _sample(benchmark: Benchmark) -> list[Section]:
    """Nothing where the files are not here or were changed."""
    try:
        notes = benchmarks.read(benchmark).notes if benchmark.path else ()
    except ProbingError:
        return []
    return [Section("sample", "The sample", note=" ".join(notes))] if notes else []


def _of_models(found: Sequence[Summary]) -> list[Section]:
    boxes = charts.boxes({one.label: one.log10_p for one in found}, "p-value", LEVEL)
    title = "p-values of all models"
    words_ = f"p-values over repetitions of {len(found)} runs, on a logarithmic axis; the dotted line is p = 0.05."
    return [
        Section("p-values", title, _summary_table(found), Chart("p-values", title, words_, boxes)),
        _pair(found, "mean", "std"),
        _pair(found, "median", "spread"),
        *(_against_size(found, statistic) for statistic in STATISTICS),
    ]


SECTIONS = Sections(of_run, of_benchmark)


def _distributions(run: Run) -> list[Section]:
    try:
        found = perplexities(run)
    except ItemsMissing:
        return []
    table: Table[Spread] = Table(
        name="distributions",
        caption="Perplexities of true and false statements",
        columns=[
            Column("truth", "Statements", lambda row: cells.text(row.truth), align="head"),
            Column("n", "Number", lambda row: cells.number(row.n), align="number"),
            *map(_quantile_column, (5, 25, 50, 75, 95)),
        ],
        rows=found,
        sortable=False,
    )
    violins = charts.violins({row.truth: np.log10(row.quantiles).tolist() for row in found}, "perplexity")
    medians = " against ".join(f"{row.quantiles[DRAWN // 2]:,.0f} of {row.truth} ones" for row in found)
    title = "Perplexities of true and false statements"
    return [Section("distributions", title, table, Chart("distributions", title, f"Median: {medians}.", violins))]


def _quantile_column(percent: int) -> Column[Spread]:
    def cell(row: Spread) -> cells.Cell:
        return cells.number(row.quantiles[percent * DRAWN // 100], 1)

    return Column(f"p{percent}", f"{percent} %", cell, align="number")


def perplexities(run: Run) -> list[Spread]:
    """Quantiles from the smallest to the largest, of true and of false statements."""
    values: dict[bool, list[float]] = {True: [], False: []}
    for row in item_rows.rows(run, item_rows.find(run, ItemFilter()), ["true", "perplexity"]):
        values[row["true"]].append(row["perplexity"])
    steps = np.linspace(0, 1, DRAWN + 1)
    return [
        Spread(name, len(values[true]), np.quantile(values[true], steps).tolist())
        for true, name in ((True, "true"), (False, "false"))
        if values[true]
    ]


def _p_values(run: Run) -> list[Section]:
    found = repetitions(run.scores.filter(dimension="repetition").order_by("pk"))
    logarithms = [value for row in found if (value := _log10_p(row.scores)) is not None]
    if not logarithms:
        return []
    title = "p-values over repetitions"
    words_ = (
        f"log₁₀ p of {len(logarithms)} repetitions: median {np.median(logarithms):.1f}, from {min(logarithms):.1f} to "
        f"{max(logarithms):.1f}. The dotted line is p = 0.05."
    )
    drawn = charts.boxes({"p-value": logarithms}, "p-value", LEVEL)
    return [Section("p-values", title, _repetitions_table(found), Chart("p-values", title, words_, drawn))]


def repetitions(scores: Iterable[Score]) -> list[Repetition]:
    found: dict[str, dict[str, float | None]] = {}
    for score in scores:
        found.setdefault(score.group, {})[score.metric] = score.value
    return [Repetition(*each) for each in found.items()]


def _log10_p(scores: Mapping[str, float | None]) -> float | None:
    """As stored, or of a published p-value."""
    if scores.get("log10_p") is not None:
        return scores["log10_p"]
    value = scores.get("p_value")
    return log10(value) if value else None


def _repetitions_table(found: Sequence[Repetition]) -> Table[Repetition]:
    def column(metric: str) -> Column[Repetition]:
        return Column(metric, labels.metric(metric), lambda row: _small(row.scores.get(metric)), align="number")

    return Table(
        name="p-values",
        caption="p-values over repetitions",
        columns=[
            Column("repetition", "Repetition", lambda row: cells.text(row.number), align="head"),
            column("p_value"),
            Column("log10_p", "log₁₀ p", lambda row: cells.number(_log10_p(row.scores), 1), align="number"),
            *(column(f"p_value{test}") for test in TESTS[1:] if f"p_value{test}" in found[0].scores),
        ],
        rows=found,
    )


def _small(value: float | None) -> cells.Cell:
    """A p-value, which may be very small, with three figures."""
    return cells.Cell(value, "–" if value is None else f"{value:.2e}", kind="number")


def summaries(benchmark: Benchmark) -> list[Summary]:
    """Every finished run of the benchmark, measured and published. Two queries."""
    runs = list(queries.finished_runs(benchmark).order_by("provenance", "model__hub_id", "pk"))
    overall: dict[int, dict[str, float | None]] = {}
    repeated: dict[int, dict[str, dict[str, float | None]]] = {}
    for score in Score.objects.filter(run__in=runs, dimension__in=("overall", "repetition")).order_by("pk"):
        if score.dimension == "overall":
            overall.setdefault(score.run_id, {})[score.metric] = score.value
        else:
            repeated.setdefault(score.run_id, {}).setdefault(score.group, {})[score.metric] = score.value
    return [Summary(run, overall.get(run.pk, {}), _logarithms(repeated.get(run.pk, {}).values())) for run in runs]


def _logarithms(repetitions: Iterable[Mapping[str, float | None]]) -> list[float]:
    return [value for scores in repetitions if (value := _log10_p(scores)) is not None]


def _summary_table(found: Sequence[Summary]) -> Table[Summary]:
    def column(metric: str, cell: Any = _small) -> Column[Summary]:
        return Column(metric, labels.metric(metric), lambda row: cell(row.scores.get(metric)), align="number")

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
            Column("provenance", "Source", lambda row: provenance(row.run)),
        ],
        rows=found,
        cards=True,
    )


def _pair(found: Sequence[Summary], x: str, y: str) -> Section:
    """One statistic against the other; a statistic of zero has no place on a logarithmic axis."""
    points = [
        Point(one.label, up, x=across, group=_kind(one), href=one.run.get_absolute_url())
        for one in found
        if (across := one.logarithm(x)) is not None and (up := one.logarithm(y)) is not None
    ]
    title = f"{labels.metric(f'p_value_{x}')} and {labels.metric(f'p_value_{y}').lower()}"
    plot = charts.powers(points, labels.metric(f"p_value_{x}").lower(), labels.metric(f"p_value_{y}").lower())
    return Section(f"{x}-{y}", title, chart=Chart(f"{x}-{y}", title, f"{title} of {len(points)} runs.", plot))


def _against_size(found: Sequence[Summary], statistic: str) -> Section:
    points = [
        Point(one.label, value, x=one.run.model.parameters, group=_kind(one), href=one.run.get_absolute_url())
        for one in found
        if (value := one.logarithm(statistic)) is not None and one.run.model.parameters
    ]
    metric = labels.metric(f"p_value_{statistic}")
    plot = charts.powers_against_parameters(points, metric.lower())
    said = f"{metric} of {len(points)} runs against their numbers of parameters."
    return Section(f"size-{statistic}", f"{metric} and size", chart=Chart(f"size-{statistic}", metric, said, plot))


def _kind(one: Summary) -> str:
    published = one.run.provenance == Run.Provenance.PUBLISHED
    return f"{one.run.model.kind or 'unknown kind'}{', published' if published else ''}"
