"""The pages of perplexity: distributions, phrasings and truth on the page of a run, and the page of a statement."""

from collections.abc import Sequence
from math import log10
from typing import NamedTuple

import numpy as np

from leaderboard.display import cells, charts, labels
from leaderboard.display.charts import Chart
from leaderboard.display.columns import interval_columns, score_points, summary
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.lists.compared_runs import ModelAnswer
from leaderboard.models import Benchmark, Run
from leaderboard.probe_pages.items import ItemColumns, ItemRow, RunAnswer, facts_table
from leaderboard.probe_pages.pages import Json, ProbePages
from leaderboard.probe_pages.perplexity_comparison import comparison_sections
from leaderboard.probe_pages.perplexity_metrics import METRIC_LABELS, GroupScores, scores_by_group
from leaderboard.probe_pages.perplexity_p_values import models_section, p_values_section, summaries
from leaderboard.probe_pages.questions_in_words import STATEMENT, wording
from leaderboard.stored import benchmarks, item_rows
from leaderboard.stored.item_rows import ItemFilter, ItemsMissing
from probing.analysis.perplexity import PHRASING_METRICS, TEMPLATE, TOKENIZER_NOTE
from probing.benchmark import TRUTH, TRUTH_VALUES
from probing.errors import ProbingError

QUANTILES = 200  # number of quantiles that stand for a distribution in a chart
ITEM_COLUMNS = ItemColumns(
    ("subject", "true", "perplexity", "tokens"),
    titles=lambda run, values: {"subject": "Statement", "log_prob": "Log-probability"},
    brief=("subject", "true", "perplexity"),
)


class Distribution(NamedTuple):
    """Perplexities of true or of false statements, as quantiles from the smallest to the largest."""

    truth: str
    n: int
    quantiles: Sequence[float]


def run_sections(run: Run) -> list[Section]:
    """Return distributions of perplexities, figures by phrasing and by truth, and the p-values over repetitions."""
    return [*_distributions_section(run), *_phrasings_section(run), *_truth_section(run), *p_values_section(run)]


def benchmark_sections(benchmark: Benchmark) -> list[Section]:
    """Return sections about the sample, and with p-values and their statistics for all runs that have them."""
    rows = [row for row in summaries(benchmark) if row.log10_p]
    return [*_sample_section(benchmark), *([models_section(rows)] if rows else [])]


def _sample_section(benchmark: Benchmark) -> list[Section]:
    """Return the section about the sample; nothing where the files are not here or were changed."""
    try:
        notes = benchmarks.read(benchmark).notes if benchmark.path else ()
    except ProbingError:
        return []
    return [Section("sample", "How the sample was drawn", note=" ".join(notes))] if notes else []


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
    rows = scores_by_group(run.scores.filter(dimension=TRUTH).order_by("pk"))
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
        for true, name in TRUTH_VALUES.items()
        if values[true]
    ]


def run_answer(item: ItemRow) -> RunAnswer:
    """Return everything that is stored of a statement."""
    return RunAnswer("parts/answer_facts.html", {}, [facts_table(item, ITEM_COLUMNS)])


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
    run_answer=run_answer,
    model_answer=ModelAnswer((), lambda row: ""),
    question_form=STATEMENT,
    run_sections=run_sections,
    benchmark_sections=benchmark_sections,
    comparison_sections=comparison_sections,
)
