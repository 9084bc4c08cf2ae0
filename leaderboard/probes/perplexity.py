"""The pages of perplexity: distributions, truth, p-values, and comparisons of runs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isnan, log10
from typing import NamedTuple

import numpy as np

from leaderboard.figures import item_rows
from leaderboard.figures.comparisons import ModelAnswer, compared_rows, records, short_names, stored_results
from leaderboard.figures.item_rows import ItemFilter, ItemsMissing, Row
from leaderboard.figures.runs import finished_runs
from leaderboard.models import Benchmark, Run, Score
from leaderboard.probes.breakdowns import titled_cell
from leaderboard.probes.items import ItemColumns, ItemRow, RunAnswer, facts_table, item_url
from leaderboard.probes.probe_pages import Json, ProbePages, notes_section
from leaderboard.probes.wording import STATEMENT, group_title, relation_names
from leaderboard.ui import cells, charts
from leaderboard.ui.cells import Cell
from leaderboard.ui.sections import Section, section
from leaderboard.ui.tables import MEASURED, PUBLISHED, Column, Table, citation, source_column
from probing.analysis.paired_tests import RESULT_NAMES
from probing.analysis.perplexity_metrics import (
    BEST,
    MEAN,
    PHRASING_METRICS,
    SPREAD,
    TOKENIZER_NOTE,
    rank_summary,
    sentence_ranks,
)
from probing.benchmark import TRUTH, TRUTH_VALUES

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
    """Return distributions of perplexities, figures by truth, and the p-values over repetitions."""
    return [*_distributions_section(run), *_truth_section(run), *p_values_section(run)]


SAMPLE_LEAD = "Repetitions, their numbers of statements, and the seed."
P_VALUES_LEAD = "How surely each model tells true statements from false ones, over the repetitions."


def benchmark_sections(benchmark: Benchmark) -> list[Section]:
    """Return sections about the sample, and with p-values and their statistics for all runs that have them."""
    rows = [row for row in summaries(benchmark) if row.log10_p]
    sample = notes_section(benchmark, "sample", "How the sample was drawn", SAMPLE_LEAD)
    return [*([replace(models_section(rows), lead=P_VALUES_LEAD)] if rows else []), *sample]


def _distributions_section(run: Run) -> list[Section]:
    """Return the section with both distributions; nothing where the run's items are not stored."""
    try:
        rows = perplexities(run)
    except ItemsMissing:
        return []
    table: Table[Distribution] = Table(
        name="distributions",
        caption="Perplexities of true and false statements",
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
    return [section(table, (f"Median perplexity: {medians}.", violins))]


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
    return [section(table, note=TOKENIZER_NOTE)] if rows else []


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


# p-values of perplexity: over the repetitions of a run, and of all models.


SIGNIFICANCE = log10(0.05)
STATISTICS = ("mean", "std", "median", "spread")
ScoreValues = Mapping[str, float | None]  # by metric


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
    summary = f"p-values over repetitions of {len(rows)} runs, on a logarithmic axis; the dotted line is p = 0.05."
    return section(_summary_table(rows), (summary, boxes), title="p-values of all models")


def p_values_section(run: Run) -> list[Section]:
    """Return the section with the p-values of repetitions; nothing where there are none."""
    rows = scores_by_group(run.scores.filter(dimension="repetition").order_by("pk"))
    logarithms = [value for row in rows if (value := _log10_p(row.scores)) is not None]
    if not logarithms:
        return []
    ends = (float(np.median(logarithms)), min(logarithms), max(logarithms))
    middle, least, most = (cells.number(value, digits=1).text for value in ends)
    summary = (
        f"log₁₀ p of {len(logarithms)} repetitions: median {middle}, from {least} to {most}. "
        "The dotted line is p = 0.05."
    )
    boxes = charts.boxes({"p-value": logarithms}, "p-value", SIGNIFICANCE)
    return [section(_repetitions_table(rows), (summary, boxes))]


def _log10_p(scores: ScoreValues) -> float | None:
    """Return the stored logarithm, or that of a published p-value."""
    if scores.get("log10_p") is not None:
        return scores["log10_p"]
    value = scores.get("p_value")
    return log10(value) if value else None


class GroupScores(NamedTuple):
    """The scores of one repetition, or of another group."""

    name: str
    scores: ScoreValues


def _repetitions_table(rows: Sequence[GroupScores]) -> Table[GroupScores]:
    def column(metric: str) -> Column[GroupScores]:
        return Column(metric, METRIC_LABELS[metric], lambda row: cells.power(row.scores.get(metric)), align="number")

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


def _summary_table(rows: Sequence[RunSummary]) -> Table[RunSummary]:
    def column(metric: str, cell: Callable[[float | None], cells.Cell] = cells.power) -> Column[RunSummary]:
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


def _source(row: RunSummary) -> str:
    """Return what stands above the runs of one source."""
    return f"{PUBLISHED}: {citation(row.run)}" if row.run.is_published else MEASURED


# Metrics of perplexity: their labels, and their values by group.


TESTS = {"": "", "_less": "one-sided", "_welch": "Welch", "_mann_whitney": "Mann-Whitney"}
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


def scores_by_group(scores: Iterable[Score]) -> list[GroupScores]:
    """Group scores by repetition, or by the groups of another dimension, in stored order."""
    by_repetition: dict[str, dict[str, float | None]] = {}
    for score in scores:
        by_repetition.setdefault(score.group, {})[score.metric] = score.value
    return [GroupScores(name, values) for name, values in by_repetition.items()]


# Sections of a comparison of perplexity runs: how alike they order the sentences, and which they order differently.


SENTENCES_PER_PAGE = 20
RANKS_NOTE = (
    "Perplexities of models with different tokenizers are not compared, only the order in which each model puts the "
    "same sentences: rank 0 is the least perplexing of them to a model, rank 1 the most."
)


def comparison_sections(runs: Sequence[Run]) -> list[Section]:
    """Return the ranks of true and of false sentences by run, and the sentences whose ranks differ most."""
    summary, sentences = ranks(*stored_results([run.pk for run in runs]))
    names = short_names(runs)
    listed = section(_sentences_table(runs, names, sentences), title="Sentences that the runs order differently")
    return [
        section(_rank_summary_table(names, summary), note=RANKS_NOTE, title="How alike the runs order the sentences"),
        replace(listed, lead="The ranks of each sentence by run, those that differ most first."),
    ]


@lru_cache(maxsize=8)
def ranks(*stored: tuple[int, str]) -> tuple[list[Row], list[Row]]:
    """Return a row for each run, and one for each shared sentence, of runs by `stored_results`."""
    numbers = [number for number, _ in stored]
    runs = Run.objects.select_related("benchmark").in_bulk(numbers)
    sentences = sentence_ranks(compared_rows([runs[number] for number in numbers]))
    return records(rank_summary(sentences, list(RESULT_NAMES[: len(numbers)]))), records(sentences)


def _rank_summary_table(names: Sequence[str], rows: Sequence[Row]) -> Table[Row]:
    by_key = dict(zip(RESULT_NAMES, names, strict=False))

    def column(name: str, title: str, help_text: str = "") -> Column[Row]:
        return Column(name, title, lambda row: _share(row[name]), help_text, align="number")

    first = f"Spearman's correlation of the ranks with those of {names[0]}."
    return Table(
        name="ranks",
        caption="Mean ranks of true and of false sentences, and correlations of ranks",
        columns=[
            Column("name", "Run", lambda row: cells.text(by_key[row["result"]]), align="head"),
            Column("result", "", lambda row: cells.text(row["result"]), shown=False),
            column("true", "Mean rank, true"),
            column("false", "Mean rank, false"),
            column("correlation", f"Correlation with {names[0]}", first),
            column("correlation_true", "Among true", f"{first} Only true sentences."),
            column("correlation_false", "Among false", f"{first} Only false sentences."),
        ],
        rows=rows,
        sortable=False,
    )


def _sentences_table(runs: Sequence[Run], names: Sequence[str], rows: Sequence[Row]) -> Table[Row]:
    def statement(row: Row) -> Cell:
        address = item_url(runs[0], row)
        return cells.text(row["statement"], href=address)

    relations = relation_names(runs[0])

    def relation(row: Row) -> Cell:
        return titled_cell(row["relation"], group_title("relation", row["relation"], relations))

    def rank_column(key: str, name: str) -> Column[Row]:
        return Column(key, name, lambda row: cells.number(row[key]), align="number")

    return Table(
        name="sentences",
        caption="Rank of each sentence by its perplexity, from 0 to 1, the most different first",
        columns=[
            Column("statement", "Statement", statement, align="head"),
            Column("relation", "Relation", relation),
            Column("true", "True", lambda row: cells.yes_no(bool(row["true"]))),
            *(rank_column(key, name) for key, name in zip(RESULT_NAMES, names, strict=False)),
            Column(
                "spread",
                "Spread",
                lambda row: cells.number(row["spread"]),
                "The highest minus the lowest of the ranks.",
                align="number",
            ),
        ],
        rows=rows,
        page_size=SENTENCES_PER_PAGE,
    )


def _share(value: float) -> Cell:
    """Show a number; one that is not defined as a dash."""
    return cells.number(None if isnan(value) else value)


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
