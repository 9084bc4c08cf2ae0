"""What a figure hides: scores that have tables of their own, apart from the breakdowns of a probe's main figures."""

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from probing.analysis.accuracy import SCORE_COLUMNS
from probing.analysis.answer_spaces import all_exact
from probing.analysis.bias import BIAS_METRICS, GOLD_DISTANCE, answer_bias, bias_scores, bias_summary
from probing.analysis.breakdown import OVERALL
from probing.analysis.confidence import CONFIDENCE_METRICS, confidence_scores
from probing.analysis.templates import FLIPS, TEMPLATE_METRICS, template_scores, wordings

# The metrics of each table that holds overall figures, by its title.
OVERALL_TABLES = {
    "template sensitivity": TEMPLATE_METRICS,
    "answer bias": BIAS_METRICS,
    "confidence": CONFIDENCE_METRICS,
}
DETAIL_METRICS = frozenset(metric for metrics in OVERALL_TABLES.values() for metric in metrics)
CURVE_TITLES = {
    "calibration by largest probability": "max_softmax_bin",
    "calibration by margin": "softmax_margin_bin",
}


class DetailTable(NamedTuple):
    """A table with its title; tables that are `long` are printed only on request."""

    title: str
    table: pd.DataFrame
    long: bool = False


def detail_scores(rows: pd.DataFrame, dimensions: Iterable[str] = ()) -> pd.DataFrame:
    """Return the tidy scores of `DETAIL_METRICS` of rows that rank options.

    `dimensions`: tags for whose groups the range over wordings is computed.
    """
    tables = [template_scores(rows, dimensions), bias_scores(rows), confidence_scores(rows)]
    full = [table for table in tables if len(table)]
    return pd.concat(full, ignore_index=True) if full else pd.DataFrame(columns=SCORE_COLUMNS)


def without_details(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the tidy scores that breakdowns show."""
    return scores[~scores["metric"].isin(DETAIL_METRICS)]


def detail_tables(rows: pd.DataFrame, scores: pd.DataFrame) -> list[DetailTable]:
    """Return the tables of a result's details, for its rows and its tidy scores; none for a probe without options.

    Tables that are computed from rows are left out where there are none.
    """
    overall = scores[scores["dimension"] == OVERALL]
    tables = [
        DetailTable(title, overall.loc[overall["metric"].isin(metrics), ["metric", "value", "n", "low", "high"]])
        for title, metrics in OVERALL_TABLES.items()
    ]
    metrics = set(overall["metric"])
    if FLIPS in metrics and len(rows):
        tables.append(DetailTable("accuracy by relation and template", wordings(rows), long=True))
    if GOLD_DISTANCE in metrics and len(rows):
        options = answer_bias(rows)
        summary = bias_summary(options).dropna(axis=1, how="all").rename_axis("relation").reset_index()
        tables += [DetailTable("answer bias by relation", summary, True), DetailTable("options", options, True)]
    for title, dimension in CURVE_TITLES.items():
        curve = scores.loc[scores["dimension"] == dimension, ["metric", "group", "value", "n", "low", "high"]]
        tables.append(DetailTable(title, curve, long=True))
    return [entry for entry in tables if len(entry.table)]


def needs_full_run(rows: pd.DataFrame) -> bool:
    """Tell whether rows rank options, some of which have an upper bound in place of a score."""
    return "exact" in rows and not all_exact(rows)
