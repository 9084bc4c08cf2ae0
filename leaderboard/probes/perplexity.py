"""The pages of perplexity: distributions, truth, p-values, and comparisons of runs."""

from collections.abc import Mapping, Sequence
from math import isnan, log10
from typing import Any

import numpy as np
from django.http import QueryDict

from leaderboard.figures import item_rows
from leaderboard.figures.comparisons import ModelAnswer, compared_rows, records, short_names
from leaderboard.figures.item_rows import ItemFilter, ItemsMissing
from leaderboard.figures.runs import with_printed
from leaderboard.figures.scores import scores_of
from leaderboard.models import Benchmark, Entry, Run
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.items import ItemColumns, ItemRow, RunAnswer, facts_table, item_url, stored_answer
from leaderboard.probes.probe_pages import Json, Parts, ProbePages, notes_of, parts
from leaderboard.probes.wording import STATEMENT, group_title, relation_names
from leaderboard.tables import Row, filled
from leaderboard.ui import charts
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.labels import MEASURED, PUBLISHED
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
from probing.analysis.verdicts import SIGNIFICANT
from probing.benchmark import TRUTH_VALUES

QUANTILES = 200  # number of quantiles that stand for a distribution in a chart
PERCENTS = (5, 25, 50, 75, 95)
SIGNIFICANCE = log10(SIGNIFICANT)
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
POWERS = tuple(f"p_value_{statistic}" for statistic in ("mean", "std", "median", "spread"))
EFFECTS = ("log10_p_median", "superiority", "cohens_d", *PHRASING_METRICS)
ITEM_COLUMNS = ItemColumns(
    ("subject", "true", "perplexity", "tokens"),
    titles=lambda run, values: {"subject": "Statement", "log_prob": "Log-probability"},
    brief=("subject", "true", "perplexity"),
)

DISTRIBUTIONS = ("truth", "n", *(f"p{percent}" for percent in PERCENTS))
MODELS = ("model", "parameters", "repetitions", *POWERS, *EFFECTS, "provenance")
RANKS = ("name", "result", "true", "false", "correlation", "correlation_true", "correlation_false")


def titled(metrics: Sequence[str]) -> list[tuple[str, str]]:
    """Return metrics with their titles, which are heads of columns."""
    return [(metric, METRIC_LABELS[metric]) for metric in metrics]


# A run: its distributions, its figures by truth, and the p-values over its repetitions.


def run_parts(run: Run, query: QueryDict, pair: PairInLanguage | None) -> Parts:
    rows = distributions(run)
    repetitions = by_group(run, "repetition")
    for row in repetitions:
        row.update(repetition=row["group"], log10_p=_log10_p(row))
    tests = [f"p_value{test}" for test in TESTS if test and repetitions and f"p_value{test}" in repetitions[0]]
    tables = {
        "distributions": (DISTRIBUTIONS, rows),
        "p-values": (("repetition", "p_value", "log10_p", *tests), repetitions),
    }
    drawn = [*_distributions_chart(rows), *_repetitions_chart(repetitions)]
    return parts(
        query,
        tables,
        drawn,
        percents=[(f"p{percent}", f"{percent} %") for percent in PERCENTS],
        p_value=titled(["p_value"]),
        tests=titled(tests),
        tokenizer_note=TOKENIZER_NOTE,
    )


def distributions(run: Run) -> list[Row]:
    """Return the quantiles of the perplexities of true and of false statements; nothing where no items are stored."""
    values: dict[bool, list[float]] = {True: [], False: []}
    try:
        for row in item_rows.rows(run, item_rows.find(run, ItemFilter()), ["true", "perplexity"]):
            values[row["true"]].append(row["perplexity"])
    except ItemsMissing:
        return []
    steps = np.linspace(0, 1, QUANTILES + 1)
    rows = []
    for true, name in TRUTH_VALUES.items():
        if values[true]:
            quantiles = np.quantile(values[true], steps).tolist()
            shown = {f"p{percent}": quantiles[percent * QUANTILES // 100] for percent in PERCENTS}
            rows.append({"truth": name, "n": len(values[true]), "quantiles": quantiles, **shown})
    return rows


def _distributions_chart(rows: Sequence[Row]) -> list[Chart]:
    if not rows:
        return []
    medians = " and ".join(f"{row['p50']:,.0f} of {row['truth']} statements" for row in rows)
    violins = charts.violins({row["truth"]: np.log10(row["quantiles"]).tolist() for row in rows}, "perplexity")
    return [
        Chart("distributions", "Perplexities of true and false statements", f"Median perplexity: {medians}.", violins)
    ]


def by_group(run: Run, dimension: str) -> list[Row]:
    """Return the values of each group by metric, in stored order."""
    rows: dict[str, Row] = {}
    for score in run.scores.filter(dimension=dimension).order_by("pk"):
        rows.setdefault(score.group, {"group": score.group, "p_value": None})[score.metric] = score.value
    return list(rows.values())


def _log10_p(scores: Mapping[str, Any]) -> float | None:
    """Return the stored logarithm, or that of a published p-value."""
    if scores.get("log10_p") is not None:
        return float(scores["log10_p"])
    value = scores.get("p_value")
    return log10(value) if value else None


def _repetitions_chart(rows: Sequence[Row]) -> list[Chart]:
    logarithms = [row["log10_p"] for row in rows if row["log10_p"] is not None]
    if not logarithms:
        return []
    middle, least, most = (f"{value:.1f}".replace("-", "−") for value in (np.median(logarithms), *_ends(logarithms)))
    summary = (
        f"log₁₀ p of {len(logarithms)} repetitions: median {middle}, from {least} to {most}. "
        "The dotted line is p = 0.05."
    )
    boxes = charts.boxes({"p-value": logarithms}, "p-value", SIGNIFICANCE)
    return [Chart("p-values", "p-values over repetitions", summary, boxes)]


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


# A benchmark: the p-values of all runs that have some, measured and published, with the statistics of the paper.


def benchmark_parts(benchmark: Benchmark, query: QueryDict, pair: PairInLanguage | None) -> Parts:
    rows = p_values_of_models(benchmark)
    metrics = filled(rows, (*POWERS, *EFFECTS))
    return parts(
        query,
        {"p-values": (MODELS, rows)},
        _models_chart(rows),
        powers=titled([name for name in POWERS if name in metrics]),
        effects=titled([name for name in EFFECTS if name in metrics]),
        notes=notes_of(benchmark),
    )


def p_values_of_models(benchmark: Benchmark) -> list[Row]:
    """Return a row for each run and printed row with p-values of repetitions, the runs first. Three queries."""
    runs = {run.pk: run for run in with_printed(benchmark)}
    overall: dict[int, dict[str, float | None]] = {}
    repeated: dict[int, dict[str, dict[str, float | None]]] = {}
    for score in scores_of(runs.values(), dimensions=("overall", "repetition")):
        if score.dimension == "overall":
            overall.setdefault(score.run_id, {})[score.metric] = score.value
        else:
            repeated.setdefault(score.run_id, {}).setdefault(score.group, {})[score.metric] = score.value
    rows = []
    for number, run in runs.items():
        logarithms = [value for scores in repeated.get(number, {}).values() if (value := _log10_p(scores)) is not None]
        if logarithms:
            rows.append(_model_row(run, overall.get(number, {}), logarithms))
    return sorted(rows, key=lambda row: (row["run"].is_published, row["heading"]))


def _model_row(run: Entry, scores: Mapping[str, float | None], logarithms: Sequence[float]) -> Row:
    settings = ", by word" if run.option("by", "token") == "word" else ""
    return {
        "run": run,
        "logarithms": logarithms,
        "heading": f"{PUBLISHED}: {run.citation}" if run.is_published else MEASURED,
        "model": f"{run.model.hub_id}{settings}",
        "parameters": run.model.parameters,
        "repetitions": len(logarithms),
        **{metric: scores.get(metric) for metric in (*POWERS, *EFFECTS)},
        "provenance": run.source,
    }


def _models_chart(rows: Sequence[Row]) -> list[Chart]:
    """Return one box of p-values for each run; the table has the statistics that the paper plots."""
    if not rows:
        return []
    mixed = len({row["run"].is_published for row in rows}) > 1
    names = [f"{row['model']} (published)" if mixed and row["run"].is_published else row["model"] for row in rows]
    addresses = {name: row["run"].get_absolute_url() for name, row in zip(names, rows, strict=True)}
    values = {name: row["logarithms"] for name, row in zip(names, rows, strict=True)}
    boxes = charts.boxes(values, "p-value", SIGNIFICANCE, addresses)
    summary = f"p-values over repetitions of {len(rows)} runs, on a logarithmic axis; the dotted line is p = 0.05."
    return [Chart("p-values", "p-values of all models", summary, boxes)]


def published_scores(settings: Json, scores: Sequence[Json]) -> list[Json]:
    """Return the logarithms of published median p-values."""
    return [
        {**score, "metric": "log10_p_median", "value": log10(score["value"])}
        for score in scores
        if score["metric"] == "p_value_median" and score["value"]
    ]


# A comparison: how alike the runs order the sentences, and which they order differently. Perplexities of models with
# different tokenizers are not compared.


def comparison_parts(runs: Sequence[Run], query: QueryDict, pair: PairInLanguage | None) -> Parts:
    ranks, names = sentence_ranks(compared_rows(runs)), short_names(runs)
    results = list(RESULT_NAMES[: len(runs)])
    summary = [
        {**row, "name": name, **{key: None if isnan(row[key]) else row[key] for key in RANKS[2:]}}
        for name, row in zip(names, records(rank_summary(ranks, results)), strict=True)
    ]
    titles, sentences = relation_names(runs[0]), records(ranks)
    columns = ("statement", "relation", "true", *results, "spread")
    by_result = list(zip(results, names, strict=True))
    tables = {"ranks": (RANKS, summary), "sentences": (columns, sentences)}
    found = parts(query, tables, results=by_result, ranks=rank_titles(names[0]))
    for row in found["pages"].get("sentences", ()):
        row.update(href=item_url(runs[0], row), relation_title=group_title("relation", row["relation"], titles))
    return found


def rank_titles(first: str) -> list[tuple[str, str]]:
    """Return the columns of figures of the table of ranks with their titles."""
    correlations = [f"Correlation with {first}", "Among true", "Among false"]
    return list(zip(RANKS[2:], ["Mean rank, true", "Mean rank, false", *correlations], strict=True))


# Single items.


def run_answer(item: ItemRow) -> RunAnswer:
    return stored_answer([facts_table(item, ITEM_COLUMNS)])


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
    template="probes/perplexity.html",
    run_parts=run_parts,
    benchmark_parts=benchmark_parts,
    comparison_parts=comparison_parts,
)
