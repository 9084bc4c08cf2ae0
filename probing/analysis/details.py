"""What a figure hides: scores with tables of their own, and the facts about options from which they are computed.

Rows of a large run have several values for each of millions of options. Each row is therefore condensed to a few facts
while the rows of its relation are in memory, and the scores are computed from the condensed rows of all relations.
"""

from collections.abc import Collection, Iterable

import pandas as pd

from probing.analysis.accuracy import SCORE_COLUMNS, TIED, tied_rows
from probing.analysis.bias import BIAS_METRICS, GOLD_DISTANCE, answer_bias, bias_scores, bias_summary, biases_of_rows
from probing.analysis.breakdowns import OVERALL, hashable
from probing.analysis.confidence import CONFIDENCE_METRICS, CONFIDENCES, confidence_scores, confidences
from probing.analysis.confidence_estimates import estimate_scores
from probing.analysis.option_scores import ALL_EXACT, OPTIONS, PER_OPTION, all_exact, exact_rows, option_counts
from probing.analysis.wording_sensitivity import FLIPS, TEMPLATE_METRICS, template_scores, wordings

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
# The columns that only condensed rows have.
FIGURES = frozenset({OPTIONS, ALL_EXACT, TIED, *CONFIDENCES, *BIAS_METRICS})
# Columns that no score is computed from.
UNSCORED = ("subject", "subject_id", "statement", "prediction_label", "best", "margin", "demonstrations", "prompt")


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


def detail_tables(
    rows: pd.DataFrame, scores: pd.DataFrame, *, with_long: bool = True
) -> list[tuple[str, pd.DataFrame, bool]]:
    """Return the tables of a result's details, for its rows and its tidy scores; none for a probe without options.

    Each has a title in front, and at the end whether it is long. `with_long`: make the long ones as well, which takes
    seconds for a large result.
    """
    overall = scores[scores["dimension"] == OVERALL]
    tables = [
        (title, overall.loc[overall["metric"].isin(metrics), ["metric", "value", "n", "low", "high"]], False)
        for title, metrics in OVERALL_TABLES.items()
    ]
    if with_long:
        tables += _long_tables(rows, scores, set(overall["metric"]))
    return [entry for entry in tables if len(entry[1])]


def _long_tables(
    rows: pd.DataFrame, scores: pd.DataFrame, metrics: Collection[str]
) -> list[tuple[str, pd.DataFrame, bool]]:
    """Return the long tables of `detail_tables`; those that are computed from rows are left out where there are none.

    `metrics`: those that have an overall score.
    """
    tables: list[tuple[str, pd.DataFrame, bool]] = []
    if FLIPS in metrics and len(rows):
        tables.append(("accuracy by relation and template", wordings(rows), True))
        if all_exact(rows):
            estimates = estimate_scores(rows).pivot(index="group", columns="metric", values="value")
            tables.append(("confidence over wordings", estimates.rename_axis("estimate").reset_index(), True))
    if GOLD_DISTANCE in metrics and len(rows):
        options = answer_bias(rows)
        summary = bias_summary(options).dropna(axis=1, how="all").rename_axis("relation").reset_index()
        tables += [("answer bias by relation", summary, True), ("options", options, True)]
    for title, dimension in CURVE_TITLES.items():
        curve = scores.loc[scores["dimension"] == dimension, ["metric", "group", "value", "n", "low", "high"]]
        tables.append((title, curve, True))
    return tables


def needs_full_run(rows: pd.DataFrame) -> bool:
    """Tell whether rows rank options, some of which have an upper bound in place of a score."""
    return "exact" in rows and not all_exact(rows)


def condensed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of a probe with options with the facts about these that every such probe needs."""
    facts: dict[str, pd.Series] = {OPTIONS: option_counts(rows), ALL_EXACT: exact_rows(rows), TIED: tied_rows(rows)}
    unscored = [name for name in UNSCORED if not (name == "subject_id" and "language" in rows)]  # it names facts
    return _compact(rows.drop(columns=[*PER_OPTION, *unscored], errors="ignore").assign(**facts))


def condensed_with_details(rows: pd.DataFrame) -> pd.DataFrame:
    """Return condensed rows that also have the figures of `details`; the rows must be all those of their relations."""
    if not len(rows) or not all_exact(rows):
        return condensed(rows)
    return pd.concat([condensed(rows), confidences(rows), biases_of_rows(rows)], axis=1)


def _compact(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the same rows in less memory: equal lists are one tuple, and whole numbers have 32 bits."""
    lists = {name: _shared(rows[name]) for name in rows.columns[rows.dtypes == "object"]}
    numbers = dict.fromkeys(rows.columns[rows.dtypes == "int64"], "int32")
    return rows.assign(**lists).astype(numbers)


def _shared(cells: pd.Series) -> pd.Series:
    """Return a column with tuples in place of lists; equal ones are one object."""
    distinct: dict[object, object] = {}
    shared = [distinct.setdefault(cell, cell) for cell in map(hashable, cells)]
    return pd.Series(shared, cells.index, dtype=object)
