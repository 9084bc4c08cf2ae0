"""Cloze rows as tidy scores (methods 5.5): in-top-k and in-near-k, macro-averaged over fact types."""

import numpy as np
import pandas as pd

from probing.analysis.accuracy import CHANCE, MAJORITY, SCORE_COLUMNS, blank_baselines
from probing.analysis.breakdowns import CELL, CROSSED, OVERALL, members, with_crossed
from probing.analysis.intervals import group_means
from probing.errors import BadInput

KS = {"top": (1, 5, 10), "near": (1, 5, 15)}
BOUNDS = ["low", "high", "cluster_low", "cluster_high"]
WITH_ALIASES = "accuracy_with_aliases"  # where a benchmark has other names of answers
MAJOR = 20  # sentences that count, which make a fact type a major one


def cloze_scores(
    rows: pd.DataFrame, dimensions: list[str], tokens: int = 15, k: int = 5, *, closed: bool = False
) -> pd.DataFrame:
    """Return `accuracy` (within the run's k) and in-top-k or in-near-k; for rankings also `not_one_token`.

    Where answers have other names there is `accuracy_with_aliases`, which takes these as well.

    Beside them stand the `cloze_baselines`.
    `tokens`: the number of tokens that a generator wrote, which is the largest k of in-near-k. Sentences that could
    not be put to the model are not counted, except in baselines.
    """
    grouped, all_dimensions = _grouped(rows, dimensions)
    scored = grouped[grouped["correct"].notna()]
    if scored.empty:
        raise BadInput("None of these sentences ends in its blank.", "Choose a masked model or other relations.")
    values = metrics(scored, tokens, k)
    measured = [macro(scored, values, dimension) for dimension in all_dimensions]
    return pd.concat([*measured, cloze_baselines(rows, dimensions, k, closed=closed)], ignore_index=True)


def cloze_baselines(rows: pd.DataFrame, dimensions: list[str], k: int, *, closed: bool = False) -> pd.DataFrame:
    """Return the baseline `majority_answer` of all sentences, without an interval.

    There is `chance` as well where only the relation's answers are ranked (`closed`): a blank that any word may fill
    has none.
    """
    grouped, all_dimensions = _grouped(rows, dimensions)
    values = blank_baselines(grouped, k)[[CHANCE, MAJORITY] if closed else [MAJORITY]]
    scores = [macro(grouped, values, dimension) for dimension in all_dimensions]
    return pd.concat(scores, ignore_index=True).assign(**dict.fromkeys(BOUNDS, np.nan))


def _grouped(rows: pd.DataFrame, dimensions: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows with the columns of all dimensions by which scores are broken down, and these dimensions."""
    added = {"major": majors(rows)} if "fact_type" in dimensions else {}
    grouped = rows.assign(**added)
    crossed = [CELL] if set(CROSSED[CELL]) <= set(grouped) else []
    return with_crossed(grouped, crossed), [OVERALL, *added, *dimensions, "relation", *crossed]


def metrics(rows: pd.DataFrame, tokens: int, k: int) -> pd.DataFrame:
    """Return one column for each metric: 1 in the rows for which it holds, else 0."""
    method = rows["method"].iloc[0]
    rank = rows["rank"].astype("Int64")
    columns = {"accuracy": rows["correct"]}
    if "alias_rank" in rows and rows["answers"].map(len).max() > 1:
        columns[WITH_ALIASES] = (rows["alias_rank"].astype("Int64") <= k).fillna(False)
    columns |= {f"in_{method}_{k}": (rank <= k).fillna(False) for k in KS[method] if method == "top" or k <= tokens}
    if method == "top":
        columns["not_one_token"] = ~rows["one_token"].astype(bool)
    return pd.DataFrame(columns).astype(float)


def majors(rows: pd.DataFrame) -> pd.Series:
    """Return "major" for each row whose fact type has enough sentences that count, else "minor"."""
    counted = rows["index"].where(rows["correct"].notna()) if "correct" in rows else rows["index"]
    sentences = counted.groupby(rows["relation"]).transform("nunique")
    return pd.Series(np.where(sentences >= MAJOR, "major", "minor"), rows.index)


def macro(rows: pd.DataFrame, values: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """Return the macro-average over relations of each metric's share of items, for each group of a dimension."""
    table = members(rows, dimension)
    means = [
        group_means(rows, values[metric], dimension, table, macro=True).assign(metric=str(metric)) for metric in values
    ]
    scores = pd.concat(means, ignore_index=True).assign(dimension=dimension)
    places = pd.Index(table["group"].unique()).astype(str).get_indexer(scores["group"])
    return scores.iloc[np.argsort(places, kind="stable")].reset_index(drop=True)[SCORE_COLUMNS]
