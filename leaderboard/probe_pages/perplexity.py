"""The pages of perplexity: the two distributions and the p-values of a run, the paper's figures for all models."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log10
from typing import NamedTuple

import numpy as np

from leaderboard.display import cells, charts, labels
from leaderboard.display.charts import Chart
from leaderboard.display.columns import (
    MEASURED,
    PUBLISHED,
    citation,
    interval_columns,
    score_points,
    source_column,
    summary,
)
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.lists.compared_runs import ModelAnswer
from leaderboard.lists.runs import finished_runs
from leaderboard.models import Benchmark, Run, Score
from leaderboard.probe_pages.item_columns import ItemColumns
from leaderboard.probe_pages.item_pages import ItemPage, ItemRow, facts_table
from leaderboard.probe_pages.pages import Json, ProbePages
from leaderboard.probe_pages.perplexity_comparison import comparison_sections
from leaderboard.probe_pages.question_forms import STATEMENT
from leaderboard.probe_pages.questions_in_words import wording
from leaderboard.stored import benchmarks, item_rows
from leaderboard.stored.item_rows import ItemFilter, ItemsMissing
from probing.analysis.perplexity import BEST, MEAN, PHRASING_METRICS, SPREAD, TEMPLATE, TOKENIZER_NOTE
from probing.errors import ProbingError

SIGNIFICANCE = log10(0.05)
QUANTILES = 200  # number of quantiles that stand for a distribution in a chart
TESTS = {"": "", "_less": "one-sided", "_welch": "Welch", "_mann_whitney": "Mann-Whitney"}
STATISTICS = ("mean", "std", "median", "spread")
METRIC_LABELS = {
    "superiority": "Probability of superiority",
    "cohens_d": "Cohen's d",
    "discriminates": "Discriminating repetitions",
    MEAN: "Mean over phrasings",
    BEST: "Best phrasing",
    SPREAD: "Best minus worst phrasing",
    "perplexity_median": "Median perplexity",
    "perplexity_corpus": "Corpus perplexity",
    "p_value_mean": "Mean p-value",
    "p_value_std": "Standard deviation of p-values",
    "p_value_median": "Median p-value",
    "p_value_spread": "Range of p-values",
    **{f"p_value{name}": ", ".join(filter(None, ["p-value", test])) for name, test in TESTS.items()},
    **{f"log10_p{name}": ", ".join(filter(None, ["log₁₀ p", test])) for name, test in TESTS.items()},
    **{f"log10_p{name}_median": f"{' '.join(filter(None, ['log₁₀ p', test]))}, median" for name, test in TESTS.items()},
}
ITEM_COLUMNS = ItemColumns(
    ("subject", "true", "perplexity", "tokens"),
    titles=lambda run, values: {"subject": "Statement", "log_prob": "Log-probability"},
    brief=("subject", "true", "perplexity"),
)
ScoreValues = Mapping[str, float | None]  # by metric


class Distribution(NamedTuple):
    """Perplexities of true or of false statements, as quantiles from the smallest to the largest."""

    truth: str
    n: int
    quantiles: Sequence[float]


class GroupScores(NamedTuple):
    """The scores of one repetition, or of another group."""

    name: str
    scores: ScoreValues


@dataclass(frozen=True)
class RunSummary:
    """A run, its overall scores, and the logarithms of its p-values."""

    run: Run
    scores: ScoreValues
    log10_p: Sequence[float]

    @property
    def label(self) -> str:
        settings = ", by word" if self.run.option("by", "token") == "word" else ""
        return f"{self.run.model.hub_id}{settings}{' (published)' if self.run.is_published else ''}"


def run_sections(run: Run) -> list[Section]:
    """Return distributions of perplexities, figures by phrasing and by truth, and the p-values over repetitions."""
    return [*_distributions_section(run), *_phrasings_section(run), *_truth_section(run), *_p_values_section(run)]


def benchmark_sections(benchmark: Benchmark) -> list[Section]:
    """Return sections about the sample, and with p-values and their statistics for all runs that have them."""
    rows = [row for row in summaries(benchmark) if row.log10_p]
    return [*_sample_section(benchmark), *([_models_section(rows)] if rows else [])]


def _sample_section(benchmark: Benchmark) -> list[Section]:
    """Return the section about the sample; nothing where the files are not here or were changed."""
    try:
        notes = benchmarks.read(benchmark).notes if benchmark.path else ()
    except ProbingError:
        return []
    return [Section("sample", "How the sample was drawn", note=" ".join(notes))] if notes else []


def _models_section(rows: Sequence[RunSummary]) -> Section:
    """Return one box of p-values for each run; the table has the statistics that the paper plots."""
    addresses = {row.label: row.run.get_absolute_url() for row in rows}
    boxes = charts.boxes({row.label: row.log10_p for row in rows}, "p-value", SIGNIFICANCE, addresses)
    title = "p-values of all models"
    summary = f"p-values over repetitions of {len(rows)} runs, on a logarithmic axis; the dotted line is p = 0.05."
    return Section("p-values", title, _summary_table(rows), Chart("p-values", title, summary, boxes))


def _distributions_section(run: Run) -> list[Section]:
    """Return the section with both distributions; nothing where the run's items are not stored."""
    try:
        rows = perplexities(run)
    except ItemsMissing:
        return []
    title = "Perplexities of true and false statements"
    table: Table[Distribution] = Table(
        name="distributions",
        caption=title,
        columns=[
            Column("truth", "Statements", lambda row: cells.text(row.truth), align="head"),
            Column("n", "Number", lambda row: cells.number(row.n), align="number"),
            *map(_quantile_column, (5, 25, 50, 75, 95)),
        ],
        rows=rows,
        sortable=False,
    )
    violins = charts.violins({row.truth: np.log10(row.quantiles).tolist() for row in rows}, "perplexity")
    medians = " and ".join(f"{row.quantiles[QUANTILES // 2]:,.0f} of {row.truth} statements" for row in rows)
    summary = f"Median perplexity: {medians}."
    return [Section("distributions", title, table, Chart("distributions", title, summary, violins))]


def _phrasings_section(run: Run) -> list[Section]:
    """Return the superiority with each phrasing of the statements, and over phrasings; nothing with one phrasing."""
    scores = list(run.scores.filter(dimension=TEMPLATE, metric="superiority").order_by("pk"))
    if not scores:
        return []
    over = dict(run.scores.filter(metric__in=PHRASING_METRICS).values_list("metric", "value"))
    title = f"{METRIC_LABELS['superiority']} by phrasing"
    points = score_points((wording(score.group), score) for score in scores)
    table = Table(
        name=TEMPLATE,
        caption=title,
        columns=[
            Column("group", "Phrasing", lambda score: cells.text(wording(score.group)), align="head"),
            Column("value", METRIC_LABELS["superiority"], cells.of_score, align="score"),
            *interval_columns(lambda score: score),
            Column("n", "Statements", lambda score: cells.items(score.n), align="number"),
        ],
        rows=scores,
    )
    figures = [f"{METRIC_LABELS[metric].lower()} {over[metric]:.3f}" for metric in PHRASING_METRICS if metric in over]
    note = labels.sentence(", ".join(figures)) + ". The main figure takes the geometric mean of each statement."
    chart = Chart(TEMPLATE, title, summary(title, points), charts.dots(points, title="probability of superiority"))
    return [Section(TEMPLATE, "By phrasing", table, chart, note)]


def _truth_section(run: Run) -> list[Section]:
    """Return the perplexities of true and of false sentences, with the reason why they belong to this run only."""
    rows = scores_by_group(run.scores.filter(dimension="truth").order_by("pk"))
    metrics = ("perplexity_median", "perplexity_corpus")

    def column(metric: str) -> Column[GroupScores]:
        return Column(
            metric, METRIC_LABELS[metric], lambda row: cells.number(row.scores.get(metric), 1), align="number"
        )

    columns = [Column[GroupScores]("group", "Sentences", lambda row: cells.text(row.name), align="head")]
    table = Table("truth", "Median and corpus perplexity", [*columns, *map(column, metrics)], rows)
    return [Section("truth", table.caption, table, note=TOKENIZER_NOTE)] if rows else []


def _quantile_column(percent: int) -> Column[Distribution]:
    def cell(row: Distribution) -> cells.Cell:
        return cells.number(row.quantiles[percent * QUANTILES // 100], 1)

    return Column(f"p{percent}", f"{percent} %", cell, align="number")


def perplexities(run: Run) -> list[Distribution]:
    """Return the distributions of true and of false statements."""
    values: dict[bool, list[float]] = {True: [], False: []}
    for row in item_rows.rows(run, item_rows.find(run, ItemFilter()), ["true", "perplexity"]):
        values[row["true"]].append(row["perplexity"])
    steps = np.linspace(0, 1, QUANTILES + 1)
    return [
        Distribution(name, len(values[true]), np.quantile(values[true], steps).tolist())
        for true, name in ((True, "true"), (False, "false"))
        if values[true]
    ]


def _p_values_section(run: Run) -> list[Section]:
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


def scores_by_group(scores: Iterable[Score]) -> list[GroupScores]:
    """Group scores by repetition, or by the groups of another dimension, in stored order."""
    by_repetition: dict[str, dict[str, float | None]] = {}
    for score in scores:
        by_repetition.setdefault(score.group, {})[score.metric] = score.value
    return [GroupScores(name, values) for name, values in by_repetition.items()]


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
    return cells.Cell(value, "–" if value is None else cells.figure(value), kind="number")


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


def item_page(item: ItemRow) -> ItemPage:
    """Return the page of a statement with everything that is stored of it."""
    return ItemPage("item_facts.html", {}, [facts_table(item, ITEM_COLUMNS)])


def published_scores(settings: Json, scores: Sequence[Json]) -> list[Json]:
    """Return the logarithms of published median p-values."""
    return [
        {**score, "metric": "log10_p_median", "value": log10(score["value"])}
        for score in scores
        if score["metric"] == "p_value_median" and score["value"]
    ]


PAGES = ProbePages(
    metric_labels=METRIC_LABELS,
    option_labels={"by": "Perplexity per", "public_code": "Compute as the public code"},
    hidden_dimensions=("repetition",),
    secondary_metrics=("cohens_d", "log10_p_median"),
    topic="Plausibility",
    asked_by="true and false statements, compared by perplexity",
    published_scores=published_scores,
    item_columns=ITEM_COLUMNS,
    item_page=item_page,
    model_answer=ModelAnswer((), lambda row: ""),
    question_form=STATEMENT,
    run_sections=run_sections,
    benchmark_sections=benchmark_sections,
    comparison_sections=comparison_sections,
)
